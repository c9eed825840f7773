"""Escaping for HTML: the same few thousand words come in every answer, so they are escaped once."""

import functools
import html

escape = functools.lru_cache(maxsize=4096)(html.escape)
"""Returns a text that HTML shows as it is, in an element or between quotation marks."""
