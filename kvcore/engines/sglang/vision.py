"""Images: memory SGLang leaves free for them beside the pools, and batches it captures for servers of images."""

from kvcore.catalog.gpus import HOPPER, Gpu
from kvcore.engines.sglang.memory_fraction import LARGE_GPU_MIB
from kvcore.engines.sglang.model import ServedModel

EMBEDDINGS_GIB = 100 / 1024
"""Image embeddings (SGLang 0.5.23 `mm_runtime_reservation_gb`, `SGLANG_VLM_CACHE_SIZE_MB`)."""

TRANSPORT_GIB = 1.0
CROWDED_TRANSPORT_GIB = 3.0
CROWDED_REQUESTS = 400
"""Features on their way between processes, on the GPU itself (SGLang 0.5.23 `_qwen3vl_hopper_serving_overrides`)."""

TUNED = frozenset({"Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"})
LARGEST_BATCH = 512


def is_tuned(model: ServedModel, gpu: Gpu, gpu_mib: int) -> bool:
    """Qwen3-VL on large Hopper GPUs, which has settings of its own (`large_hopper_qwen3_vl_model_type`)."""
    on_hopper = gpu.capability[0] == HOPPER and gpu_mib >= LARGE_GPU_MIB
    return model.architecture in TUNED and model.is_multimodal and on_hopper


def vision_reserve_gib(model: ServedModel, *, tuned: bool, nnodes: int, max_running_requests: int | None) -> float:
    """Memory left free for images in GiB; none for models that serve text."""
    if not model.is_multimodal:
        return 0.0
    if not tuned:
        return EMBEDDINGS_GIB
    if nnodes > 1:
        return 0.0
    crowded = max_running_requests is not None and max_running_requests >= CROWDED_REQUESTS
    return CROWDED_TRANSPORT_GIB if crowded else TRANSPORT_GIB


def expanded_batch(batch: int, max_running_requests: int | None, *, tuned: bool) -> int:
    """Decode graphs reach the requests asked for (SGLang 0.5.23 `expand_multimodal_decode_graph_to_running_limit`)."""
    if not tuned or max_running_requests is None or max_running_requests > LARGEST_BATCH:
        return batch
    return max(batch, max_running_requests)
