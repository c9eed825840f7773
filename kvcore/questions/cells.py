"""Values as cells of comma-separated text."""

from typing import Any


def csv_cell(value: Any) -> str:
    """Returns one cell: numbers as they are, text in quotes, nothing for what is not known."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    text = str(value).replace('"', '""')
    if not text:
        return ""
    # A leading sign or equals would be read as a formula by a spreadsheet.
    return f'"{chr(39) if text[:1] in "=+-@" else ""}{text}"'
