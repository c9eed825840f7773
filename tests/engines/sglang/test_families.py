"""What model families settle for themselves: shares of memory, backends, pages, contexts, and what they refuse."""

import pytest

from tests.engines.sglang.questions import (
    DENSE,
    HYBRID,
    LATENT_RANK,
    ROTARY,
    SPARSE,
    WINDOW,
    WINDOWED,
    ask,
    capacity_of,
    refused_field,
)

BASE_LAYERS, BASE_WIDTH = 24, 1024
VISION_SHARE, PER_DOUBLING = 0.95, 0.1
GIB = 1 << 30
LATENT = {key: value for key, value in SPARSE.items() if not key.startswith("index_")}
EAGLE = {"speculative_algorithm": "EAGLE3", "speculative_draft_config": {**DENSE, "num_hidden_layers": 1}}
CHAIN = {"speculative_num_steps": 3, "speculative_eagle_topk": 1}
MIMO = {
    **DENSE,
    "architectures": ["MiMoV2FlashForCausalLM"],
    "model_type": "mimo_v2_flash",
    "hybrid_layer_pattern": [0, 1, 1, 1],
    "sliding_window": WINDOW,
    "sliding_window_size": WINDOW,
    "v_head_dim": 32,
    "swa_num_key_value_heads": 8,
    "swa_num_attention_heads": 16,
    "swa_head_dim": 64,
    "swa_v_head_dim": 32,
}


def share_of(config: dict[str, object], **fields: object) -> float:
    """The share of the memory before the load that may be taken."""
    value = ask(config, **fields).inputs["mem_fraction_static"].value
    assert isinstance(value, float)
    return value


def settings_of(config: dict[str, object], **fields: object) -> tuple[object, object]:
    """Attention backend and page size."""
    inputs = ask(config, **fields).inputs
    return inputs["attention_backend"].value, inputs["page_size"].value


def test_a_tower_named_otherwise_counts_as_large_as_its_class_says() -> None:
    layers, width = 27, 1152
    text = {**LATENT, "architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2"}
    named_otherwise = {"vt_num_hidden_layers": layers, "vt_hidden_size": width}
    config: dict[str, object] = {
        "architectures": ["KimiK25ForConditionalGeneration"],
        "model_type": "kimi_k25",
        "text_config": text,
        "vision_config": named_otherwise,
    }
    times_base = layers * width**2 / (BASE_LAYERS * BASE_WIDTH**2)

    without_tower = share_of(text)

    expected = without_tower * (VISION_SHARE * (1 - PER_DOUBLING * (times_base - 1)))
    assert share_of(config) == expected


def test_a_tower_that_is_left_out_counts_where_its_class_builds_one_all_the_same() -> None:
    layers, width = 24, 1024  # of Pixtral's class, as the base tower
    mistral: dict[str, object] = {
        "architectures": ["Mistral3ForConditionalGeneration"],
        "model_type": "mistral3",
        "text_config": {**DENSE, "architectures": ["MistralForCausalLM"], "model_type": "mistral"},
    }
    times_base = layers * width**2 / (BASE_LAYERS * BASE_WIDTH**2)
    h100_mib = 81_559
    without_prefill_graphs = round(1 - (512 + 1.5 * 8192 + 128 + 2 * 256) / h100_mib, 3)

    expected = without_prefill_graphs * (VISION_SHARE * (1 - PER_DOUBLING * (times_base - 1)))

    assert share_of(mistral) == expected
    assert share_of({**mistral, "language_model_only": True}) == share_of(DENSE)


