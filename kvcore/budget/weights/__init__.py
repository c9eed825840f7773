"""Weights per GPU: which tensors an architecture has, how ranks share them and how a checkpoint stores them."""

from kvcore.budget.weights.weights import ModelWeights, network_of, weigh

__all__ = ["ModelWeights", "network_of", "weigh"]
