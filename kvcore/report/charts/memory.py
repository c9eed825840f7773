"""Where the memory goes: one bar per GPU from the weights to what the system keeps, and the same as a table.

A bar is as long as the card's memory is large. What is estimated carries ``≈``, and the line beneath a bar is the interval
within which the cache may really begin. Where the terms need more than the card has, the bar runs past the card's end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.report.charts.style import COLOURS, WIDTH, specification, tooltip
from kvcore.report.document import Chart, Column, Row, Table, Text
from kvcore.report.figures import UNKNOWN, grouped, readable_bytes, scaled, times
from kvcore.report.report import BudgetReport, Capacity, Report
from kvcore.report.sections.wording import engine_name
from kvcore.report.terms import CACHE, ESTIMATE, ESTIMATED_KINDS, TERM_TONES, term_rank

_STEP = 54
_BAR = 16
_CAPTION_UP = -19
_INTERVAL_DOWN = 14
_LETTER_PIXELS = 6.6
_LIGHT_TEXT = frozenset({"token", "weights"})
"""Tones that a light text is read on."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """One piece of a bar: from ``start`` to ``start + size`` bytes of the card."""

    name: str
    start: int
    size: int
    kind: str

    @property
    def is_estimate(self) -> bool:
        """Whether the size rests on a fit."""
        return self.kind in ESTIMATED_KINDS

    @property
    def tone(self) -> str:
        """Colour kind."""
        return TERM_TONES.get(self.name, "graphs")

    @property
    def label(self) -> str:
        """Name as the legend has it."""
        return f"{ESTIMATE}{self.name}" if self.is_estimate else self.name


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One GPU of a deployment: its pieces in order, and where the card ends."""

    name: str
    terms: tuple[Term, ...]
    card: int
    interval: tuple[int, int] | None
    caption: str

    @property
    def end(self) -> int:
        """Where the last piece ends; past the card where memory is missing."""
        return self.terms[-1].start + self.terms[-1].size


def memory_bars(series: Mapping[str, Report], name: str = "memory") -> Chart | None:
    """Returns the memory of one GPU of each deployment; ``None`` where no report divides a card's memory.

    Args:
        series: Answers by the deployment's name, as "8 × H200".
        name: Name of the chart on its page.
    """
    bars = tuple(bar for title, report in series.items() if (bar := _bar(title, report)) is not None)
    if not bars:
        return None
    engines = {engine_name(report) for report in series.values() if report.engine}
    under = f" under {engines.pop()}" if len(engines) == 1 else ""
    what = "Memory of one GPU" if len(bars) > 1 else f"Memory of one GPU, {bars[0].name}"
    lengths = {report.request.max_model_len for report in series.values() if report.request}
    at = f", {grouped(lengths.pop())} tokens of context" if len(lengths) == 1 else ""
    title = f"{what}{under}{at}; what is estimated carries ≈"
    shown = {title: series[title] for title in (bar.name for bar in bars)}
    return Chart(title, _spec(bars), _table(title, bars, shown), name)


def _bar(title: str, report: Report) -> Bar | None:
    budget = report.budget
    if budget is None or not budget.reserves or budget.kv_cache_bytes is None:
        return None
    sizes = [(item.name, item.bytes, item.kind) for item in budget.reserves]
    sizes.append((CACHE, budget.kv_cache_bytes, budget.kind))
    sizes.sort(key=lambda item: term_rank(item[0]))
    terms, start = [], 0
    for name, size, kind in sizes:
        terms.append(Term(name=name, start=start, size=size, kind=kind))
        start += size
    return Bar(
        name=title,
        terms=tuple(terms),
        card=start - budget.missing_bytes,
        interval=None if budget.missing_bytes else budget.interval_bytes,
        caption=f"{title}: {_caption(report, budget)}",
    )


def _caption(report: Report, budget: BudgetReport) -> str:
    if budget.missing_bytes:
        return f"does not start, {readable_bytes(budget.missing_bytes)} are missing"
    words = f"cache {readable_bytes(budget.kv_cache_bytes or 0)}"
    if budget.kind == "estimated" and budget.interval_bytes:
        low, high = budget.interval_bytes
        words = f"cache ≈ {readable_bytes(budget.kv_cache_bytes or 0)} ({scaled(low, GIB)} – {scaled(high, GIB)})"
    capacity = report.capacity
    if capacity is None or not capacity.fits:
        return f"{words}, too little for one request" if capacity and capacity.fits is False else words
    requests = _at_once(capacity)
    return words if requests is None else f"{words}, {requests:,.2f} requests at once"