def test_prefill_of_muse_glimmer_is_captured_up_to_512_tokens_only() -> None:
    graphs_up_to_512, graphs_up_to_8192, mib_of_a_graph, h100_mib = 8 + 14 + 8, 58, 8, 81_559
    muse = {**WINDOWED, "architectures": ["MuseGlimmerForCausalLM"], "model_type": "muse_glimmer_text"}
    reserved = 512 + 1.5 * 8192 + 128 + 2 * 256

    saved = (graphs_up_to_8192 - graphs_up_to_512) * mib_of_a_graph

    assert share_of(DENSE) == round(1 - (reserved + graphs_up_to_8192 * mib_of_a_graph) / h100_mib, 3)
    assert share_of(muse) == round(1 - (reserved + graphs_up_to_8192 * mib_of_a_graph - saved) / h100_mib, 3)


@pytest.mark.parametrize(
    ("config", "fields", "backend", "tokens"),
    [
        ({**DENSE}, {"kv_cache_dtype": "fp8_e5m2"}, "triton", 1),
        ({**DENSE}, {"kv_cache_dtype": "fp8_e5m2", "attention_backend": "fa3"}, "triton", 1),
        ({**MIMO, "add_swa_attention_sink_bias": True}, {"gpu": "A100-80"}, "triton", 1),
        ({**MIMO}, {"gpu": "A100-80"}, "flashinfer", 1),
        ({**DENSE, "architectures": ["PixtralForConditionalGeneration"]}, {"gpu": "A100-80"}, "flashinfer", 1),
        ({**DENSE}, EAGLE, "fa3", 1),
        ({**DENSE}, {**EAGLE, **CHAIN}, "fa3", 1),
        ({**DENSE}, {**EAGLE, **CHAIN, "page_size": 16}, "flashinfer", 16),
        ({**HYBRID}, {"gpu": "B200", "page_size": 64}, "triton", 1),
        ({**HYBRID}, {"gpu": "B200", "disable_radix_cache": True, "page_size": 16}, "trtllm_mha", 64),
    ],
    ids=[
        "e5m2 by default",
        "e5m2 by flag",
        "sinks",
        "no sinks",
        "Pixtral of plain attention",
        "drafts by default",
        "a chain",
        "a chain over pages",
        "hybrid pages",
        "hybrid without reuse",
    ],
)
def test_backend_and_pages(config: dict[str, object], fields: dict[str, object], backend: str, tokens: int) -> None:
    assert settings_of(config, **fields) == (backend, tokens)


def test_without_overlap_qwen_s_hybrids_on_b200_keep_no_snapshots_whatever_pages_are_asked_for() -> None:
    inputs = ask(HYBRID, gpu="B200", page_size=16, disable_overlap_schedule=True).inputs

    assert inputs["mamba_radix_cache_strategy"].value == "no_buffer"


def test_the_strategy_stays_auto_where_nothing_is_reused() -> None:
    assert ask(HYBRID, disable_radix_cache=True).inputs["mamba_radix_cache_strategy"].value == "auto"


@pytest.mark.parametrize("gpu", ["B200", "RTX 5090"])
def test_step_runs_fa4_on_every_blackwell_gpu(gpu: str) -> None:
    step = {
        **DENSE,
        "architectures": ["Step3p5ForCausalLM"],
        "model_type": "step3p5",
        "num_attention_groups": 4,
        "sliding_window": WINDOW,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
    }

    inputs = ask(step, gpu=gpu).inputs

    assert inputs["attention_backend"].value == "fa4"
    assert inputs["context_length"].value == 128_000  # of the config class, by the name that counts first


def test_the_context_of_gpt_2_and_its_kin_is_their_number_of_positions() -> None:
    positions = 1024
    gpt2 = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "n_layer": 2,
        "n_head": 4,
        "n_embd": 256,
        "n_positions": positions,
        "torch_dtype": "float16",
    }

    assert ask(gpt2).inputs["context_length"].value == positions


def test_latents_are_stored_by_sarvam_as_by_deepseek() -> None:
    sarvam = {**LATENT, "architectures": ["SarvamMLAForCausalLM"], "model_type": "sarvam_mla"}

    report = ask(sarvam, gpu="A100-80")

    assert report.layout is not None
    assert report.layout.bytes_per_token == LATENT["num_hidden_layers"] * (LATENT_RANK + ROTARY) * 2
    assert report.inputs["attention_backend"].value == "triton"


