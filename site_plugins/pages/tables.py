"""Tables that written pages put in by name: GPUs, architectures, and other calculators as they were measured."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from kvcore.arithmetic import GB, GIB
from kvcore.catalog import Gpu, ModelEntry, load_gpus
from kvcore.report.document import Code, Column, Figure, Link, Row, Table, Text
from kvcore.report.figures import UNKNOWN, grouped, scaled
from kvcore.report.sections.wording import capitalised
from site_plugins.pages.facts import STATUS_SHORT
from site_plugins.pages.summary import Summary

_SHOWN_MODELS = 4


def gpu_table() -> Table:
    """Returns every GPU of the catalogue: what is sold as GB, and what an engine can divide in GiB."""
    columns = (
        Column("GPU"),
        Column("Sold as", "right", "GB"),
        Column("Seen by the engine", "right", "GiB"),
        Column("The same", "right", "GB"),
        Column("Capability", "right"),
        Column("To know"),
    )
    rows = tuple(
        Row(
            (
                (gpu.name,),
                _sold(gpu),
                _usable(gpu, GIB),
                _usable(gpu, GB),
                (gpu.compute_capability or UNKNOWN,),
                (gpu.note,),
            )
        )
        for gpu in load_gpus()
    )
    return Table("GPUs of the catalogue and the memory an engine finds on them", columns, rows, id="gpus")


def gpu_source_table() -> Table:
    """Returns where each GPU's total comes from: its names, what logs printed, and which logs those were."""
    columns = (
        Column("GPU"),
        Column("Also known as"),
        Column("nvidia-smi", "right", "MiB"),
        Column("Seen in logs", "right", "GiB"),
        Column("Logged in"),
    )
    rows = tuple(
        Row(
            (
                (gpu.name,),
                (", ".join(gpu.aliases),),
                _nvidia_smi(gpu),
                _seen(gpu),
                ("; ".join(gpu.sources) or UNKNOWN,),
            )
        )
        for gpu in load_gpus()
    )
    return Table("Where each total comes from; kind: logged", columns, rows, id="gpu-sources")


def _nvidia_smi(gpu: Gpu) -> Text:
    if gpu.nvidia_smi_mib is None:
        return (UNKNOWN,)
    return (Figure("gpus.nvidia_smi_mib", gpu.nvidia_smi_mib, grouped(gpu.nvidia_smi_mib)),)


def _seen(gpu: Gpu) -> Text:
    """The spread of the totals that logs print; one figure where they agree."""
    if not gpu.seen_gib:
        return (UNKNOWN,)
    least, most = (Figure("gpus.seen_gib", end, f"{end:.2f}") for end in (min(gpu.seen_gib), max(gpu.seen_gib)))
    return (least,) if least.text == most.text else (least, " – ", most)


def _sold(gpu: Gpu) -> Text:
    if gpu.marketing_gb is None:
        return (UNKNOWN,)
    return (Figure("gpus.marketing_gb", gpu.marketing_gb, f"{gpu.marketing_gb:g}"),)


def _usable(gpu: Gpu, unit: int) -> Text:
    if gpu.usable_bytes is None:
        return (UNKNOWN,)
    return (Figure("gpus.usable_bytes", gpu.usable_bytes, scaled(gpu.usable_bytes, unit)),)


def architecture_table(models: Sequence[tuple[ModelEntry, Summary]]) -> Table:
    """Returns every architecture of the catalogue with its mechanism, its models and how they are proved."""
    members: dict[str, list[tuple[ModelEntry, Summary]]] = defaultdict(list)
    for entry, summary in models:
        names = entry.config.get("architectures") or ["not stated"]
        members[str(names[0])].append((entry, summary))
    columns = (
        Column("Architecture"),
        Column("Mechanism"),
        Column("Models", "right"),
        Column("For example"),
        Column("Proof"),
    )
    rows = tuple(_architecture(name, members[name]) for name in sorted(members, key=str.lower))
    return Table("Architectures of the catalogue, as config.json names them", columns, rows, id="architectures")


def _architecture(name: str, members: Sequence[tuple[ModelEntry, Summary]]) -> Row:
    kinds = sorted({capitalised(summary.kind) for _, summary in members})
    proofs = sorted({STATUS_SHORT.get(entry.status, entry.status) for entry, _ in members})
    examples: list[str | Link] = []
    for entry, _ in members[:_SHOWN_MODELS]:
        examples += [", "] if examples else []
        examples.append(Link(entry.title, f"../models/{entry.id}/"))
    number = Figure("models", len(members), grouped(len(members)))
    return Row(((Code(name),), ("; ".join(kinds),), (number,), tuple(examples), (", ".join(proofs),)))


def calculator_table(file: Path) -> Table:
    """Returns other calculators' bytes of one request over vLLM's own, as measured on the day the file states.

    Args:
        file: The measurements.
    """
    data = json.loads(file.read_text("utf-8"))
    columns = (Column("Tool and version"), *(Column(model, "right") for model in data["models"]))
    rows = tuple(Row(((tool["name"],), *((_ratio(value),) for value in tool["ratios"]))) for tool in data["tools"])
    caption = f"Bytes of one request of {data['context']}: each tool's figure over {data['truth']}, {data['measured']}"
    return Table(caption, columns, rows, id="calculators")


def _ratio(value: float | str) -> str | Figure:
    if isinstance(value, str):
        return value
    return Figure("calculators.ratio", value, f"{value:.2f}" if value < 10 else f"{value:.0f}")
