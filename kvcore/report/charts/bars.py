"""Bars: one number per deployment, each under its own name."""

from collections.abc import Sequence

from kvcore.report.charts.style import COLOURS, WIDTH, specification, tooltip

_STEP = 42
_BAR = 14
_CAPTION_UP = -16
_ROOM = 1.16
"""Room right of the longest bar for its number, as a factor."""

Item = tuple[str, float | None, str]
"""Name, number (None where there is none), and the number or its reason in words."""


def bars(items: Sequence[Item], across: str) -> dict[str, object]:
    """Returns the specification of bars, the first at the top.

    Args:
        items: The bars; names differ.
        across: What the axis counts.
    """
    most = max((value or 0 for _, value, _ in items), default=0) or 1
    values = [{"name": name, "value": round(value or 0, 4), "text": text} for name, value, text in items]
    x = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, most * _ROOM], "nice": False},
        "axis": {"title": across, "format": ",~f", "tickCount": 6},
    }
    y = {
        "field": "name",
        "type": "nominal",
        "axis": None,
        "sort": None,
        "scale": {"paddingInner": 0, "paddingOuter": 0},
    }
    start = {**x, "datum": 0}
    del start["field"]
    return specification(
        WIDTH,
        {"step": _STEP},
        (
            {
                "mark": {"type": "bar", "height": _BAR, "color": COLOURS["token"]},
                "encoding": {"x": x, "y": y, "tooltip": tooltip(("name", "deployment"), ("text", across))},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 12, "color": COLOURS["ink"]},
                "encoding": {"x": x, "y": y, "text": {"field": "text"}},
            },
            {
                "mark": {
                    "type": "text", "align": "left", "fontSize": 12, "yOffset": _CAPTION_UP, "limit": WIDTH,
                    "color": COLOURS["ink"],
                },
                "encoding": {"x": start, "y": y, "text": {"field": "name"}},
            },
        ),
        data={"values": values},
    )  # fmt: skip
