"""Terms of GPU memory that are neither weights nor cache, as formulas of the deployment.

The engine measures them while it starts; these formulas follow what it allocates then. Their constants were read off
public logs and stand in :mod:`kvcore.budget.fitted`.
"""

from dataclasses import dataclass

from kvcore.budget.fitted import FIT, Fit

HALF = 2
RESIDUAL_ROWS = 7
"""Rows of the residual width alive at the peak of a layer."""

FEED_FORWARD_ROWS = 3
"""Rows of the intermediate width alive at the peak of a dense layer: gate, up, and their product."""

COMMUNICATORS_COUNTED = ((0, 12), (0, 20))
"""Releases, first and one past the last, whose first snapshot is older than the communicators."""

NVLINK_CAPABILITY = (9, 0)
"""Compute capability from which communicators are large: cards joined by NVLink."""

LATENT_WORKSPACE_TOKENS = 65_536
"""Most tokens of the chunked-context workspace (vLLM 0.33.0 `MLACommonMetadataBuilder.determine_chunked_prefill_workspace_size`)."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What decides the peak of activations on one GPU.

    Attributes:
        tokens: Tokens of one step (`max_num_batched_tokens`).
        sequences: Requests of one step (`max_num_seqs`).
        hidden_size: Residual width.
        intermediate_size: Width of dense feed-forward layers on one GPU.
        expert_width: Width of one expert on one GPU; 0 without experts.
        experts_per_token: Routed experts per token.
        vocab_size: Rows of the output head.
        latent_features: Up-projected features per token on one GPU of latent attention; 0 without.
        max_model_len: Longest request.
        samples: Whether this stage samples.
        is_multimodal: Whether an encoder is profiled too.
    """

    tokens: int
    sequences: int
    hidden_size: int
    intermediate_size: int
    expert_width: int
    experts_per_token: int
    vocab_size: int
    latent_features: int
    max_model_len: int
    samples: bool
    is_multimodal: bool


def forward_bytes(shape: Shape) -> int:
    """Peak of one forward pass: residual rows, and the widest feed-forward layer or the experts' workspaces."""
    residual = RESIDUAL_ROWS * shape.hidden_size
    dense = FEED_FORWARD_ROWS * shape.intermediate_size
    one = shape.expert_width
    experts = shape.experts_per_token * (max(one, shape.hidden_size) + max(2 * one, shape.hidden_size)) if one else 0
    return shape.tokens * HALF * (residual + max(dense, experts))


def sampler_bytes(shape: Shape, release: tuple[int, int], fit: Fit = FIT) -> int:
    """Logits and their copies while a full batch is sampled; 0 on stages that do not sample."""
    if not shape.samples:
        return 0
    per_logit = [era.bytes_per_logit for era in fit.sampler if release >= era.since][-1]
    return int(min(shape.sequences, shape.tokens) * shape.vocab_size * per_logit)


def latent_bytes(shape: Shape) -> int:
    """Up-projected keys and values of the chunked context of latent attention."""
    tokens = min(max(8 * shape.max_model_len, 4 * shape.sequences * 64), LATENT_WORKSPACE_TOKENS)
    return tokens * shape.latent_features * HALF


def multimodal_bytes(shape: Shape, fit: Fit = FIT) -> int:
    """Encoder outputs and activations of the largest image or clip."""
    return fit.multimodal_bytes if shape.is_multimodal else 0


def activation_bytes(shape: Shape, release: tuple[int, int], fit: Fit = FIT) -> int:
    """Peak over the profiled phases: encoder, forward pass, sampling (vLLM 0.33.0 `GPUModelRunner.profile_run`)."""
    forward = forward_bytes(shape) + latent_bytes(shape)
    return max(forward, sampler_bytes(shape, release, fit)) + multimodal_bytes(shape, fit)


def non_torch_bytes(ranks: int, release: tuple[int, int], capability: tuple[int, int], fit: Fit = FIT) -> int:
    """Memory outside PyTorch that grows after the first snapshot: libraries, and communicators where they are counted."""
    if ranks == 1:
        return fit.non_torch_single
    first, last = COMMUNICATORS_COUNTED
    is_counted = first <= release < last and capability >= NVLINK_CAPABILITY
    return fit.non_torch_ranks_counted if is_counted else fit.non_torch_ranks


def cuda_graph_bytes(*, eager: bool, deducted: bool, is_multimodal: bool, fit: Fit = FIT) -> int:
    """Estimate of captured graphs, where the release takes it off the budget."""
    if eager or not deducted:
        return 0
    return fit.graphs_multimodal if is_multimodal else fit.graphs
