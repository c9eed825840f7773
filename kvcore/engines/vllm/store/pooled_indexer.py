"""Pooled indexer keys and tail rings as vLLM stores them, whole on every rank."""

from kvcore.arithmetic import cdiv
from kvcore.catalog.gpus import BLACKWELL_WORKSTATION
from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import CircularBufferSpec
from kvcore.engines.vllm.store.indexer import stored_index_keys
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.errors import refusal
from kvcore.layout.pooled_indexer import PooledIndexerCache, TailRingCache

KEYS_PER_PAGE, KEYS_PER_PAGE_WORKSTATION = (32, 64), (64,)
"""Keys of one kernel page, on compute capability 12.x in the second place (vLLM 0.33.0 `get_paged_mqa_page_sizes`)."""

BFLOAT16_BYTES = 2
KEY_AND_SCORE = 2

KPOOL_TAIL = Backend(name="KPOOL_TAIL", multiple_of=1, kv_cache_layouts=("BLHNC",))


def store_pooled_indexer(cache: PooledIndexerCache, context: StoreContext) -> Stored:
    """Stores one key per pool of tokens (vLLM 0.33.0 `Glm5NextIndexerCache`)."""
    keys = KEYS_PER_PAGE_WORKSTATION if context.gpu.capability[0] == BLACKWELL_WORKSTATION else KEYS_PER_PAGE
    backend = Backend(name="DEEPSEEK_V32_INDEXER", block_sizes=tuple(cache.tokens_per_key * count for count in keys))
    return stored_index_keys(cache, backend, context, "vLLM 0.33.0 `Glm5NextIndexerCache`", cache_role="indexer")


def store_tail_ring(cache: TailRingCache, context: StoreContext) -> Stored:
    """Stores the open pool's tokens in a ring that drafts cannot overrun (vLLM 0.33.0 `Glm5NextTailCache`).

    Raises:
        EngineRefusal: The ring does not divide the block size.
    """
    ring = ring_tokens(cache.index_kpool, context.num_speculative_tokens)
    if context.given_block_size is not None and context.given_block_size % ring:
        rule = f"must be a multiple of the indexer's tail ring ({ring} tokens)"
        raise refusal("block_size", context.given_block_size, rule, f"Use a multiple of {ring}.")
    spec = CircularBufferSpec(
        block_size=ring,
        num_kv_heads=KEY_AND_SCORE,
        head_size=cache.index_head_dim,
        head_size_v=0,
        dtype="bfloat16",
        dtype_bytes=BFLOAT16_BYTES,
        dcp_sharded=False,
    )
    return Stored(
        spec=spec,
        backend=KPOOL_TAIL,
        dtype="bfloat16",
        split="whole",
        shards=1,
        formula="ring tokens × (key + gate score) × index_head_dim × bytes per element",
        substituted=f"{ring} × {KEY_AND_SCORE} × {cache.index_head_dim} × {BFLOAT16_BYTES}",
        source="vLLM 0.33.0 `Glm5NextTailCache`",
    )


def ring_tokens(index_kpool: int, num_speculative_tokens: int) -> int:
    """Tokens of the ring: a power of two of pools that holds one pool and the drafts."""
    pools = cdiv(index_kpool + num_speculative_tokens, index_kpool)
    return index_kpool * (1 << (pools - 1).bit_length())
