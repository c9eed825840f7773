"""Attention whose head counts or head sizes differ between layers: Gemma 4, MiMo-V2, Nemotron-NAS."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.cache import AttentionCache, SlidingWindowCache
from kvcore.layout.grouped_query import keys_and_values
from kvcore.layout.layer_types import FULL, SLIDING

GEMMA4_GLOBAL_HEAD_DIM = 512
"""transformers 5.20 `Gemma4TextConfig.__post_init__`, where ``global_head_dim`` is left out."""


def gemma4_global(config: ModelConfig, layer_index: int) -> AttentionCache:
    """Gemma 4's full layers: wider heads, and fewer of them where keys serve as values.

    Source: transformers 5.20 `Gemma4TextConfig.__post_init__` (``per_layer_config``).
    """
    if config.get("per_layer_config") is not None:
        rule = "heads per layer stated in per_layer_config are not read yet"
        source = "The layers' num_key_value_heads and head_dim in the model's code would settle it."
        raise config_error(config.path("per_layer_config"), config.get("per_layer_config"), rule, source)
    heads = config.num_key_value_heads
    if config.get("attention_k_eq_v", False):
        heads = config.integer("num_global_key_value_heads", heads)
    return keys_and_values(heads, config.integer("global_head_dim", GEMMA4_GLOBAL_HEAD_DIM))


def mimo_kinds(config: ModelConfig) -> Sequence[str]:
    """MiMo-V2: ``hybrid_layer_pattern`` marks window layers with 1 (vLLM 0.33.0 `is_compressed_softmax_layer`).

    Raises:
        ConfigError: The pattern is absent or does not match the layer count.
    """
    pattern = config.sequence("hybrid_layer_pattern")
    if pattern is None:
        raise config.missing("hybrid_layer_pattern")
    if len(pattern) != config.num_hidden_layers:
        rule = f"the list has {len(pattern)} entries for {config.num_hidden_layers} layers"
        path = config.path("hybrid_layer_pattern")
        raise config_error(path, f"{len(pattern)} entries", rule, "Give the config.json unchanged.")
    return [SLIDING if entry == 1 else FULL for entry in pattern]


def mimo_full(config: ModelConfig, layer_index: int) -> AttentionCache:
    """MiMo-V2's full layers, whose values are smaller than their keys (vLLM 0.33.0 `MiMoV2FlashDecoderLayer`)."""
    head_size = config.head_dim
    return AttentionCache(
        name="attention",
        num_kv_heads=config.num_key_value_heads,
        head_size=head_size,
        head_size_v=config.integer("v_head_dim", head_size),
    )


def mimo_window(config: ModelConfig, layer_index: int) -> SlidingWindowCache:
    """MiMo-V2's window layers, with head counts and sizes of their own."""
    head_size = config.integer("swa_head_dim")
    return SlidingWindowCache(
        name="sliding attention",
        num_kv_heads=config.integer("swa_num_key_value_heads"),
        head_size=head_size,
        head_size_v=config.integer("swa_v_head_dim", head_size),
        sliding_window=config.integer("sliding_window_size"),
        has_sink=bool(config.get("add_swa_attention_sink_bias", False)),
    )


def nemotron_nas_kinds(config: ModelConfig) -> Sequence[str]:
    """Nemotron-NAS: blocks without attention keep nothing (vLLM 0.33.0 `DeciLMDecoderLayer`).

    Raises:
        ConfigError: ``block_configs`` is absent or does not match the layer count.
    """
    blocks = config.sequence("block_configs")
    if blocks is None:
        raise config.missing("block_configs")
    if len(blocks) != config.num_hidden_layers:
        rule = f"the list has {len(blocks)} entries for {config.num_hidden_layers} layers"
        raise config_error(config.path("block_configs"), f"{len(blocks)} entries", rule, "Give it unchanged.")
    return [NO_ATTENTION if _attention_block(config, index).get("no_op") else FULL for index in range(len(blocks))]


def nemotron_nas_attention(config: ModelConfig, layer_index: int) -> AttentionCache:
    """One attention layer, whose KV heads follow from the query heads that share one."""
    group = _attention_block(config, layer_index).get("n_heads_in_group")
    heads = config.num_attention_heads
    if isinstance(group, bool) or not isinstance(group, int) or group < 1 or heads % group:
        rule = f"n_heads_in_group must be a whole number that divides the {heads} attention heads"
        path = config.path(f"block_configs.{layer_index}.attention.n_heads_in_group")
        raise config_error(path, group, rule, "Give the config.json unchanged.")
    return keys_and_values(heads // group, config.head_dim)


NO_ATTENTION = "no_attention"


def _attention_block(config: ModelConfig, layer_index: int) -> Mapping[str, Any]:
    blocks = config.sequence("block_configs") or ()
    block = blocks[layer_index]
    attention = block.get("attention") if isinstance(block, Mapping) else None
    if not isinstance(attention, Mapping):
        path = config.path(f"block_configs.{layer_index}.attention")
        raise config_error(path, attention, "an object is expected", "Give the config.json unchanged.")
    return attention
