"""A Vega-Lite specification as an SVG that takes its colours from the page and carries no style or script of its own."""

import json
import re
from collections.abc import Mapping
from html import escape

import vl_convert

from kvcore.report.charts.style import VARIABLES

# Minor releases of the grammar that vl-convert may be asked for; the specifications name the major one.
_GRAMMAR = "6.4"

_VARIABLES = {colour: f"var({name})" for colour, name in VARIABLES.items()}
_COLOUR = re.compile("|".join(map(re.escape, _VARIABLES)), re.IGNORECASE)
_OPENING = re.compile(r"<svg[^>]*?(?P<size>width=\"[\d.]+\" height=\"[\d.]+\" viewBox=\"[^\"]+\")[^>]*>")
# What says nothing once the whole picture is one image with a name.
_NOISE = re.compile(
    r' (?:role|class|aria-[a-z]+|pointer-events|font-family|stroke-miterlimit|cursor)="[^"]*"| opacity="1"'
)
_NOTHING = re.compile(r'<path(?: [a-z-]+="[^"]*")*? d=""[^>]*/>|<path d="M0,0h0v0h0Z"/>')
_EMPTY = re.compile(r"<g(?: [a-z-]+=\"[^\"]*\")*></g>")
_HUNDREDTHS = re.compile(r"(\d+\.\d{2})\d+")


def draw(spec: Mapping[str, object]) -> str:
    """Returns the SVG of a specification as vl-convert draws it."""
    drawn: str = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version=_GRAMMAR)
    return drawn


def themed(svg: str, title: str) -> str:
    """Returns a drawn SVG for inside a page: named, with the page's colours, and without what repeats.

    Args:
        svg: As drawn.
        title: What the picture shows, for those who do not see it.
    """
    svg = _NOISE.sub("", svg)
    svg = _OPENING.sub(lambda match: f'<svg {match["size"]} role="img" aria-label="{escape(title)}">', svg, count=1)
    svg = _COLOUR.sub(lambda match: _VARIABLES[match[0].lower()], svg)
    svg = _HUNDREDTHS.sub(r"\1", svg)
    svg = _NOTHING.sub("", svg)
    while (smaller := _EMPTY.sub("", svg)) != svg:
        svg = smaller
    return svg
