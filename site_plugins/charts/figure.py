"""A chart as a figure of a page: picture, title, and the table that says the same folded beneath it."""

import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path

from kvcore.report.document import Chart
from kvcore.report.writers import html
from site_plugins.charts.drawn import draw, themed
from site_plugins.pages.store import Store, folder_digest

Draw = Callable[[Mapping[str, object]], str]


def chart_figure(chart: Chart, drawing: Draw) -> str:
    """Returns a chart as HTML.

    Args:
        chart: The chart.
        drawing: Draws its specification.
    """
    return (
        f'<figure class="kv-chart"><figcaption>{escape(chart.title)}</figcaption>'
        f'<div class="kv-scroll" tabindex="0" role="region" aria-label="{escape(chart.title)}, picture">'
        f"{themed(drawing(chart.spec), chart.title)}</div>"
        f'<details class="kv-details"><summary>The same as a table</summary>\n{html.block(chart.table)}\n</details>'
        "</figure>"
    )


def kept_drawings(folder: Path) -> Draw:
    """Returns a function that draws every specification once, whatever else has changed since.

    Args:
        folder: Where drawings are kept.
    """
    store = Store(folder, folder_digest([Path(__file__).parent], ("drawn.py",)))
    return lambda spec: store.get(json.dumps(spec, sort_keys=True), lambda: draw(spec))
