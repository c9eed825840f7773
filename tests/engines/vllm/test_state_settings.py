"""Settings of states: the cache mode follows prefix caching, and dtypes resolve as the engine resolves them."""

from collections.abc import Mapping

from kvcore.answer import answer
from kvcore.report.report import Report

QWEN3_5: Mapping[str, object] = {
    "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "num_hidden_layers": 4, "hidden_size": 5120,
    "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256, "linear_num_key_heads": 16,
    "linear_num_value_heads": 48, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4, "mamba_ssm_dtype": "float32", "max_position_embeddings": 8192, "dtype": "bfloat16",
    "layer_types": ["linear_attention"] * 3 + ["full_attention"],
}  # fmt: skip
MAMBA: Mapping[str, object] = {
    "architectures": ["MambaForCausalLM"], "model_type": "mamba", "num_hidden_layers": 4, "hidden_size": 1024,
    "state_size": 16, "conv_kernel": 4, "expand": 2, "dtype": "bfloat16",
}  # fmt: skip
GRANITE: Mapping[str, object] = {
    "architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid", "num_hidden_layers": 2,
    "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8, "dtype": "bfloat16",
    "layer_types": ["full_attention"] * 2,
}  # fmt: skip
BERT: Mapping[str, object] = {
    "architectures": ["BertModel"], "model_type": "bert", "num_hidden_layers": 4, "hidden_size": 1024,
    "num_attention_heads": 16, "max_position_embeddings": 512,
}  # fmt: skip


def report(config: Mapping[str, object], **fields: object) -> Report:
    return answer({"config": config, "kv_cache_memory_bytes": 4 << 30, **fields})


def test_the_mode_follows_prefix_caching() -> None:
    assert report(QWEN3_5).inputs["mamba_cache_mode"].value == "align"
    assert report(QWEN3_5, enable_prefix_caching=False).inputs["mamba_cache_mode"].value == "none"


def test_a_mode_asked_for_has_no_effect_and_the_report_says_so() -> None:
    resolved = report(QWEN3_5, enable_prefix_caching=False, mamba_cache_mode="align").inputs["mamba_cache_mode"]
    assert resolved.value == "none"
    assert "no effect" in resolved.note


def test_the_removed_mode_has_no_effect_either() -> None:
    asked = report(QWEN3_5, mamba_cache_mode="all")
    assert asked.inputs["mamba_cache_mode"].value == "align"
    assert "command line" in asked.inputs["mamba_cache_mode"].note
    assert asked.capacity == report(QWEN3_5).capacity


def test_prefix_caching_is_on_where_it_is_asked_for_whatever_the_model() -> None:
    asked = report(BERT, enable_prefix_caching=True)
    assert report(BERT).inputs["enable_prefix_caching"].value is False
    assert asked.inputs["enable_prefix_caching"].value is True
    assert (
        report(BERT, enable_prefix_caching=True, engine_version="0.32.0").inputs["enable_prefix_caching"].value is False
    )


def test_auto_resolves_to_the_dtype_the_config_declares() -> None:
    assert report(QWEN3_5).inputs["mamba_ssm_cache_dtype"].value == "float32"
    undeclared = {key: value for key, value in QWEN3_5.items() if key != "mamba_ssm_dtype"}
    assert report(undeclared).inputs["mamba_ssm_cache_dtype"].value == "auto"


def test_models_without_attention_keep_no_blocks_for_reuse_unless_asked_to() -> None:
    assert report(MAMBA).inputs["enable_prefix_caching"].value is False
    asked = report(MAMBA, enable_prefix_caching=True)
    assert asked.inputs["mamba_cache_mode"].value == "align"
    state_and_copy = 2
    assert asked.plan is not None
    assert [group.blocks_per_request for group in asked.plan.groups] == [state_and_copy]


def test_models_without_attention_need_a_length() -> None:
    (error,) = report(MAMBA, max_model_len=-1).errors
    assert error.field == "max_model_len"


def test_a_hybrid_class_whose_layers_all_attend_has_no_state_settings() -> None:
    answered = report(GRANITE)
    assert not answered.errors
    assert "mamba_cache_mode" not in answered.inputs
    assert answered.plan is not None
    assert answered.plan.block_size == 16
