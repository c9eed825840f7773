"""Architectures that keep a state per request: recurrent, linear attention or short convolution, alone or in hybrids."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture

STATES: Mapping[str, Architecture] = {}
"""One row per architecture."""
