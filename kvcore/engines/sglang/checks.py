"""Checks: combinations of settings SGLang refuses before it sizes anything."""

from kvcore.catalog.gpus import BLACKWELL, Gpu
from kvcore.config import ModelConfig
from kvcore.engines.sglang import architectures as known
from kvcore.engines.sglang.drafts import Drafts
from kvcore.engines.sglang.model import ServedModel
from kvcore.errors import refusal
from kvcore.layout.cache import AttentionCache
from kvcore.layout.layout import Layout

FOUR_BIT = ("nvfp4", "fp4_mx_block16")
FOUR_BIT_BACKENDS = frozenset({"triton", "torch_native", "flex_attention", "trtllm_mha"})


def check_attention_ranks(model: ServedModel, config: ModelConfig, tp: int, attn_dp: int) -> None:
    """Attention ranks must divide the query heads, fused ones the KV heads (SGLang 0.5.23 `initialize_dp_attention`)."""
    if tp % attn_dp:
        rule = "data-parallel attention needs dp_size to divide tp_size"
        raise refusal("dp_size", attn_dp, rule, f"Use a divisor of {tp}.")
    if attn_dp > 1 and model.architecture in known.NO_ATTENTION_DP:
        rule = f"SGLang refuses data-parallel attention for {model.architecture}"
        raise refusal("enable_dp_attention", "true", rule, "Leave it out.")
    ranks = tp // attn_dp
    heads = config.optional_integer("num_attention_heads")
    if heads and heads % ranks:
        rule = f"SGLang needs the {heads} attention heads to divide evenly over {ranks} attention ranks"
        raise refusal("tp_size", tp, rule, f"Use a tp_size whose attention ranks divide {heads}, or DP attention.")
    is_fused = (
        model.architecture in known.FUSED_QUERY_HEADS and config.get("attention_projection_layout") == "fused_qkv"
    )
    if is_fused and config.num_key_value_heads % ranks:
        fused = config.num_key_value_heads
        rule = f"the fused query, key and value weights allow {fused} attention ranks or a divisor, not {ranks}"
        raise refusal("tp_size", tp, rule, f"Use enable_dp_attention with dp_size {max(1, tp // fused)}.")


def check_value_width(config: ModelConfig, layout: Layout, model: ServedModel) -> None:
    """SGLang takes ``v_head_dim`` for any class (SGLang 0.5.23 `ModelConfig._derive_model_shapes`), a layout may not."""
    stated = config.optional_integer("v_head_dim", minimum=0)
    if not stated or model.latent or model.is_deepseek_v4:
        return
    caches = [layer.cache for layer in layout.layers if isinstance(layer.cache, AttentionCache)]
    if any(cache.window is None and cache.head_size_v != stated for cache in caches):
        rule = "SGLang stores values of this width, which the model's own class does not read"
        raise refusal("v_head_dim", stated, rule, "Leave it out, or give the config.json of the published checkpoint.")


def check_drafts(drafts: Drafts, attn_dp: int) -> None:
    """SGLang 0.5.23 `_handle_eagle_family`."""
    if drafts.algorithm == "STANDALONE" and attn_dp > 1:
        rule = "a drafter that is a model of its own does not run under data-parallel attention"
        raise refusal("speculative_algorithm", drafts.algorithm, rule, "Leave enable_dp_attention out, or use EAGLE.")


def check_four_bit(dtype: str, backend: str, gpu: Gpu) -> None:
    """Backends that read 4-bit caches (SGLang 0.5.23 `handle_kv4_compatibility`)."""
    if dtype == "nvfp4" and (gpu.capability[0] != BLACKWELL or backend != "trtllm_mha"):
        rule = "kvcore knows SGLang's nvfp4 cache on B200 and B300 with trtllm_mha only"
        raise refusal("kv_cache_dtype", dtype, rule, "Use another dtype, or such a GPU.")
    if dtype == "fp4_mx_block16" and backend not in FOUR_BIT_BACKENDS:
        rule = f"SGLang reads this cache with {', '.join(sorted(FOUR_BIT_BACKENDS))}, not {backend}"
        raise refusal("attention_backend", backend, rule, "Use one of them.")
