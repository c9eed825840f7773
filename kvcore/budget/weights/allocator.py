"""What PyTorch's caching allocator hands out for a tensor: the "Model loading took" line counts this, not the tensor."""

from kvcore.arithmetic import MIB, round_up

SMALLEST_BLOCK = 512
LARGE_TENSOR = 10 * MIB
LARGE_MULTIPLE = 2 * MIB
LARGEST_REMAINDER = MIB
"""A block of a large request is only split where more than this would be left (`CUDACachingAllocator`, PyTorch 2.x)."""


def allocated_bytes(tensor_bytes: int) -> int:
    """Bytes counted as allocated for one tensor that is created on its own."""
    if tensor_bytes == 0:
        return 0
    rounded = round_up(tensor_bytes, SMALLEST_BLOCK)
    if rounded < LARGE_TENSOR:
        return rounded
    segment = round_up(rounded, LARGE_MULTIPLE)
    return segment if segment - rounded <= LARGEST_REMAINDER else rounded
