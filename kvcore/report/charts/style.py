"""What all charts share: the grammar, the site's colours, and what an explorable chart adds to a printed one."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "token": "#1f3f68",
        "latent": "#8d3572",
        "indexer": "#c4602a",
        "window": "#35a295",
        "state": "#dcb83e",
        "neutral": "#c8cad0",
        "weights": "#697184",
        "activation": "#949cac",
        "graphs": "#b3b9c5",
        "outside": "#d3d7de",
        "system": "#eceeef",
        "soft": "#dfe6f0",
        "deep": "#20406a",
        "bright": "#fafaf8",
        "page": "#fbfbf9",
        "ink": "#1b1e25",
        "quiet": "#5a6070",
        "line": "#dfdfd8",
        "error": "#a3152b",
    }
)
"""The site's colours in its light scheme; the site puts its own variables in their place."""

TONES = ("token", "latent", "indexer", "window", "state", "neutral", "weights", "activation", "graphs", "outside", "system",
         "soft", "deep")  # fmt: skip
"""Colours that stand for a kind of thing; the others are the page's own."""

VARIABLES: Mapping[str, str] = MappingProxyType(
    {colour: f"--kv-tone-{name}" if name in TONES else f"--kv-{name}" for name, colour in COLOURS.items()}
)
"""The site's variable for each colour of a specification."""

WIDTH = 430
"""Pixels between the axes of a chart drawn when the site is built."""

NEAREST = "nearest"
"""Name of a layer whose marks answer wherever the pointer is, not only where it touches them."""

_FONT = "Inter, sans-serif"


def specification(
    width: int | Mapping[str, int], height: int | Mapping[str, int], layers: Sequence[Any], **more: Any
) -> dict[str, object]:
    """Returns a complete specification of some layers.

    Args:
        width: Pixels between the axes.
        height: The same, or pixels per step.
        layers: What is drawn, the first at the bottom.
        more: Further keys, ``data`` among them.
    """
    return {"$schema": SCHEMA, "width": width, "height": height, "config": _config(), **more, "layer": list(layers)}


def explorable(spec: Mapping[str, Any]) -> dict[str, object]:
    """Returns a specification as the browser draws it: with what answers the pointer, and the names of its colours.

    A picture drawn when the site is built has no use for either.
    """
    layers = [_answering(layer) for layer in spec["layer"]]
    return {**spec, "layer": layers, "usermeta": {"variables": dict(VARIABLES)}}


def _answering(layer: Mapping[str, Any]) -> Mapping[str, Any]:
    if layer.get("name") != NEAREST:
        return layer
    select = {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"}
    grown = {"condition": {"param": NEAREST, "empty": False, "value": 90}, "value": 24}
    return {
        **layer,
        "params": [{"name": NEAREST, "select": select}],
        "encoding": {**layer["encoding"], "size": grown},
    }


def tooltip(*fields: tuple[str, str]) -> list[dict[str, str]]:
    """Returns what a mark says under the pointer, as (field, title)."""
    return [{"field": field, "title": title} for field, title in fields]


def _config() -> dict[str, object]:
    return {
        "background": None,
        "font": _FONT,
        "view": {"stroke": None},
        "axis": {
            "domainColor": COLOURS["quiet"],
            "gridColor": COLOURS["line"],
            "labelColor": COLOURS["quiet"],
            "labelFontSize": 12,
            "tickColor": COLOURS["quiet"],
            "titleColor": COLOURS["quiet"],
            "titleFontSize": 12,
            "titleFontWeight": "normal",
        },
        "legend": {"columnPadding": 18, "labelColor": COLOURS["ink"], "labelFontSize": 12, "labelLimit": 220},
    }