def _spec(bars: Sequence[Bar]) -> dict[str, object]:
    longest = max(max(bar.end, bar.card) for bar in bars)
    kinds = {term.label: term for bar in bars for term in bar.terms}
    ordered = sorted(kinds.values(), key=lambda term: term_rank(term.name))
    x: dict[str, Any] = {
        "field": "start",
        "type": "quantitative",
        "scale": {"domain": [0, _gib(longest)], "nice": False},
        "axis": {"title": "GiB of one GPU", "format": ",~f", "tickCount": 6},
    }
    y: dict[str, Any] = {
        "field": "row",
        "type": "nominal",
        "axis": None,
        "sort": None,
        "scale": {"paddingInner": 0, "paddingOuter": 0},
    }
    colour = {
        "field": "term",
        "type": "nominal",
        "scale": {"domain": [term.label for term in ordered], "range": [COLOURS[term.tone] for term in ordered]},
        "legend": {"title": None, "orient": "top", "columns": 3, "symbolType": "square", "symbolOpacity": 1},
    }
    told = tooltip(("row", "on"), ("term", "term"), ("size", "size"), ("kind", "kind"))
    text = {"condition": {"test": "datum.light", "value": COLOURS["page"]}, "value": COLOURS["ink"]}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "height": _BAR, "stroke": COLOURS["page"], "strokeWidth": 0.5},
            "encoding": {"x": x, "x2": {"field": "end"}, "y": y, "color": colour, "tooltip": told},
        },
        {
            "transform": [{"filter": "datum.label !== ''"}],
            "mark": {"type": "text", "fontSize": 11},
            "encoding": {
                "x": {**x, "field": "middle"},
                "y": y,
                "text": {"field": "label"},
                "color": text,
                "tooltip": told,
            },
        },
        {
            "data": {"values": [{"row": bar.name, "start": 0, "caption": bar.caption} for bar in bars]},
            "mark": {"type": "text", "align": "left", "fontSize": 12, "yOffset": _CAPTION_UP, "color": COLOURS["ink"]},
            "encoding": {"x": x, "y": y, "text": {"field": "caption"}},
        },
        {
            "data": {"values": [{"row": bar.name, "start": _gib(bar.card), "told": _card(bar)} for bar in bars]},
            "mark": {"type": "tick", "size": _BAR + 7, "thickness": 2, "color": COLOURS["ink"]},
            "encoding": {"x": x, "y": y, "tooltip": tooltip(("row", "on"), ("told", "the card ends here"))},
        },
        *_intervals(bars, x, y),
    ]
    return specification(WIDTH, {"step": _STEP}, layers, data={"values": [*_pieces(bars, longest)]})


