"""Report to document: what a person sees, and in which order. The answer first, the reason second, the proof third."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kvcore.report.document import Block, Details, Document, Heading, Link, Paragraph
from kvcore.report.report import Report
from kvcore.report.sections import capacity, derivation, evidence, headline, inputs, layout, memory, request
from kvcore.report.sections.wording import caches_nothing, engine_name

Section = Callable[[Report], tuple[Block, ...]]


def folded_derivation(report: Report) -> tuple[Block, ...]:
    """Returns the derivation folded under a count of its steps."""
    steps = len(report.derivation)
    if not steps:
        return ()
    return (
        Details(
            f"{steps} {'step' if steps == 1 else 'steps'}: formula, values put in, result",
            lambda: derivation.derivation(report),
            id="derivation-steps",
        ),
    )


SECTIONS: Mapping[str, tuple[str, Section]] = MappingProxyType(
    {
        "layout": ("Layout", layout.layout),
        "one-request": ("One request", request.one_request),
        "capacity": ("Capacity", capacity.capacity),
        "memory": ("Where the memory goes", memory.memory),
        "derivation": ("Derivation", folded_derivation),
        "what-to-know": ("What to know", evidence.warnings),
        "evidence": ("Evidence", evidence.sources),
    }
)
"""Sections in reading order: stable anchor, title and what fills it."""

_OF_THE_CACHE = frozenset({"one-request", "capacity", "memory"})
"""Sections that have nothing to say about a model without a cache."""

NOT_A_MEASUREMENT = "Every figure above is computed from the config and the engine's rules. None was measured."


def render(report: Report) -> Document:
    """Returns the complete document of a report: errors, headline, inputs, then every section that has content."""
    blocks: list[Block] = [*evidence.errors(report), *headline.headline(report), *inputs.inputs(report)]
    for anchor, (title, _) in SECTIONS.items():
        content = render_section(report, anchor)
        if content:
            blocks += [Heading(2, title, anchor), *content]
    if report.layout is not None:
        blocks.append(Paragraph((NOT_A_MEASUREMENT,)))
    return Document(tuple(blocks))


def review(report: Report, permalink: str = "") -> Document:
    """Returns the short form for a design review: headline, what was asked, one request, versions, permalink.

    Args:
        report: The answer.
        permalink: Address that reproduces it, made by our own code; empty where there is none.
    """
    versions = f"kvcore {report.kvcore_version}, {engine_name(report)} rules. {NOT_A_MEASUREMENT}"
    blocks: list[Block] = [
        *evidence.errors(report),
        *headline.headline(report),
        *inputs.given_inputs(report),
        *(() if caches_nothing(report) else request.split(report)),
        *evidence.warnings(report),
        Paragraph((versions,)),
    ]
    if permalink:
        blocks.append(Paragraph((Link("This question in the calculator", permalink),)))
    return Document(tuple(blocks))


def render_section(report: Report, anchor: str) -> tuple[Block, ...]:
    """Returns one section's blocks without its heading; empty when it has nothing to say."""
    if anchor in _OF_THE_CACHE and caches_nothing(report):
        return ()
    return SECTIONS[anchor][1](report)
