"""Constants of the memory terms, fitted on public startup logs by tools/fit_budget.py, which rewrites this file."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class SamplerEra:
    """Bytes per logit while sampling, from a release on."""

    since: tuple[int, int]
    bytes_per_logit: float


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Constants of the estimate.

    Attributes:
        sampler: Bytes per logit while sampling, oldest release first.
        multimodal_bytes: Encoder outputs and activations.
        non_torch_single: Outside PyTorch on a single GPU.
        non_torch_ranks: The same over ranks, with communicators created before the first snapshot.
        non_torch_ranks_counted: The same with communicators counted.
        graphs: CUDA graphs of text models.
        graphs_multimodal: CUDA graphs of multimodal models.
        interval: Quantiles of what was logged minus what was estimated, in bytes: an 80 % interval.
        logs: Number of logs the fit saw.
    """

    sampler: tuple[SamplerEra, ...]
    multimodal_bytes: int
    non_torch_single: int
    non_torch_ranks: int
    non_torch_ranks_counted: int
    graphs: int
    graphs_multimodal: int
    interval: tuple[int, int]
    logs: int


FIT = Fit(
    sampler=(
        SamplerEra(since=(0, 0), bytes_per_logit=10.3),
        SamplerEra(since=(0, 11), bytes_per_logit=38.5),
        SamplerEra(since=(0, 19), bytes_per_logit=15.4),
    ),
    multimodal_bytes=0 * MIB,
    non_torch_single=154 * MIB,
    non_torch_ranks=512 * MIB,
    non_torch_ranks_counted=1024 * MIB,
    graphs=358 * MIB,
    graphs_multimodal=1536 * MIB,
    interval=(-4827 * MIB, 1894 * MIB),
    logs=41,
)