def _pieces(bars: Sequence[Bar], longest: int) -> list[dict[str, object]]:
    return [
        {
            "row": bar.name,
            "term": term.label,
            "start": _gib(term.start),
            "end": _gib(term.start + term.size),
            "middle": _gib(term.start + term.size // 2),
            "label": _label(term, longest),
            "light": term.tone in _LIGHT_TEXT,
            "size": readable_bytes(term.size),
            "kind": _kind(term),
        }
        for bar in bars
        for term in bar.terms
        if term.size
    ]


def _intervals(bars: Sequence[Bar], x: Mapping[str, Any], y: Mapping[str, Any]) -> list[dict[str, object]]:
    """Beneath each bar, the stretch within which the cache may begin, with a stop at both ends."""
    values: list[dict[str, Any]] = []
    for bar in bars:
        if bar.interval is None:
            continue
        cache = next(term for term in bar.terms if term.name == CACHE)
        low, high = (cache.start + cache.size - size for size in reversed(bar.interval))
        told = f"{scaled(bar.interval[0], GIB)} to {readable_bytes(bar.interval[1])}"
        values.append({"row": bar.name, "start": _gib(max(low, 0)), "end": _gib(max(high, 0)), "told": told})
    if not values:
        return []
    encoding: dict[str, Any] = {"y": y, "tooltip": tooltip(("row", "on"), ("told", "cache between"))}
    stop: dict[str, Any] = {
        "type": "tick",
        "size": 7,
        "thickness": 1.5,
        "yOffset": _INTERVAL_DOWN,
        "color": COLOURS["ink"],
    }
    rule: dict[str, Any] = {
        "type": "rule", "strokeWidth": 1.5, "yOffset": _INTERVAL_DOWN, "y2Offset": _INTERVAL_DOWN, "color": COLOURS["ink"]
    }  # fmt: skip
    stops = [{**value, "start": value[end]} for value in values for end in ("start", "end")]
    return [
        {"data": {"values": values}, "mark": rule, "encoding": {**encoding, "x": x, "x2": {"field": "end"}}},
        {"data": {"values": stops}, "mark": stop, "encoding": {**encoding, "x": x}},
    ]


def _gib(size: int) -> float:
    return round(size / GIB, 3)


def _kind(term: Term) -> str:
    return {"assumed": "estimate", "estimated": "estimate", "derived": "computed"}.get(term.kind, term.kind)


def _card(bar: Bar) -> str:
    return f"{readable_bytes(bar.card)} of memory"


def _label(term: Term, longest: int) -> str:
    """What stands in a piece: name and size, the size alone, or nothing, whatever its length has room for."""
    room = term.size / longest * WIDTH / _LETTER_PIXELS if longest else 0
    size = scaled(term.size, GIB)
    for words in (f"{term.label} {size}", size):
        if len(words) + 1 <= room:
            return words
    return ""


def _table(title: str, bars: Sequence[Bar], series: Mapping[str, Report]) -> Table:
    names = {term.name: term for bar in bars for term in bar.terms}
    columns = (Column("Term"), *(Column(bar.name, "right", "GiB per GPU") for bar in bars), Column("Kind"))
    rows = []
    for name, term in sorted(names.items(), key=lambda item: term_rank(item[0])):
        rows += _intervals_before_cache(bars) if name == CACHE else []
        rows.append(Row(((name,), *(_cell(bar, name) for bar in bars), (_kind(term),)), total=name == CACHE))
        rows += _row_of("cache, between", [_between(bar) for bar in bars]) if name == CACHE else []
    rows.append(Row((("memory of the card",), *((scaled(bar.card, GIB),) for bar in bars), ("computed",))))
    if any(bar.end > bar.card for bar in bars):
        missing = (((scaled(bar.end - bar.card, GIB),) if bar.end > bar.card else ("",)) for bar in bars)
        rows.append(Row((("missing",), *missing, ("estimate",))))
    rows.append(Row((("requests at once, as logged",), *(_requests(series[bar.name]) for bar in bars), ("",))))
    return Table(title, columns, tuple(rows))


def _intervals_before_cache(bars: Sequence[Bar]) -> list[Row]:
    return _row_of("estimated terms together, between", [_together(bar) for bar in bars])


def _row_of(label: str, texts: Sequence[str]) -> list[Row]:
    """A row of intervals; none where nothing is uncertain."""
    return [Row(((label,), *((text or UNKNOWN,) for text in texts), ("80 % interval",)))] if any(texts) else []


def _cell(bar: Bar, name: str) -> Text:
    term = next((term for term in bar.terms if term.name == name), None)
    return (UNKNOWN,) if term is None else (scaled(term.size, GIB),)


def _between(bar: Bar) -> str:
    return f"{scaled(bar.interval[0], GIB)} – {scaled(bar.interval[1], GIB)}" if bar.interval else ""


def _together(bar: Bar) -> str:
    """The interval of everything estimated beside the cache: what the cache gains, the other terms lose."""
    estimated = sum(term.size for term in bar.terms if term.is_estimate and term.name != CACHE)
    cache = next(term.size for term in bar.terms if term.name == CACHE)
    if bar.interval is None or not estimated:
        return ""
    least, most = (max(0, estimated + cache - size) for size in reversed(bar.interval))
    return f"{scaled(least, GIB)} – {scaled(most, GIB)}"


def _requests(report: Report) -> Text:
    if report.capacity is None or not report.capacity.fits:
        return ("does not start" if report.budget and report.budget.missing_bytes else "none",)
    logged = report.capacity.concurrency.engine_log
    return (times(f"capacity.concurrency.{'held' if logged is None else 'engine_log'}", _at_once(report.capacity)),)


def _at_once(capacity: Capacity) -> float | None:
    """Requests at once as the engine logs them, or as they can be held where it logs none, as under SGLang."""
    logged = capacity.concurrency.engine_log
    return capacity.concurrency.held if logged is None else logged
