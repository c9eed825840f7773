"""Block size of latents where the platform sets it, whatever backend runs.

Source: vLLM 0.17.0 `CudaPlatformBase.check_and_update_config`; later releases ask the backend that runs.
"""

from collections.abc import Sequence

from kvcore.catalog.gpus import BLACKWELL, HOPPER, Gpu
from kvcore.engines.vllm.profile import Profile
from kvcore.layout.cache import LatentCache
from kvcore.layout.latent import SparseLatentCache
from kvcore.layout.layout import Part

FLASHMLA, CUTLASS_MLA, FLASHINFER_MLA = "FLASHMLA", "CUTLASS_MLA", "FLASHINFER_MLA"
FLASHMLA_BLOCK, CUTLASS_BLOCK, FLASHINFER_BLOCK = 64, 128, 64
FLASHINFER_SMALL_BLOCK = 32
SPARSE_BLOCK = 64
FLASHINFER_NOPE_HEAD_DIM = 128


def forced_latent_block(
    block_size: int, parts: Sequence[Part], gpu: Gpu, attention_backend: str | None, profile: Profile
) -> int:
    """The block size in force for a model with latents; any other model keeps its own.

    Args:
        block_size: The size so far: the one asked for, or the default.
        parts: The layout's parts.
        gpu: GPU whose kernels run.
        attention_backend: Backend asked for; None: the engine's choice.
        profile: The engine version's switches.
    """
    latents = [part.cache for part in parts if isinstance(part.cache, LatentCache)]
    if not profile.forced_latent_block or not latents:
        return block_size
    if any(isinstance(cache, SparseLatentCache) for cache in latents):
        return SPARSE_BLOCK
    backend = attention_backend.upper() if attention_backend else _default_backend(latents[0], gpu, profile)
    if backend == FLASHMLA and gpu.capability[0] == HOPPER and block_size % FLASHMLA_BLOCK:
        return FLASHMLA_BLOCK
    if backend == CUTLASS_MLA and block_size % CUTLASS_BLOCK:
        return CUTLASS_BLOCK
    if backend == FLASHINFER_MLA and block_size != FLASHINFER_SMALL_BLOCK and block_size % FLASHINFER_BLOCK:
        return FLASHINFER_BLOCK
    return block_size


def _default_backend(cache: LatentCache, gpu: Gpu, profile: Profile) -> str:
    """The backend the platform reserves blocks for, which need not be the one that runs."""
    if gpu.capability[0] != BLACKWELL:
        return FLASHMLA
    takes = profile.flashinfer_latents and cache.qk_nope_head_dim == FLASHINFER_NOPE_HEAD_DIM
    return FLASHINFER_MLA if takes else CUTLASS_MLA
