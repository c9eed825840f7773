"""LayerQuery: what vLLM asks of a backend on behalf of one layer (vLLM 0.33.0 `AttentionSelectorConfig`)."""

from dataclasses import dataclass

DECODER, ENCODER_ONLY, ENCODER_DECODER = "decoder", "encoder_only", "encoder_decoder"


@dataclass(frozen=True, kw_only=True)
class LayerQuery:
    """One layer's demands.

    Attributes:
        capability: Compute capability of the GPU.
        head_size: Elements of a key; the latent and its rotary key where the layer keeps a latent.
        dtype: Model dtype.
        kv_cache_dtype: Cache dtype as named, ``auto`` for the model dtype.
        block_size: Block size the user gave; None: not given.
        use_mla: Multi-head latent attention.
        use_sparse: The layer reads tokens an indexer chose.
        has_sink: The layer has attention sinks.
        use_mm_prefix: Image tokens attend in both directions.
        attn_type: ``decoder``, ``encoder_only`` or ``encoder_decoder``.
        num_heads: Query heads on one rank; None: not known.
        num_kv_heads: KV heads of the model on one rank; None: not known.
        model_head_size: Head size of the model's config, which some backends consult instead of the layer's.
        decode_context_parallel_size: Ranks that share a request's tokens.
        kv_lora_rank: Width of the latent.
        qk_nope_head_dim: Part of a query head without position, where the config states it.
        qk_rope_head_dim: Rotary part of a query head.
        index_topk: Tokens an indexer chooses; None: the model states none.
        soft_capping: Attention logits are capped.
    """

    capability: tuple[int, int]
    head_size: int
    dtype: str = "bfloat16"
    kv_cache_dtype: str = "auto"
    block_size: int | None = None
    use_mla: bool = False
    use_sparse: bool = False
    has_sink: bool = False
    use_mm_prefix: bool = False
    attn_type: str = DECODER
    num_heads: int | None = None
    num_kv_heads: int | None = None
    model_head_size: int | None = None
    decode_context_parallel_size: int = 1
    kv_lora_rank: int | None = None
    qk_nope_head_dim: int | None = None
    qk_rope_head_dim: int = 0
    index_topk: int | None = None
    soft_capping: bool = False

    @property
    def major(self) -> int:
        """Major number of the compute capability."""
        return self.capability[0]

    @property
    def is_quantized(self) -> bool:
        """Whether the cache is stored in another format than the model dtype (vLLM `is_quantized_kv_cache`)."""
        return self.kv_cache_dtype not in UNQUANTIZED


UNQUANTIZED = frozenset({"auto", "bfloat16", "float16", "float32"})
"""Cache dtypes that mean plain elements."""
