"""The table of architectures: Hugging Face class name to mechanisms. A new architecture is one row of one family."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures.decoders import DECODERS
from kvcore.layout.architectures.encoders import ENCODERS
from kvcore.layout.architectures.latents import LATENTS
from kvcore.layout.architectures.states import STATES
from kvcore.layout.architectures.windows import WINDOWS
from kvcore.layout.architectures.wrappers import WRAPPERS

ARCHITECTURES: Mapping[str, Architecture] = {
    **DECODERS,
    **WINDOWS,
    **ENCODERS,
    **WRAPPERS,
    **LATENTS,
    **STATES,
}
"""One row per architecture, gathered from the families."""

__all__ = ["ARCHITECTURES"]
