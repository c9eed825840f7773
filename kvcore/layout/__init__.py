"""Lay out: which tensors persist between decode steps, per layer, before any engine stores them."""

from kvcore.layout.lay_out import lay_out
from kvcore.layout.layout import LayerCache, Layout, Part
from kvcore.layout.resolve import architecture_of

__all__ = ["LayerCache", "Layout", "Part", "architecture_of", "lay_out"]
