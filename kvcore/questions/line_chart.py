"""A plain line chart as SVG: the swept value against one figure. The table beside it says the same exactly."""

from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 480, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 12, 34
_TONES = ("token", "indexer", "latent", "window", "state")
_DASHES = ("", "6 3", "2 2", "8 3 2 3", "4 4")
MOST_LINES = len(_DASHES)


def line_chart(title: str, across: str, up: str, lines: Mapping[str, Points]) -> str:
    """Draws up to five lines, each with its own dash and its name in the legend.

    Args:
        title: What the picture shows, for those who do not see it.
        across: What the horizontal axis counts.
        up: What the vertical axis counts.
        lines: Points of each line by its name, from left to right.

    Returns:
        An ``<svg>`` without style and script; empty where no line has two points.
    """
    drawn = {name: points for name, points in lines.items() if len(points) > 1}
    if not drawn:
        return ""
    drawn = dict(list(drawn.items())[:MOST_LINES])
    every = [point for points in drawn.values() for point in points]
    left, right = min(x for x, _ in every), max(x for x, _ in every)
    top = max(y for _, y in every) or 1
    if left == right:
        return ""

    def at(x: float, y: float) -> str:
        return f"{LEFT + (x - left) / (right - left) * _inner_width():.1f},{HEIGHT - BOTTOM - y / top * _inner_height():.1f}"

    paths = "".join(
        f'<polyline class="kv-line kv-line--{_TONES[index]}" fill="none" stroke-width="2" '
        f'stroke-dasharray="{_DASHES[index]}" points="{" ".join(at(x, y) for x, y in points)}"></polyline>'
        for index, points in enumerate(drawn.values())
    )
    floor = HEIGHT - BOTTOM
    frame = f'<path class="kv-axis" fill="none" d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}"></path>'
    legend = "" if len(drawn) == 1 else _legend(tuple(drawn))
    return (
        f'<figure class="kv-linechart"><svg role="img" aria-label="{escape(title)}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"{frame}{paths}"
        f"{_text(LEFT - 6, TOP + 8, 'end', _short(top))}{_text(LEFT - 6, floor, 'end', '0')}"
        f"{_text(LEFT, floor + 14, 'start', _short(left))}{_text(WIDTH - RIGHT, floor + 14, 'end', _short(right))}"
        f"{_text((LEFT + WIDTH - RIGHT) / 2, floor + 28, 'middle', across)}"
        f"</svg><figcaption>{escape(up)} against {escape(across)}{legend}</figcaption></figure>"
    )


def _inner_width() -> int:
    return WIDTH - LEFT - RIGHT


def _inner_height() -> int:
    return HEIGHT - TOP - BOTTOM


def _text(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(words)}</text>'


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2f}"


def _legend(names: Sequence[str]) -> str:
    items = "".join(
        f'<span class="kv-legend"><svg class="kv-legend__line" viewBox="0 0 28 8" aria-hidden="true"><line '
        f'class="kv-line kv-line--{_TONES[index]}" x1="0" y1="4" x2="28" y2="4" stroke-width="2" '
        f'stroke-dasharray="{_DASHES[index]}"></line></svg> {escape(name)}</span>'
        for index, name in enumerate(names)
    )
    return f'<span class="kv-legends">{items}</span>'
