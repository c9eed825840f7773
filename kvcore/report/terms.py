"""The terms of a GPU's memory in the order they are drawn and told, with the colour kind of each.

Their names are the ones the engines' budgets use; the cache comes next to last, before what the system keeps.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kvcore.report.document import Tone

CACHE = "cache"

ESTIMATE = "≈ "
"""Stands before the name of an estimated term."""

ESTIMATED_KINDS = frozenset({"assumed", "estimated"})
"""Kinds whose figures rest on a fit."""

TERM_TONES: Mapping[str, Tone] = MappingProxyType(
    {
        "weights": "weights",
        "weights and whatever else was loaded": "weights",
        "activation peak": "activation",
        "activations and CUDA graphs": "activation",
        "image embeddings": "graphs",
        "CUDA graphs": "graphs",
        "outside PyTorch": "outside",
        CACHE: "token",
        "left to the system": "system",
    }
)

_ORDER = tuple(TERM_TONES)
_UNNAMED = _ORDER.index(CACHE) - 0.5


def term_rank(name: str) -> float:
    """Returns a term's place in the order; terms without one stand just before the cache."""
    return _ORDER.index(name) if name in TERM_TONES else _UNNAMED
