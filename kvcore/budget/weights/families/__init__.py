"""Which builder describes the weights of an architecture: one row per Hugging Face class name."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder
from kvcore.budget.weights.families.qwen import QWEN
from kvcore.budget.weights.families.text import TEXT

BUILDERS: Mapping[str, Builder] = {**TEXT, **QWEN}
"""Builder of each architecture."""
