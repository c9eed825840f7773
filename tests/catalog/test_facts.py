"""What an entry keeps of a config.json: everything kvcore reads, nothing that only trains or generates."""

import json
import re
from pathlib import Path

import pytest

import kvcore
from kvcore.catalog.facts import compact, facts, is_fact
from kvcore.config.model_config import ALIASES
from kvcore.engines.vllm.checkpoint import LENGTH_KEYS

SOURCES = sorted(Path(kvcore.__file__).parent.rglob("*.py"))
READERS = re.compile(
    r"""(?:config|text|root|quantization|inner)\.(?:get|integer|optional_integer|sequence|mapping)\(\s*["']([\w.]+)["']"""
)

NOT_FACTS = {"_name_or_path"}
"""Read to name a pasted config, which an entry's id does."""


def keys_read() -> set[str]:
    """Keys of a config that kvcore's sources name where they read one."""
    return {part for path in SOURCES for key in READERS.findall(path.read_text("utf-8")) for part in key.split(".")}


def test_every_key_that_kvcore_reads_is_kept() -> None:
    assert len(keys_read()) > 20
    assert {key for key in keys_read() if not is_fact(key)} == NOT_FACTS


@pytest.mark.parametrize(
    "key", sorted({*LENGTH_KEYS, *(part for names in ALIASES.values() for name in names for part in name.split("."))})
)
def test_every_name_of_a_fact_is_kept(key: str) -> None:
    assert is_fact(key)


@pytest.mark.parametrize(
    "key",
    [
        "num_hidden_layers", "layer_types", "sliding_window", "kv_lora_rank", "index_head_dim", "linear_conv_kernel_dim",
        "n_routed_experts", "experts_per_token", "moe_intermediate_size", "tie_word_embeddings", "attention_bias",
        "vision_config", "quantization_config", "weight_block_size", "rope_scaling", "max_position_embeddings",
    ],
)  # fmt: skip
def test_sizes_counts_kinds_and_switches_are_kept(key: str) -> None:
    assert is_fact(key)


@pytest.mark.parametrize(
    "key",
    [
        "attention_dropout", "rms_norm_eps", "initializer_range", "bos_token_id", "eos_token_id", "image_token_index",
        "temperature", "transformers_version", "_name_or_path", "rope_theta", "router_aux_loss_coef",
    ],
)  # fmt: skip
def test_training_generation_and_tokens_are_left_out(key: str) -> None:
    assert not is_fact(key)


def test_a_stated_null_stays() -> None:
    # Left out, the class default would apply; stated, it says that there is none.
    assert facts({"sliding_window": None}) == {"sliding_window": None}


def test_nested_objects_and_lists_keep_their_facts_too() -> None:
    config = {"text_config": {"hidden_size": 1, "use_cache": True}, "block_configs": [{"attention": {"n_heads": 1}}]}

    assert facts(config) == {"text_config": {"hidden_size": 1}, "block_configs": [{"attention": {"n_heads": 1}}]}


def test_module_lists_name_one_expert_where_all_are_named_alike() -> None:
    modules = [f"model.layers.{layer}.mlp.experts.{expert}.down_proj" for layer in (1, 2) for expert in range(64)]

    kept = facts({"quantization_config": {"ignore": ["lm_head", *modules]}})
    assert kept["quantization_config"]["ignore"] == [
        "lm_head",
        "model.layers.1.mlp.experts.0.down_proj",
        "model.layers.2.mlp.experts.0.down_proj",
    ]


def test_an_expert_that_is_quantized_otherwise_stays() -> None:
    layers = {"experts.0.w1": {"bits": 4}}
    named = {f"mlp.{name}": value for name, value in layers.items()} | {"mlp.experts.1.w1": {"bits": 8}}

    assert facts({"quantized_layers": named}) == {"quantized_layers": named}


def test_facts_are_written_as_json_with_a_line_a_key() -> None:
    config = {"layer_types": ["full", "window"], "vision_config": {}, "text_config": {"hidden_size": 1}}

    assert json.loads(compact(config)) == config
    assert compact(config).splitlines() == [
        "{",
        '  "layer_types": ["full", "window"],',
        '  "vision_config": {},',
        '  "text_config": {',
        '    "hidden_size": 1',
        "  }",
        "}",
    ]
