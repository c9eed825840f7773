"""States per request as vLLM stores them: shapes on one rank, element types, copies and checkpoints."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kvcore.catalog.gpus import BLACKWELL, BLACKWELL_WORKSTATION, HOPPER
from kvcore.dtypes import ELEMENT_BYTES, canonical
from kvcore.engines.vllm.specs import MambaSpec
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.errors import refusal
from kvcore.layout.cache import StateCache, StateTensor
from kvcore.layout.gated_delta_net import GatedDeltaNetCache
from kvcore.layout.kimi_delta import KimiDeltaCache
from kvcore.layout.lightning_attention import LightningAttentionCache
from kvcore.layout.mamba1 import Mamba1Cache
from kvcore.layout.mamba2 import Mamba2Cache
from kvcore.layout.short_convolution import ShortConvolutionCache

FLASHINFER_GDN_GRAIN = 64
"""Tokens between states FlashInfer's prefill kernel can export (`FLASHINFER_GDN_CHECKPOINT_ALIGNMENT`)."""

FLASHKDA_HEAD_DIM = 128
"""Head size FlashKDA is built for (vLLM 0.33.0 `is_flashkda_supported`)."""

FLASHINFER_GDN_KEY_DIM = 128
"""Key head size FlashInfer's Gated DeltaNet prefill needs from Blackwell on (`_resolve_gdn_prefill_backend`)."""


@dataclass(frozen=True)
class Checkpoint:
    """States a prefill kernel exports on its way.

    Attributes:
        blocks: Extra states a request is charged in mode ``align``.
        grain: Multiple of tokens to which the layer keeps block boundaries; None: none.
    """

    blocks: int = 0
    grain: int | None = None


@dataclass(frozen=True, kw_only=True)
class StateRule:
    """How vLLM 0.33.0's layer class of one mechanism stores its state.

    Attributes:
        mechanism: Name of the mechanism in :attr:`Profile.checkpointing_states`.
        mamba_type: The engine's name of the mechanism.
        source: Layer class the rule was read from.
        checkpoint: Checkpoints of the layer on this deployment.
        temporal_flag: Flag that sets the recurrent state's element type; empty: none does.
        temporal_choices: Types that flag may name; empty: any.
    """

    mechanism: str
    mamba_type: str
    source: str
    checkpoint: Callable[[StateCache, StoreContext], Checkpoint] = lambda _cache, _context: Checkpoint()
    temporal_flag: str = "mamba_ssm_cache_dtype"
    temporal_choices: tuple[str, ...] = ()


def _gdn_checkpoint(cache: StateCache, context: StoreContext) -> Checkpoint:
    """FlashInfer's prefill exports states: on Hopper, and on Blackwell with keys of 128 elements and CUDA 13."""
    if not isinstance(cache, GatedDeltaNetCache) or cache.family != "qwen" or context.mamba_cache_mode != "align":
        return Checkpoint()
    on_blackwell = (
        context.gpu.capability[0] in {BLACKWELL, BLACKWELL_WORKSTATION} and cache.head_k_dim == FLASHINFER_GDN_KEY_DIM
    )
    if context.gpu.capability == (HOPPER, 0) or on_blackwell:
        return Checkpoint(blocks=1, grain=FLASHINFER_GDN_GRAIN)
    return Checkpoint()


def _kda_checkpoint(cache: StateCache, context: StoreContext) -> Checkpoint:
    """FlashKDA's prefill exports a state; the classes of Kimi-Linear and Bailing run the Triton kernel only."""
    if not isinstance(cache, KimiDeltaCache) or cache.family not in {"kimi_k3", "glm5_next"}:
        return Checkpoint()
    runs_flashkda = (
        context.gpu.capability[0] in {HOPPER, BLACKWELL, BLACKWELL_WORKSTATION}
        and cache.head_dim == FLASHKDA_HEAD_DIM
        and context.dtype == "bfloat16"
        and cache.has_bounded_gate
    )
    return Checkpoint(blocks=1) if runs_flashkda else Checkpoint()


_KDA_DTYPES = ("float32", "bfloat16")

STATE_RULES: Mapping[type[StateCache], StateRule] = {
    Mamba1Cache: StateRule(mechanism="mamba1", mamba_type="MAMBA1", source="`MambaMixer`"),
    Mamba2Cache: StateRule(
        mechanism="mamba2",
        mamba_type="MAMBA2",
        source="`MambaMixer2`",
        checkpoint=lambda _cache, _context: Checkpoint(blocks=1),
    ),
    GatedDeltaNetCache: StateRule(
        mechanism="gated_delta_net",
        mamba_type="GDN_ATTN",
        source="`GatedDeltaNetAttention`",
        checkpoint=_gdn_checkpoint,
    ),
    KimiDeltaCache: StateRule(
        mechanism="kimi_delta",
        mamba_type="GDN_ATTN",
        source="`kda_state_shape`",
        checkpoint=_kda_checkpoint,
        temporal_choices=_KDA_DTYPES,
    ),
    ShortConvolutionCache: StateRule(mechanism="short_convolution", mamba_type="SHORT_CONV", source="`ShortConv`"),
    LightningAttentionCache: StateRule(
        mechanism="lightning_attention",
        mamba_type="LINEAR",
        source="`LinearAttention`",
        temporal_flag="mamba_cache_dtype",
    ),
}
"""One rule per mechanism."""


