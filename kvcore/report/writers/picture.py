"""The two small pictures of a document as SVG: a bar of shares and a strip of layers.

Positions are SVG attributes and colours are classes, so no inline style is needed and the theme chooses the colours.
Each picture says the same in words beside or inside it.
"""

from collections import Counter
from collections.abc import Sequence

from kvcore.report.document import Segment, Tone
from kvcore.report.writers.escaping import escape

_BAR_LENGTH = 1000
_BAR_HEIGHT = 28
_CELL = 14
_CELL_HEIGHT = 40
_GAP = 3

TONE_NAMES: dict[Tone, str] = {
    "token": "keys and values per token",
    "latent": "latent per token",
    "indexer": "index keys per token",
    "window": "sliding window",
    "state": "state per request",
    "neutral": "no cache",
}


def shares(title: str, segments: Sequence[Segment], figures: Sequence[str], chart: str = "", tools: str = "") -> str:
    """Returns a bar of shares and its legend.

    Args:
        title: What is divided.
        segments: The shares in order.
        figures: The segments' figures, already HTML.
        chart: Name of the chart that shows more of the same; empty for none.
        tools: Buttons beneath it, already HTML.
    """
    whole = sum(segment.weight for segment in segments)
    rects: list[str] = []
    before = 0
    for segment in segments:
        # Edges are rounded, not lengths: the last share then always ends at the end of the bar.
        left = before * _BAR_LENGTH // whole if whole else 0
        before += segment.weight
        right = before * _BAR_LENGTH // whole if whole else 0
        rects.append(
            f'<rect class="kv-fill--{segment.tone}" x="{left}" y="0" width="{max(right - left, 1)}" '
            f'height="{_BAR_HEIGHT}"><title>{escape(segment.label)}: {escape(segment.figure.plain)}</title></rect>'
        )
    legend = "".join(
        f'<li class="kv-tone kv-tone--{segment.tone}"><span>{escape(segment.label)}:</span> {figure}</li>'
        for segment, figure in zip(segments, figures, strict=True)
    )
    name = f' data-kv-chart="{escape(chart)}"' if chart else ""
    return (
        f'<figure class="kv-shares"{name}><figcaption>{escape(title)}</figcaption><div data-kv-part="picture">'
        f'<svg viewBox="0 0 {_BAR_LENGTH} {_BAR_HEIGHT}" preserveAspectRatio="none" aria-hidden="true" '
        f'focusable="false">{"".join(rects)}</svg><ul class="kv-legend">{legend}</ul></div>{tools}</figure>'
    )


def layers(title: str, cells: Sequence[Sequence[Tone]]) -> str:
    """Returns the layers from first to last as a strip of cells, with a legend that counts each kind."""
    width = len(cells) * (_CELL + _GAP) - _GAP
    rects = "".join(
        _cell(index * (_CELL + _GAP), part, len(tones), tone)
        for index, tones in enumerate(cells)
        for part, tone in enumerate(tones)
    )
    counts = Counter(tone for tones in cells for tone in tones)
    legend = "".join(
        f'<li class="kv-tone kv-tone--{tone}"><span>{name}:</span> {counts[tone]} {_layer_word(counts[tone])}</li>'
        for tone, name in TONE_NAMES.items()
        if counts[tone]
    )
    return (
        f'<figure class="kv-layers"><figcaption>{escape(title)}</figcaption>'
        f'<svg viewBox="0 0 {width} {_CELL_HEIGHT}" aria-hidden="true" focusable="false">{rects}</svg>'
        f'<ul class="kv-legend">{legend}</ul></figure>'
    )


def _cell(left: int, part: int, parts: int, tone: Tone) -> str:
    height = _CELL_HEIGHT // parts
    return (
        f'<rect class="kv-fill--{tone}" x="{left}" y="{part * height}" width="{_CELL}" height="{height}" rx="2"></rect>'
    )


def _layer_word(number: int) -> str:
    return "layer" if number == 1 else "layers"
