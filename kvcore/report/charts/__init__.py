"""Charts as Vega-Lite specifications, made from reports: drawn as SVG when the site is built, and by Vega in the browser.

Nothing is told by colour alone, and every chart carries the table that says the same. Sizes are divided for the axis only;
the table keeps whole bytes.
"""

from kvcore.report.charts.lines import bytes_by_part, concurrency, concurrency_on
from kvcore.report.charts.memory import memory_bars
from kvcore.report.charts.style import COLOURS, explorable

__all__ = ["COLOURS", "bytes_by_part", "concurrency", "concurrency_on", "explorable", "memory_bars"]
