"""The deployments that pages show: cache budgets, parallel sizes and context lengths, as data.

A page states each of them beside its figures. The budgets are round shares of memory for the cache, given to the
engine as ``kv_cache_memory_bytes``, so every figure that follows is exact.
"""

from fractions import Fraction

from kvcore.arithmetic import GIB

BUDGETS = (40 * GIB, 80 * GIB)
TENSOR_PARALLEL_SIZES = (1, 2, 4, 8)
CONTEXTS = (8_192, 32_768, 131_072)

HEADLINE_BUDGET = 40 * GIB
HEADLINE_CONTEXT = 131_072
INDEX_CONTEXTS = (32_768, 131_072)

# A GPU that keeps the headline budget free has about this much left for weights (80 GB class, 0.92 of its memory).
WEIGHTS_PER_GPU = 32 * GIB


def headline_parallel(weight_bytes: int | None) -> int:
    """Returns the smallest tensor-parallel size that leaves the headline budget free beside the weights.

    Args:
        weight_bytes: Published size of the weights; 1 GPU is assumed when it is not known.
    """
    for size in TENSOR_PARALLEL_SIZES:
        if weight_bytes is None or weight_bytes <= size * WEIGHTS_PER_GPU:
            return size
    return TENSOR_PARALLEL_SIZES[-1]


DEPLOYMENT_GPUS = ("H100", "H200", "B200")
DEPLOYMENT_SIZES = (1, 2, 4, 8)

MEMORY_GPUS = ("L40S", "H100", "H200", "B200")
"""Cards whose memory a model's page divides in a chart, the smallest first."""

WEIGHTS_SHARE = Fraction(85, 100)
"""Of a card's memory: weights that take more leave too little for a deployment worth showing."""

WORTH_QUOTING = 4
"""Requests at once from which a deployment is worth opening a page with."""

INDEX_GPUS = ("L40S", "A100", "H100", "H200", "B200")
INDEX_SIZES = (1, 2, 4, 8)
INDEX_GPU, INDEX_SIZE = "H200", 8
"""Cards and numbers of them that the index knows, and those it shows unless asked for others."""
