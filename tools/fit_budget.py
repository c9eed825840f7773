"""Fits the constants of the budget's uncertain terms on public startup logs and writes kvcore/budget/fitted.py.

The fit minimizes the sum of absolute errors by coordinate descent over a grid; sums of absolute values keep single odd
logs from moving the rest. Every log's error is then taken with constants fitted on all other logs, and the 80 % interval
is that of these left-out errors. Usage: ``python -m tools.fit_budget [--write]``
"""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from kvcore.budget.fitted import FIT, MIB, Fit, SamplerEra
from site_plugins.accuracy.memory import LogCase, budget_cases, quantiles, residuals

TARGET = Path(__file__).resolve().parent.parent / "kvcore" / "budget" / "fitted.py"

BYTE_GRIDS = {
    "multimodal_bytes": (0, 512, 1024, 2048, 3072),
    "non_torch_single": (102, 154, 205, 256),
    "non_torch_ranks": (256, 384, 512, 768, 1024),
    "non_torch_ranks_counted": (512, 1024, 2150, 3072),
    "graphs": (102, 205, 358, 512, 1024),
    "graphs_multimodal": (205, 512, 1024, 1536),
}
"""Candidates in MiB."""

SAMPLER_GRID = (8.0, 10.3, 12.8, 15.4, 24.0, 38.5)
SWEEPS = 2


def fit(cases: Sequence[LogCase], start: Fit = FIT) -> Fit:
    """The constants with the smallest sum of absolute errors."""
    best, best_loss = start, _loss(cases, start)
    for _ in range(SWEEPS):
        for candidate in _candidates(best):
            loss = _loss(cases, candidate)
            if loss < best_loss - 1e-9:
                best, best_loss = candidate, loss
    return best


def _loss(cases: Sequence[LogCase], constants: Fit) -> float:
    return sum(abs(error) for error in residuals(cases, constants))


def _candidates(around: Fit) -> list[Fit]:
    found = [
        dataclasses.replace(around, **{name: value * MIB})  # type: ignore[arg-type]
        for name, grid in BYTE_GRIDS.items()
        for value in grid
    ]
    for index, era in enumerate(around.sampler):
        for value in SAMPLER_GRID:
            eras = list(around.sampler)
            eras[index] = SamplerEra(since=era.since, bytes_per_logit=value)
            found.append(dataclasses.replace(around, sampler=tuple(eras)))
    return found


def left_out_errors(cases: Sequence[LogCase], start: Fit) -> list[float]:
    """Every log's error in GiB with constants fitted on all others."""
    errors = []
    for index, case in enumerate(cases):
        others = [*cases[:index], *cases[index + 1 :]]
        errors.extend(residuals([case], fit(others, start)))
    return errors


def main(*, write: bool) -> None:
    """Fits, prints what came out, and writes it where asked to."""
    cases = budget_cases()
    constants = fit(cases)
    errors = left_out_errors(cases, constants)
    low, high = quantiles(errors)
    result = dataclasses.replace(constants, interval=(int(low * 1024) * MIB, int(high * 1024) * MIB), logs=len(cases))
    print(result)
    print("median error", sorted(abs(error) for error in errors)[len(errors) // 2], "GiB")
    if write:
        text = TARGET.read_text("utf-8")
        TARGET.write_text(text[: text.index("FIT = Fit(")] + _source(result), "utf-8")


def _source(result: Fit) -> str:
    lines = ["FIT = Fit(", "    sampler=("]
    lines += [
        f"        SamplerEra(since={era.since}, bytes_per_logit={era.bytes_per_logit})," for era in result.sampler
    ]
    lines.append("    ),")
    lines += [f"    {name}={getattr(result, name) // MIB} * MIB," for name in BYTE_GRIDS]
    low, high = result.interval
    lines += [f"    interval=({low // MIB} * MIB, {high // MIB} * MIB),", f"    logs={result.logs},", ")"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(write="--write" in sys.argv[1:])
