"""A chart as a figure of a page: picture, buttons, and the table that says the same folded beneath it."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from kvcore.report.charts import explorable
from kvcore.report.document import Chart
from kvcore.report.writers import html
from site_plugins.charts.drawn import draw, themed
from site_plugins.pages.store import Store, folder_digest

Draw = Callable[[Mapping[str, object]], str]

SOURCE = "charts.json"
"""File beside a page that holds the specifications of its charts by name; fetched when someone explores one."""


def chart_figure(chart: Chart, drawing: Draw, source: str = SOURCE) -> str:
    """Returns a chart as HTML.

    Args:
        chart: The chart.
        drawing: Draws its specification.
        source: Address of the file with the specification, relative to the page.
    """
    return html.chart_figure(chart, themed(drawing(chart.spec), chart.title), source)


def chart_file(charts: Iterable[Chart]) -> str:
    """Returns the text of a page's :data:`SOURCE`."""
    return json.dumps({chart.name: explorable(chart.spec) for chart in charts}, separators=(",", ":"))


def kept_drawings(folder: Path) -> Draw:
    """Returns a function that draws every specification once, whatever else has changed since.

    Args:
        folder: Where drawings are kept.
    """
    store = Store(folder, folder_digest([Path(__file__).parent], ("drawn.py",)))
    return lambda spec: store.get(json.dumps(spec, sort_keys=True), lambda: draw(spec))
