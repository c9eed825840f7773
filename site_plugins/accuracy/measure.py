"""Asking kvcore every golden point and log, and keeping what came of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvcore.answer import answer
from kvcore.report.report import Report
from kvcore.report.sections.wording import ENGINE_NAMES
from site_plugins.accuracy.compare import difference, is_asked
from site_plugins.accuracy.logs import estimate_difference, log_difference, sglang_log_difference
from site_plugins.accuracy.points import Line, config_of, lines, model_of, point_files
from site_plugins.pages.answers import Ask
from site_plugins.pages.facts import kind_of

_UNSTATED = "release not stated"
_PRINTED = ("available_kv_cache_gib",)
_COMPARED = ("layout", "plan", "request", "capacity")
"""Sections of a report that a point is compared with."""

_MEMORY = "memory"
"""The file of logs whose budget is compared, not what was made of it."""

_DIFFERENCES = {"vllm": log_difference, "sglang": sglang_log_difference, _MEMORY: estimate_difference}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One comparison.

    Attributes:
        source: ``code`` for a point of an engine's own planning code, ``log`` for a posted start-up log,
            ``estimate`` for the budget such a log prints.
        release: Engine with its version.
        model: Hugging Face repository.
        mechanism: Attention kind without head counts; empty where kvcore gives no layout.
        asked: The request's fields on one line.
        difference: How kvcore differs, or why it gives no figure; empty where every figure is equal.
        address: Where the log is, for logs.
        explained: Whether the difference is a reason written down beside the log: a fact it lacks, or a build of its own.
    """

    source: str
    release: str
    model: str
    mechanism: str
    asked: str
    difference: str
    address: str = ""
    explained: bool = False

    @property
    def equal(self) -> bool:
        """Whether every figure is equal."""
        return not self.difference


def measure(folder: Path, ask: Ask = answer) -> tuple[Outcome, ...]:
    """Returns the outcome of every golden point and every log below a folder.

    Args:
        folder: The folder of golden files.
        ask: Answers a request.
    """
    return (*_points(folder, ask), *_logs(folder, ask))


def _points(folder: Path, ask: Ask) -> Iterator[Outcome]:
    points = [(file, line) for file in point_files(folder) for line in filter(is_asked, lines(folder / file.name))]
    outcomes = {}
    # One config after another: each is read and weighed once, whichever releases it was asked of.
    for place, (file, line) in sorted(enumerate(points), key=lambda item: item[1][1]["config"]):
        report = ask({"config": config_of(folder, line["config"]), **line["request"]}, _COMPARED)
        outcomes[place] = Outcome(
            source="code",
            release=f"{ENGINE_NAMES[file.engine]} {file.release}",
            model=model_of(line["config"]),
            mechanism=_mechanism(report),
            asked=_asked(line["request"]),
            difference=difference(file.engine, line, report),
        )
    return (outcomes[place] for place in range(len(points)))


def _logs(folder: Path, ask: Ask) -> Iterator[Outcome]:
    for file in sorted((folder / "logs").glob("*.jsonl")):
        for line in filter(_says_what_is_compared, lines(file)):
            request = line.get("request", {})
            version = line.get("engine_version") or request.get("engine_version") or _UNSTATED
            yield Outcome(
                source="estimate" if file.stem == _MEMORY else "log",
                release=f"{ENGINE_NAMES.get(file.stem, 'vLLM')} {version}",
                model=line.get("model") or line.get("logged_model") or "not named",
                mechanism="",
                asked=_asked({**request, **{name: line[name] for name in _PRINTED if name in line}}),
                difference=_DIFFERENCES[file.stem](line, ask),
                address=line.get("url") or "",
                explained=bool(line.get("reason")),
            )


def _says_what_is_compared(line: Line) -> bool:
    """Some logs of the memory's terms print only what was taken, not what was left for the cache."""
    return "logged" in line or "available_kv_gib" in line


def _mechanism(report: Report) -> str:
    return kind_of(report) if report.layout else ""


def _asked(request: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in request.items() if name not in {"engine", "engine_version"})


def equal_and_all(outcomes: Sequence[Outcome]) -> tuple[int, int]:
    """Returns how many outcomes are equal, and how many there are."""
    return sum(outcome.equal for outcome in outcomes), len(outcomes)