@pytest.mark.parametrize(
    ("config", "fields", "field"),
    [
        (WINDOWED, {"attention_backend": "flashinfer"}, "attention_backend"),
        (DENSE, {"speculative_algorithm": "NGRAM", "page_size": 16}, "attention_backend"),
        (DENSE, {"attention_backend": "trtllm_mha", "gpu": "A100-80"}, "attention_backend"),
        ({**DENSE, "v_head_dim": 32}, {}, "v_head_dim"),
        (
            DENSE,
            {
                "speculative_algorithm": "STANDALONE",
                "speculative_draft_config": DENSE,
                "tp_size": 2,
                "dp_size": 2,
                "enable_dp_attention": True,
            },
            "speculative_algorithm",
        ),
        (SPARSE, {"kv_cache_dtype": "fp8_e4m3", "dsa_prefill_backend": "tilelang"}, "dsa_decode_backend"),
        ({**LATENT, "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3"},
         {"gpu": "B200", "kv_cache_dtype": "fp8_e5m2"}, "kv_cache_dtype"),
        ({**DENSE, "architectures": ["MiniCPMForCausalLM"], "model_type": "minicpm"},
         {"tp_size": 2, "dp_size": 2, "enable_dp_attention": True}, "enable_dp_attention"),
    ],
    ids=["backend", "trees over pages", "generation", "width of values", "standalone", "tilelang", "latent e5m2", "no groups"],
)  # fmt: skip
def test_what_sglang_refuses_is_refused(config: dict[str, object], fields: dict[str, object], field: str) -> None:
    assert refused_field(config, **fields) == field


def test_windows_of_many_requests_may_outnumber_the_full_tokens() -> None:
    requests, chunk, page, eviction = 4096, 8192, 1, 128
    asked_window = WINDOW - 1
    windows = requests * (asked_window + eviction + 2 * page) + 2 * chunk + page
    cap = 10_000

    fields = {"disable_radix_cache": True, "max_running_requests": requests, "available_after_load_gib": 13}
    free, capped = (capacity_of(WINDOWED, **fields, **more).pools for more in ({}, {"max_total_tokens": cap}))

    assert free[0].entries < windows
    assert [pool.entries for pool in free][1] == windows
    assert [pool.entries for pool in capped] == [cap, cap]


def test_a_decode_server_keeps_no_prefixes_and_room_for_twice_its_few_requests_to_arrive() -> None:
    requests, page, eviction = 16, 1, 128
    asked_window, arriving = WINDOW - 1, 2 * requests
    windows = requests * (asked_window + eviction + 2 * page) + arriving * (asked_window + page)

    pools = capacity_of(WINDOWED, disaggregation_mode="decode", max_running_requests=requests).pools

    assert pools[1].entries == windows


@pytest.mark.parametrize(
    ("section", "width"),
    [
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": {"type": "float", "num_bits": 8}}, 1),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": "FP8"}, 2),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_scheme": "FP8"}, 1),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "NVFP4"}, 2),
        ({"quant_method": "fp8", "kv_cache_quant_algo": "FP8"}, 1),
        ({"quant_method": "fp8"}, 2),
        ({"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, 1),
        ({"quant_method": "compressed-tensors", "kv_cache_scheme": {"type": "float", "num_bits": 8}}, 2),
    ],
    ids=["scheme", "word", "word of FP4", "4 bits", "fp8", "fp8 without", "no method", "another method"],
)
def test_the_cache_dtype_a_checkpoint_declares(section: dict[str, object], width: int) -> None:
    plain = ask(DENSE).layout
    layout = ask({**DENSE, "quantization_config": section}).layout

    assert plain is not None
    assert layout is not None
    assert layout.bytes_per_token == plain.bytes_per_token // 2 * width
