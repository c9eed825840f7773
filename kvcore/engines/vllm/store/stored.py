"""How an engine stores one cache: the layer spec and how to explain its entry size."""

from dataclasses import dataclass
from typing import Any

from kvcore.catalog.gpus import Gpu
from kvcore.dtypes import ELEMENT_BYTES, canonical
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.engines.vllm.selection import Backend, LayerQuery, select_backend
from kvcore.engines.vllm.specs import LayerSpec
from kvcore.errors import refusal


@dataclass(frozen=True, kw_only=True)
class StoreContext:
    """What decides how one layer's cache is stored.

    Attributes:
        gpu: GPU whose kernels run.
        tensor_parallel_size: Ranks that split each layer.
        block_size: Tokens per block in force.
        dtype: Model dtype.
        kv_cache_dtype: Resolved cache dtype of this layer (``auto``: the model dtype).
        profile: The engine version's switches.
        num_speculative_tokens: Tokens a drafter proposes per step.
        mamba_cache_mode: ``none``, ``align`` or ``all``.
        mamba_cache_dtype: Dtype of convolution states, ``auto`` where not given.
        mamba_ssm_cache_dtype: Dtype of recurrent states, ``auto`` where not given.
        mamba_chunk_size: Tokens a state kernel works through at a time, of which blocks in mode ``all`` are multiples.
        max_model_len: Context length, which is the block of states without prefix caching.
        enable_prefix_caching: Whether states are kept at block boundaries.
        replicates_kv_heads: Whether the model class replicates KV heads beyond their number.
        mm_prefix_lm: Whether image tokens attend in both directions, which changes the backend.
        state_block_size: Tokens per block of states in mode ``all``; None: those of every block.
        state_page_size_padded: Page to which states are padded in hybrids; None: no padding.
        shared_page_bytes: Page that window layers are padded to where layers of two cache dtypes share the pool; None: no
            padding.
        num_attention_heads: Query heads of the model; None: not known.
        num_key_value_heads: KV heads of the model as its config states them; None: not known.
        model_head_size: Head size of the model as its config states it; None: not known.
        soft_capping: Attention logits are capped.
        attention_backend: Backend asked for; None: vLLM's choice.
        given_block_size: Block size asked for; None: not given.
        decode_context_parallel_size: Ranks that share a request's tokens.
    """

    gpu: Gpu
    tensor_parallel_size: int
    block_size: int
    dtype: str
    kv_cache_dtype: str
    profile: Profile = PROFILES[-1]
    num_speculative_tokens: int = 0
    mamba_cache_mode: str = "none"
    mamba_cache_dtype: str = "auto"
    mamba_ssm_cache_dtype: str = "auto"
    mamba_chunk_size: int = 0
    max_model_len: int = 0
    enable_prefix_caching: bool = True
    replicates_kv_heads: bool = True
    mm_prefix_lm: bool = False
    state_block_size: int | None = None
    state_page_size_padded: int | None = None
    shared_page_bytes: int | None = None
    num_attention_heads: int | None = None
    num_key_value_heads: int | None = None
    model_head_size: int | None = None
    soft_capping: bool = False
    attention_backend: str | None = None
    given_block_size: int | None = None
    decode_context_parallel_size: int = 1

    def select(self, head_size: int, **demands: Any) -> Backend:
        """The backend a layer of this head size runs on; ``demands`` are further fields of :class:`LayerQuery`.

        Raises:
            EngineRefusal: No backend can run the layer.
        """
        tp = self.tensor_parallel_size
        query = LayerQuery(
            capability=self.gpu.capability,
            head_size=head_size,
            dtype=self.dtype,
            kv_cache_dtype=self.kv_cache_dtype,
            block_size=self.given_block_size,
            num_heads=self.num_attention_heads // tp if self.num_attention_heads else None,
            num_kv_heads=max(1, self.num_key_value_heads // tp) if self.num_key_value_heads else None,
            model_head_size=self.model_head_size,
            decode_context_parallel_size=self.decode_context_parallel_size,
            soft_capping=self.soft_capping,
            **demands,
        )
        return select_backend(query, self.attention_backend)

    @property
    def stored_dtype(self) -> str:
        """The element type of the cache."""
        return self.dtype if self.kv_cache_dtype == "auto" else canonical(self.kv_cache_dtype)


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One cache as the engine stores it on one GPU.

    Attributes:
        spec: The layer spec that is planned.
        backend: Attention backend of the layer; None for states.
        dtype: Stored element type or packed format.
        split: ``heads``, ``replicated_heads``, ``whole`` or ``state``.
        shards: Ranks among which the cache divides without repetition.
        formula: Entry bytes as a formula, and ``substituted`` with values.
        source: Engine symbol of the rule.
        aligned_state_bytes: Bytes of a state as the model class states them for the block size of hybrids.
        checkpoint_grain: Multiple of tokens to which a state layer keeps block boundaries; None: none.
    """

    spec: LayerSpec
    backend: Backend | None
    dtype: str
    split: str
    shards: int
    formula: str
    substituted: str
    source: str
    aligned_state_bytes: int | None = None
    checkpoint_grain: int | None = None


def element_bytes(dtype: str) -> int:
    """Bytes of one stored element.

    Raises:
        EngineRefusal: The cache dtype is not a plain element type this cache can be stored in.
    """
    size = ELEMENT_BYTES.get(dtype)
    if size is None:
        rule = "this cache cannot be stored in that format"
        raise refusal("kv_cache_dtype", dtype, rule, "Use auto, fp8 or another format the layer supports.")
    return size


def heads_per_rank(num_kv_heads: int, context: StoreContext) -> tuple[int, str]:
    """KV heads on one rank, and whether they are divided or replicated (vLLM 0.33.0 `get_num_kv_heads`).

    Raises:
        EngineRefusal: Neither number divides the other, or the model class cannot replicate heads.
    """
    tp = context.tensor_parallel_size
    if num_kv_heads >= tp:
        if num_kv_heads % tp:
            rule = f"vLLM needs the {num_kv_heads} KV heads to divide evenly over the ranks"
            raise refusal("tensor_parallel_size", tp, rule, f"Use a divisor of {num_kv_heads}.")
        return num_kv_heads // tp, "heads"
    if tp % num_kv_heads:
        rule = f"vLLM replicates {num_kv_heads} KV heads only over a multiple of as many ranks"
        raise refusal("tensor_parallel_size", tp, rule, f"Use a multiple of {num_kv_heads}.")
    if not context.replicates_kv_heads:
        rule = f"this model class does not replicate its {num_kv_heads} KV heads over more ranks"
        raise refusal("tensor_parallel_size", tp, rule, f"Use at most {num_kv_heads} ranks.")
    return 1, "replicated_heads"
