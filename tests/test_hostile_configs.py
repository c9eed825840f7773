"""Ten thousand damaged configs: each gives an answer or a named error, never a traceback, NaN or negative figure."""

import copy
import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.report import to_json

MUTATIONS = 10_000
SHARDS = 8
"""Shards run apart from each other, so that the workers share the work."""

SEEDS: tuple[dict[str, Any], ...] = (
    {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 4, "hidden_size": 4096,
        "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131_072, "vocab_size": 128_256,
        "torch_dtype": "bfloat16", "rope_scaling": {"rope_type": "llama3", "factor": 8.0},
    },
    {
        "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "torch_dtype": "bfloat16",
        "text_config": {
            "model_type": "gemma3_text", "num_hidden_layers": 7, "hidden_size": 2560, "sliding_window": 1024,
            "sliding_window_pattern": 6, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        },
        "vision_config": {"num_attention_heads": 16, "intermediate_size": 4304},
    },
    {
        "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "num_hidden_layers": 4, "hidden_size": 2880,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128,
        "layer_types": ["sliding_attention", "full_attention"] * 2, "quantization_config": {"quant_method": "mxfp4"},
    },
    {
        "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": 5,
        "hidden_size": 7168, "num_attention_heads": 128, "num_key_value_heads": 128, "kv_lora_rank": 512,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "max_position_embeddings": 163_840,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}, "num_nextn_predict_layers": 1,
        "moe_intermediate_size": 2048, "n_routed_experts": 256,
    },
    {
        "architectures": ["DeciLMForCausalLM"], "model_type": "nemotron-nas", "num_hidden_layers": 2,
        "hidden_size": 8192, "num_attention_heads": 64, "block_configs": [
            {"attention": {"n_heads_in_group": 8, "no_op": False}}, {"attention": {"no_op": True}},
        ],
    },
    {
        "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 4,
        "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
        "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
        "max_position_embeddings": 262_144,
    },
    {
        "architectures": ["MiMoV2ForCausalLM"], "model_type": "mimo_v2", "num_hidden_layers": 4, "hidden_size": 4096,
        "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128,
        "swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "swa_head_dim": 192, "swa_v_head_dim": 128,
        "sliding_window_size": 128, "hybrid_layer_pattern": [0, 1, 1, 0],
    },
    {
        "architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "num_hidden_layers": 32,
        "encoder_layers": 32, "decoder_layers": 4, "encoder_attention_heads": 20, "decoder_attention_heads": 20,
        "d_model": 1280, "max_target_positions": 448,
    },
    {"num_hidden_layers": 3, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128},
)  # fmt: skip

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 7, 10**9, 10**18, 10**40, 0.0, -0.5, 1.5, 1e308, math.inf, -math.inf, math.nan,
    "", "auto", "\x00", "<script>", "0", "8", "nan", "x" * 10_000, [], [None], [1, 2], ["full_attention"], {}, {"a": {}},
    [[]], {"quant_method": 5}, "sliding_attention",
)  # fmt: skip

REQUESTS: tuple[dict[str, Any], ...] = (
    {"kv_cache_memory_bytes": 42_949_672_960},
    {"kv_cache_memory_bytes": 1_000_000, "tensor_parallel_size": 2},
    {"kv_cache_dtype": "fp8", "max_model_len": 4096, "gpu": "B200", "kv_cache_memory_bytes": 8_000_000_000},
    {"pipeline_parallel_size": 2, "max_model_len": -1, "kv_cache_memory_bytes": 8_000_000_000},
)


def damaged(random_numbers: random.Random) -> dict[str, Any]:
    """A config with one to three keys deleted, replaced, renamed or repeated elsewhere."""
    config = copy.deepcopy(random_numbers.choice(SEEDS))
    for _ in range(random_numbers.randint(1, 3)):
        target = random_numbers.choice([config, *(value for value in config.values() if isinstance(value, dict))])
        if not target:
            continue
        key = random_numbers.choice(sorted(target))
        action = random_numbers.randrange(4)
        if action == 0:
            del target[key]
        elif action == 1:
            target[key] = random_numbers.choice(HOSTILE)
        elif action == 2:
            target[random_numbers.choice(KEYS)] = random_numbers.choice(HOSTILE)
        else:
            target[key] = [target[key]] * random_numbers.randint(1, 3)
    return config


KEYS = tuple(sorted({key for seed in SEEDS for key in (*seed, *seed.get("text_config", {}))}))


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def complaint(config: dict[str, Any], request: dict[str, Any]) -> str:
    """What is wrong with the answer to a damaged config; empty where nothing is."""
    report = answer({**request, "config": config})
    if report.errors:
        nameless = [error for error in report.errors if not (error.field and error.rule and error.remedy)]
        return f"nameless errors {nameless}" if nameless else ""
    plain = to_json(report)
    figures = {name: plain[name] for name in ("layout", "plan", "request", "capacity", "tax") if name in plain}
    wrong = [number for number in numbers(figures) if not 0 <= number < math.inf]
    return f"figures {wrong}" if wrong else ""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_damaged_configs_give_an_answer_or_a_named_error(shard: int) -> None:
    random_numbers = random.Random(shard)  # noqa: S311 - chosen to repeat, not to be secret
    for _ in range(MUTATIONS // SHARDS):
        config, request = damaged(random_numbers), random_numbers.choice(REQUESTS)
        try:
            problem = complaint(config, request)
        except Exception as error:  # noqa: BLE001 - any exception is the finding
            problem = f"{type(error).__name__}: {error}"
        assert not problem, (problem, json.dumps(config)[:2000], request)
