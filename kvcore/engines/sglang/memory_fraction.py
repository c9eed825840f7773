"""The default of ``mem_fraction_static``: what SGLang leaves free for activations and graphs, by GPU memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

MINIMUM_TOKENS = 2048
"""Activations are reserved for at least so many tokens (SGLang 0.5.23 `handle_gpu_memory_settings`)."""

MAX_PREFILL_TOKENS = 16_384
"""Tokens of one prefill where chunking is off (SGLang 0.5.23 `ServerArgs.max_prefill_tokens`)."""

BASE_MIB = 512
MIB_PER_TOKEN = 1.5
MIB_PER_RANK = 128
"""Reserved whatever the graphs: a constant, each token of the activations, each rank (`handle_gpu_memory_settings`)."""

MIB_PER_DECODE_SEQUENCE = 2
MIB_PER_PREFILL_GRAPH = 8
MIB_PER_ATTENTION_SEQUENCE = 3
MORE_MIB_PER_ATTENTION_SEQUENCE = 1.5
"""Reserved for graphs, and for data-parallel attention with few and beyond many sequences (`reserve_for_graph_mb`)."""

LARGE_GPU_MIB = 60 * 1024
LARGE_GPU_RESERVE_MIB = 10 * 1024
LATENT_PREFILL_GRAPH_MIB = 1536
LATENT_PREFILL_GRAPH_TOKENS = 8192
SMALL_PREFILL_CAPTURE = 512
"""Tokens prefill is captured up to for some families (`apply_muse_glimmer_prefill_cuda_graph_max_bs_default`)."""

MANY_SEQUENCES = 300
"""Sequences of the largest decode graph above which data-parallel attention takes more (`reserve_for_graph_mb`)."""

VISION_FACTOR = 0.95
"""The share a tower as large as ViT-L/14 leaves of the static share (`adjust_mem_fraction_for_vlm`)."""

BASE_VISION_SIZE = 24 * 1024**2
"""Size of ViT-L/14: its layers times its width squared."""

VISION_SENSITIVITY = 0.1
"""By how much the factor falls with every further tower of that size."""

LEAST_VISION_FACTOR, MOST_VISION_FACTOR = 0.8, 1.05


@dataclass(frozen=True)
class GpuClass:
    """Defaults of GPUs below a memory size: the prefill chunk, and the decode graphs with few and with many ranks."""

    below_mib: int | None
    chunked_prefill_size: int
    decode_max_bs: int
    decode_max_bs_from_tp4: int


GPU_CLASSES = (
    GpuClass(20 * 1024, 2048, 8, 8),
    GpuClass(35 * 1024, 4096, 48, 160),
    GpuClass(60 * 1024, 4096, 32, 160),
    GpuClass(160 * 1024, 8192, 256, 512),
    GpuClass(None, 16_384, 512, 512),
)
"""SGLang 0.5.23 `handle_gpu_memory_settings`."""

_MANY_RANKS = 4


@dataclass(frozen=True, kw_only=True)
class Headroom:
    """What decides the memory left outside the static share.

    Attributes:
        gpu_mib: ``memory.total`` of nvidia-smi.
        ranks: Tensor times pipeline parallel size.
        chunked_prefill_size: Tokens of one prefill chunk before data-parallel attention divides it; -1: off.
        decode_max_bs: Largest batch of the decode graphs.
        attention_dp: Data-parallel attention groups.
        latent: Latents are stored, whose prefill graphs take a fixed amount.
        captures_decode: Decode graphs are captured.
        captures_prefill: Prefill graphs are captured.
        role: ``null``, ``prefill`` or ``decode``.
        decode_tokens: Tokens of one step of a decode server.
        largest_capture: Tokens above which no prefill graph is captured, beside the chunk; None: no such cap.
        fixed_capture: Tokens up to which prefill is captured whatever the chunk; None: by the chunk.
    """

    gpu_mib: int
    ranks: int
    chunked_prefill_size: int
    decode_max_bs: int
    attention_dp: int
    latent: bool
    captures_decode: bool
    captures_prefill: bool
    role: str
    decode_tokens: int
    largest_capture: int | None
    fixed_capture: int | None

    @property
    def activation_tokens(self) -> int:
        """Tokens whose activations are reserved for."""
        if self.role == "decode":
            return max(self.decode_tokens, MINIMUM_TOKENS)
        chunk = self.chunked_prefill_size
        return max(chunk if chunk > 0 else MAX_PREFILL_TOKENS, MINIMUM_TOKENS)

    @property
    def prefill_graphs(self) -> int:
        """Prefill graphs that are captured."""
        largest = self.chunked_prefill_size
        if self.latent:
            largest = min(LATENT_PREFILL_GRAPH_TOKENS, largest)
        if self.largest_capture is not None:
            largest = min(largest, self.largest_capture)
        if self.fixed_capture is not None:
            largest = self.fixed_capture
        return sum(1 for tokens in _graph_sizes(largest) if tokens <= largest)

    def terms_mib(self) -> Iterator[tuple[str, str, float]]:
        """Each reserve: its name, its formula with values, and MiB (SGLang 0.5.23 `handle_gpu_memory_settings`)."""
        tokens, sequences = self.activation_tokens, self.decode_max_bs
        yield "constant", f"{BASE_MIB}", float(BASE_MIB)
        yield "activations", f"{MIB_PER_TOKEN} × {tokens:,} tokens", tokens * MIB_PER_TOKEN
        yield "ranks", f"{MIB_PER_RANK} × {self.ranks} ranks", float(self.ranks * MIB_PER_RANK)
        if self.role != "prefill" and self.captures_decode:
            yield (
                "decode graphs",
                f"{MIB_PER_DECODE_SEQUENCE} × {sequences:,}",
                float(sequences * MIB_PER_DECODE_SEQUENCE),
            )
        if self.attention_dp > 1 and self.role != "prefill":
            batch = sequences * self.attention_dp
            more = batch * MORE_MIB_PER_ATTENTION_SEQUENCE if sequences > MANY_SEQUENCES else 0.0
            yield (
                "data-parallel attention",
                f"{MIB_PER_ATTENTION_SEQUENCE} × {batch:,} + {more:,g}",
                batch * MIB_PER_ATTENTION_SEQUENCE + more,
            )
        if self.role != "decode" and self.captures_prefill:
            if self.latent:
                yield "prefill graphs", f"{LATENT_PREFILL_GRAPH_MIB:,} for latents", float(LATENT_PREFILL_GRAPH_MIB)
            else:
                graphs = self.prefill_graphs
                yield (
                    "prefill graphs",
                    f"{MIB_PER_PREFILL_GRAPH} × {graphs} graphs",
                    float(graphs * MIB_PER_PREFILL_GRAPH),
                )

    @property
    def reserved_mib(self) -> float:
        """MiB left free on one GPU; large GPUs leave at least 10 GiB."""
        total = sum(amount for _, _, amount in self.terms_mib())
        return max(total, float(LARGE_GPU_RESERVE_MIB)) if self.gpu_mib > LARGE_GPU_MIB else total


def gpu_class(gpu_mib: int) -> GpuClass:
    """The defaults of a GPU by its memory."""
    return next(row for row in GPU_CLASSES if row.below_mib is None or gpu_mib < row.below_mib)


def decode_max_bs(gpu_mib: int, tp_size: int, max_running_requests: int | None) -> int:
    """Largest batch of the decode graphs: by GPU, at most the requests that were asked for."""
    row = gpu_class(gpu_mib)
    default = row.decode_max_bs if tp_size < _MANY_RANKS else row.decode_max_bs_from_tp4
    return default if max_running_requests is None else min(default, max_running_requests)


def default_fraction(headroom: Headroom, vision: tuple[int, int] | None) -> float:
    """``mem_fraction_static`` where it is not given (SGLang 0.5.23 `handle_gpu_memory_settings`).

    Args:
        headroom: What is left free.
        vision: Layers and width of the vision tower, for which the share is lowered; None: no tower.
    """
    fraction = round((headroom.gpu_mib - headroom.reserved_mib) / headroom.gpu_mib, 3)
    return fraction if vision is None else fraction * vision_factor(vision)


def vision_factor(vision: tuple[int, int]) -> float:
    """By how much a vision tower lowers the share (SGLang 0.5.23 `adjust_mem_fraction_for_vlm`)."""
    layers, width = vision
    size = layers * width**2 / BASE_VISION_SIZE
    return VISION_FACTOR * max(LEAST_VISION_FACTOR, min(MOST_VISION_FACTOR, 1.0 - VISION_SENSITIVITY * (size - 1.0)))


def _graph_sizes(largest: int) -> Iterator[int]:
    """Token counts prefill is captured for (SGLang 0.5.23 `generate_prefill_cuda_graph_batch_sizes`)."""
    return chain(
        range(4, 33, 4),
        range(48, 257, 16),
        range(288, 513, 32),
        range(576, 1025, 64),
        range(1280, 4097, 256),
        range(4608, largest + 1, 512),
    )
