"""A plot of lines over two axes of numbers, logarithmic where the numbers span more than a few doublings."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10
from typing import Any

from kvcore.report.charts.style import COLOURS, NEAREST, WIDTH, specification
from kvcore.report.document import Tone

DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 4), (1, 3), (10, 4))
HEIGHT = 240
LABEL_PIXELS = 15
_MARGIN = 1.25
"""Room above the highest and below the lowest value, as a factor on a logarithmic axis."""

_LOGARITHMIC = 8
"""Numbers that span this factor or more stand on a logarithmic axis."""

_LENGTH_LABEL = (
    "datum.value >= 1048576 ? datum.value / 1048576 + 'M' : "
    "datum.value >= 1024 ? datum.value / 1024 + 'k' : datum.value"
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a plot: its name, its colour kind, and its points from left to right."""

    name: str
    tone: Tone | str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How numbers become places on an axis, between 0 and 1."""

    low: float
    high: float
    logarithmic: bool

    def at(self, value: float) -> float:
        """Returns the place of a number."""
        if self.logarithmic:
            return log10(value / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value(self, place: float) -> float:
        """Returns the number at a place."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** place)
        return self.low + place * (self.high - self.low)


def scale_of(values: Sequence[float], *, margin: float = 1) -> Scale:
    """Returns the scale that suits some numbers.

    Args:
        values: All numbers of the axis.
        margin: Room at both ends of a logarithmic axis, and above a linear one, as a factor.
    """
    low, high = min(values), max(values)
    if low > 0 and high / low >= _LOGARITHMIC:
        return Scale(low=low / margin, high=high * margin, logarithmic=True)
    # With room above, an axis counts from nothing, so that heights can be compared.
    start = 0.0 if margin > 1 and low >= 0 else low
    end = high * margin if high > 0 else high
    return Scale(low=start, high=end if end > start else start + 1, logarithmic=False)


def plot(lines: Sequence[Line], across: str, up: str, *, lengths: bool = True) -> dict[str, object]:
    """Returns the specification of a plot with each line's name at its end.

    Args:
        lines: The lines; at least one with a point.
        across: What the horizontal axis counts.
        up: What the vertical axis counts.
        lengths: Whether the horizontal axis counts tokens, which are read in powers of two.
    """
    values = [{"across": x, "up": round(y, 4), "line": line.name} for line in lines for x, y in line.points]
    names = [line.name for line in lines]
    wide = scale_of([x for line in lines for x, _ in line.points])
    high = scale_of([y for line in lines for _, y in line.points], margin=_MARGIN)
    colours = {"domain": names, "range": [COLOURS[line.tone] for line in lines]}
    dashes = {"domain": names, "range": [list(DASHES[index % len(DASHES)]) for index in range(len(lines))]}
    x = _across(wide, [x for line in lines for x, _ in line.points], across, lengths=lengths)
    y = _up(high, up)
    colour = {"field": "line", "type": "nominal", "scale": colours, "legend": None}
    dash = {"field": "line", "type": "nominal", "scale": dashes, "legend": None}
    told = [
        {"field": "line", "title": "line"},
        {"field": "across", "title": across, "type": "quantitative", "format": ",~r"},
        {"field": "up", "title": up, "type": "quantitative", "format": ",.2~f"},
    ]
    labels = _labels(lines, high)
    # The page's colour behind the names keeps them apart from lines that run on beneath them.
    halo: dict[str, Any] = {"color": COLOURS["page"], "stroke": COLOURS["page"], "strokeWidth": 4}
    inks = [halo] if len({item["across"] for item in labels}) > 1 else []
    inks.append({"color": COLOURS["ink"]})
    return specification(
        WIDTH,
        HEIGHT,
        (
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
            },
            {
                "name": NEAREST,
                "mark": {"type": "point", "filled": True, "size": 24},
                "encoding": {"x": x, "y": y, "color": colour, "tooltip": told[len(lines) == 1 and not names[0] :]},
            },
            *(
                {
                    "data": {"values": labels},
                    "mark": {"type": "text", "align": "left", "dx": 9, "fontSize": 12, **ink},
                    "encoding": {"x": x, "y": y, "text": {"field": "line"}},
                }
                for ink in inks
            ),
        ),
        data={"values": values},
    )


def _across(scale: Scale, values: Sequence[float], title: str, *, lengths: bool) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": title, "format": ",~r"}
    if lengths:
        axis = {"title": title, "labelExpr": _LENGTH_LABEL}
    if scale.logarithmic:
        axis["values"] = _powers_of_two(min(values), max(values))
    elif lengths:
        axis["values"] = _round_lengths(scale)
    return {"field": "across", "type": "quantitative", "scale": _vega(scale, base=2), "axis": axis}


def _up(scale: Scale, title: str) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": title, "format": ",~f"}
    if scale.logarithmic:
        axis["values"] = _ticks(scale.low, scale.high)
    return {"field": "up", "type": "quantitative", "scale": _vega(scale), "axis": axis}


def _vega(scale: Scale, base: int = 10) -> dict[str, Any]:
    domain = {"domain": [scale.low, scale.high], "nice": False}
    if not scale.logarithmic:
        return {**domain, "zero": False}
    return {"type": "log", **({"base": base} if base != 10 else {}), **domain}


def _labels(lines: Sequence[Line], scale: Scale) -> list[dict[str, object]]:
    """Places each line's name at its end, pushed apart where two that end together would print over each other."""
    together: dict[float, list[tuple[float, str]]] = {}
    for line in lines:
        across, up = line.points[-1]
        together.setdefault(across, []).append((scale.at(up), line.name))
    return [
        {"across": across, "up": scale.value(place), "line": name}
        for across, ends in together.items()
        for place, (_, name) in zip(_apart([end for end, _ in sorted(ends)]), sorted(ends), strict=True)
    ]


def _apart(ends: Sequence[float]) -> list[float]:
    """Places from the lowest up, each at least a line of text above the one before, and none above the axis."""
    gap = LABEL_PIXELS / HEIGHT
    placed: list[float] = []
    for end in ends:
        placed.append(max(end, placed[-1] + gap) if placed else end)
    return _pushed_down(placed, 1, gap) if placed[-1] > 1 else placed


def _pushed_down(placed: Sequence[float], ceiling: float, gap: float) -> list[float]:
    lowered: list[float] = []
    for place in reversed(placed):
        ceiling = min(place, ceiling)
        lowered.append(ceiling)
        ceiling -= gap
    return lowered[::-1]


def _powers_of_two(low: float, high: float) -> list[int]:
    """Powers of two within the axis, every second where there are many."""
    powers = range(ceil(log2(low)), floor(log2(high)) + 1)
    step = 2 if len(powers) > 8 else 1
    return [2**power for power in powers if step == 1 or power % 2 == 0]


def _round_lengths(scale: Scale) -> list[int]:
    """Four to eight steps of a power of two tokens within the axis."""
    step = 2 ** max(0, floor(log2(scale.high - scale.low)) - 2)
    return [step * number for number in range(ceil(scale.low / step), floor(scale.high / step) + 1)]


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten within the axis; on a short axis twice and five times each as well."""
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
