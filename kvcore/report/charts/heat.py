"""A heat map: one number over two inputs. A number stands in its cell where there is room, so colour never says it alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.report.charts.plot import scale_of
from kvcore.report.charts.style import COLOURS, specification, tooltip

_WIDTH = 480
_WIDEST, _NARROWEST = 64, 8
_TALLEST, _LOWEST = 30, 8
_HEIGHT = 420
_ROOM_FOR_TEXT = (44, 16)
_MOST = 128
"""Rows or columns beyond which cells are too small to be read; the table is left then."""

_DARK = 0.62
"""Place on the scale from which a cell is dark enough for a light text."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell: its column and row as texts, its number, and the number or what is wrong in words."""

    column: str
    row: str
    value: float | None
    text: str


def heat_map(cells: Sequence[Cell], across: str, up: str, what: str) -> dict[str, object] | None:
    """Returns the specification of a heat map; ``None`` where no cell has a number, or too many are asked for.

    Args:
        cells: All cells; rows and columns keep the order in which they come, the first row at the bottom.
        across: What the columns are.
        up: What the rows are.
        what: What the numbers count.
    """
    numbers = [cell.value for cell in cells if cell.value is not None]
    if not numbers:
        return None
    scale = scale_of(numbers)
    columns, rows = list(dict.fromkeys(cell.column for cell in cells)), list(dict.fromkeys(cell.row for cell in cells))
    if max(len(columns), len(rows)) > _MOST:
        return None
    wide = max(_NARROWEST, min(_WIDEST, _WIDTH // len(columns)))
    tall = max(_LOWEST, min(_TALLEST, _HEIGHT // len(rows)))
    x = {
        "field": "column",
        "type": "ordinal",
        "sort": columns,
        "axis": {"title": across, "labelAngle": 0 if wide >= 44 else -60},
    }
    y = {"field": "row", "type": "ordinal", "sort": rows[::-1], "axis": {"title": up}}
    kind: dict[str, Any] = {"type": "log"} if scale.logarithmic else {"type": "linear"}
    shade = {**kind, "domain": [scale.low, scale.high], "nice": False, "range": [COLOURS["soft"], COLOURS["deep"]]}
    told = tooltip(("column", across), ("row", up), ("text", what))
    place = {"x": x, "y": y}
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": "isValid(datum.value)"}],
            "mark": {"type": "rect", "stroke": COLOURS["page"], "strokeWidth": 1},
            "encoding": {
                **place,
                "color": {
                    "field": "value",
                    "type": "quantitative",
                    "scale": shade,
                    "legend": {"title": None, "format": ",.3~r"},
                },
                "tooltip": told,
            },
        },
        {
            "transform": [{"filter": "!isValid(datum.value)"}],
            "mark": {
                "type": "rect",
                "fill": COLOURS["page"],
                "stroke": COLOURS["quiet"],
                "strokeDash": [3, 2],
                "strokeWidth": 0.5,
            },
            "encoding": {**place, "tooltip": told},
        },
    ]
    if wide >= _ROOM_FOR_TEXT[0] and tall >= _ROOM_FOR_TEXT[1]:
        colour = {"condition": {"test": "datum.dark", "value": COLOURS["bright"]}, "value": COLOURS["ink"]}
        layers.append(
            {
                "mark": {"type": "text", "fontSize": 11, "limit": wide - 4},
                "encoding": {**place, "text": {"field": "text"}, "color": colour, "tooltip": told},
            }
        )
    values = [
        {
            "column": cell.column,
            "row": cell.row,
            "value": cell.value,
            "text": cell.text,
            "dark": cell.value is not None and scale.at(cell.value) >= _DARK,
        }
        for cell in cells
    ]
    return specification({"step": wide}, {"step": tall}, layers, data={"values": values})
