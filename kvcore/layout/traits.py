"""Traits: what an architecture means to an engine beyond the shapes of its caches."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Properties of an architecture that change an engine's defaults or what it refuses.

    Attributes:
        pooling: Embedding, reward or classification model: nothing is generated.
        chunked_prefill: Whether a prompt may be split over steps.
        prefix_caching: Whether the engine can keep finished blocks for reuse.
        keeps_state: Some layers keep a state per request (Mamba, linear attention, short convolution).
        state_per_block: The class can keep a state at every block (vLLM 0.16.0 `SupportsMambaPrefixCaching`).
        attention_free: No layer attends: only states.
        encoder_decoder: Cross attention over an encoder's output.
        latent: Multi-head latent attention: one latent per token on every rank.
        mm_prefix_lm: Image tokens attend in both directions (vLLM `is_mm_prefix_lm`), which changes the backend.
        largest_item_tokens: Tokens of the largest image or video, which one batch must hold; 0: no such bound.
        alibi: Positions enter as linear biases, which keeps FlashAttention 3 and 4 out.
        supports_pipeline: Whether the engine's model class can be split into stages.
        replicates_kv_heads: Whether the model class replicates KV heads when tensor parallelism exceeds them.
        blackwell_kv_cache_dtype: Cache dtype the engine chooses on compute capability 10.x where none is asked for.
    """

    pooling: bool = False
    chunked_prefill: bool = True
    prefix_caching: bool = True
    keeps_state: bool = False
    state_per_block: bool = False
    attention_free: bool = False
    encoder_decoder: bool = False
    latent: bool = False
    mm_prefix_lm: bool = False
    largest_item_tokens: int = 0
    alibi: bool = False
    supports_pipeline: bool = True
    replicates_kv_heads: bool = True
    blackwell_kv_cache_dtype: str = "auto"
