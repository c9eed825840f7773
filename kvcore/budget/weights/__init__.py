"""Weights per GPU: which tensors an architecture has, how ranks share them and how a checkpoint stores them."""

from kvcore.budget.weights.weights import (
    MALFORMED,
    MOST_LAYERS,
    Checkpoint,
    ModelWeights,
    checkpoint_of,
    network_of,
    weigh,
)

__all__ = ["MALFORMED", "MOST_LAYERS", "Checkpoint", "ModelWeights", "checkpoint_of", "network_of", "weigh"]
