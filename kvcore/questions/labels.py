"""What the figures of links, sweeps and comparisons are called, and how a value of an input is written."""

FIGURE_LABELS = {
    "capacity.concurrency.engine_log": ("requests at once, as logged", ""),
    "capacity.concurrency.held": ("requests at once, held", ""),
    "capacity.tokens.engine_log": ("cache size in the log", "tokens"),
    "capacity.num_gpu_blocks": ("cache blocks", "blocks"),
}
"""Label and unit by report path."""


def figure_label(path: str) -> str:
    """Returns a figure's label with its unit."""
    label, unit = FIGURE_LABELS.get(path, (path, ""))
    return f"{label}, {unit}" if unit else label


def shown(value: object) -> str:
    """Returns an input's value or a figure for a person."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}"