def store_state(cache: StateCache, context: StoreContext) -> Stored:
    """Stores one state (vLLM 0.33.0 `MambaBase.get_kv_cache_spec`).

    Raises:
        EngineRefusal: The state does not divide over the ranks, or cannot have the element type asked for.
    """
    rule = STATE_RULES[type(cache)]
    tensors = cache.tensors(context.tensor_parallel_size, context.num_speculative_tokens)
    dtypes = tuple(_dtype(tensor, cache, rule, context) for tensor in tensors)
    sizes = tuple(_size(dtype) for dtype in dtypes)
    checkpoint = Checkpoint()
    if rule.mechanism in context.profile.checkpointing_states:
        checkpoint = rule.checkpoint(cache, context)
    spec = MambaSpec(
        block_size=_block_size(context),
        dcp_sharded=False,
        page_size_padded=context.state_page_size_padded,
        shapes=tuple(tensor.shape for tensor in tensors),
        dtypes=dtypes,
        dtype_bytes=sizes,
        mamba_type=rule.mamba_type,
        num_speculative_blocks=context.num_speculative_tokens,
        num_prefill_checkpoint_blocks=checkpoint.blocks,
    )
    _check_page(spec)
    return Stored(
        spec=spec,
        backend=None,
        dtype=" + ".join(dict.fromkeys(dtypes)),
        split="state",
        shards=context.tensor_parallel_size,
        formula=" + ".join(f"{tensor.formula} × bytes per element" for tensor in tensors),
        substituted=" + ".join(f"{tensor.substituted} × {size}" for tensor, size in zip(tensors, sizes, strict=True)),
        source=f"vLLM 0.33.0 {rule.source}",
        aligned_state_bytes=_aligned_bytes(cache, rule, context),
        checkpoint_grain=checkpoint.grain,
    )


def _block_size(context: StoreContext) -> int:
    """Tokens a state stands for: the whole request where none is kept for reuse."""
    if context.mamba_cache_mode == "none":
        return context.max_model_len
    return context.state_block_size or context.block_size


def _dtype(tensor: StateTensor, cache: StateCache, rule: StateRule, context: StoreContext) -> str:
    """The element type of one tensor (vLLM 0.33.0 `MambaStateDtypeCalculator`)."""
    convolution = context.dtype if context.mamba_cache_dtype == "auto" else canonical(context.mamba_cache_dtype)
    if tensor.role == "conv" or rule.temporal_flag == "mamba_cache_dtype":
        return convolution
    asked = context.mamba_ssm_cache_dtype
    if isinstance(cache, KimiDeltaCache) and cache.family == "bailing_v3":
        asked = "auto"  # its class and its alignment both ignore the flag
    if asked == "auto":
        return cache.temporal_dtype or convolution
    if rule.temporal_choices and canonical(asked) not in rule.temporal_choices:
        choices = ", ".join(("auto", *rule.temporal_choices))
        raise refusal("mamba_ssm_cache_dtype", asked, f"this recurrent state supports only {choices}", "Use auto.")
    if isinstance(cache, KimiDeltaCache) and cache.family == "kimi_linear":
        return "float32"  # the flag reaches the alignment, not the layer
    return canonical(asked)


def _size(dtype: str) -> int:
    """Bytes of one element of a state."""
    size = ELEMENT_BYTES.get(dtype)
    if size is None:
        raise refusal("dtype", dtype, "states are stored in float32, float16 or bfloat16", "Give dtype bfloat16.")
    return size


def _aligned_bytes(cache: StateCache, rule: StateRule, context: StoreContext) -> int:
    """Bytes of the state as the model class states them for the block size (`get_mamba_state_shape_from_config`).

    Two classes state other bytes than their layers store: LFM2's leaves out the columns for speculative tokens, and
    Kimi-Linear's honours the recurrent dtype its layers ignore.
    """
    draft_columns = 0 if isinstance(cache, ShortConvolutionCache) else context.num_speculative_tokens
    stated = cache
    if isinstance(cache, KimiDeltaCache) and cache.family == "kimi_linear":
        stated = dataclasses.replace(cache, family="kimi_k3")
    return sum(
        math.prod(tensor.shape) * _size(_dtype(tensor, stated, rule, context))
        for tensor in stated.tensors(context.tensor_parallel_size, draft_columns)
    )


def _check_page(spec: MambaSpec) -> None:
    """A padded page must hold the state (vLLM 0.33.0 `MambaSpec.page_size_bytes`)."""
    if spec.page_size_padded is not None and spec.page_size_padded < spec.unpadded_page_size_bytes:
        raise refusal(
            "block_size",
            spec.block_size,
            f"vLLM pads this model's states to {spec.page_size_padded:,} bytes, but one takes "
            f"{spec.unpadded_page_size_bytes:,} with the speculative tokens and state dtypes given",
            "Use a larger block_size, fewer speculative tokens, or leave the state dtypes at auto.",
        )
