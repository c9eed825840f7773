"""Weights of small models, worked out by hand."""

from typing import Any

import pytest

from kvcore.budget.weights import ModelWeights, network_of, weigh
from kvcore.budget.weights.extras import rope_table_bytes
from kvcore.budget.weights.kernels import Platform
from kvcore.budget.weights.methods import read_quantization
from kvcore.budget.weights.ranks import Ranks
from kvcore.budget.weights.stored import store
from kvcore.config import read_config
from kvcore.errors import ConfigError, EngineRefusal

HIDDEN, INTERMEDIATE, HEADS, KV_HEADS, HEAD, VOCABULARY, LAYERS = 64, 256, 8, 2, 8, 100, 2
HALF = 2
PADDED_VOCABULARY = 128  # rows are padded to a multiple of 64

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": HIDDEN,
    "intermediate_size": INTERMEDIATE,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "num_hidden_layers": LAYERS,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}
ATTENTION = HIDDEN * HEAD * (HEADS + 2 * KV_HEADS) + HEADS * HEAD * HIDDEN
FEED_FORWARD = 3 * HIDDEN * INTERMEDIATE
NORMS = 2 * HIDDEN
LAYER = ATTENTION + FEED_FORWARD + NORMS


def weights(config: dict[str, Any], *, stages: tuple[int, ...] = (LAYERS,), **ranks: Any) -> ModelWeights:
    return weigh(read_config(config), Ranks(**ranks), stages, "bfloat16")


def test_a_dense_model_is_its_layers_two_vocabularies_and_a_norm() -> None:
    found = weights(LLAMA)

    assert found.params == LAYERS * LAYER + 2 * VOCABULARY * HIDDEN + HIDDEN
    assert found.bytes_per_gpu == HALF * (LAYERS * LAYER + 2 * PADDED_VOCABULARY * HIDDEN + HIDDEN)


def test_a_tied_head_is_stored_once() -> None:
    tied = weights({**LLAMA, "tie_word_embeddings": True})

    assert weights(LLAMA).bytes_per_gpu - tied.bytes_per_gpu == HALF * PADDED_VOCABULARY * HIDDEN


def test_a_tied_head_is_stored_again_on_the_last_stage() -> None:
    first, last = weights({**LLAMA, "tie_word_embeddings": True}, stages=(1, 1)).stages

    assert first.by_group["embedding"] == last.by_group["embedding"] == HALF * PADDED_VOCABULARY * HIDDEN


def test_kv_heads_fewer_than_ranks_are_stored_several_times() -> None:
    four = weights(LLAMA, tensor=4).stages[0].by_group["attention"]
    queries, keys_and_values, output = 2 * HEAD * HIDDEN, 2 * 1 * HEAD * HIDDEN, HIDDEN * HIDDEN // 4

    assert four == LAYERS * HALF * (queries + keys_and_values + output)


def test_norms_stand_on_every_rank() -> None:
    norms = HALF * (LAYERS * NORMS + HIDDEN)

    assert weights(LLAMA, tensor=2).stages[0].by_group["norms"] == norms


def test_heads_that_do_not_divide_over_the_ranks_are_refused() -> None:
    with pytest.raises(EngineRefusal) as caught:
        weights({**LLAMA, "num_attention_heads": 6, "head_dim": 8, "num_key_value_heads": 6}, tensor=4)

    assert caught.value.errors[0].field == "tensor_parallel_size"


def test_an_architecture_that_is_not_described_is_refused_by_name() -> None:
    with pytest.raises(ConfigError) as caught:
        weights({**LLAMA, "architectures": ["SurpriseForCausalLM"]})

    assert "SurpriseForCausalLM" in caught.value.errors[0].value


EXPERTS, EXPERT_WIDTH, RANKS = 16, 32, 4
MIXTURE = {
    **LLAMA,
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "head_dim": HEAD,
    "num_experts": EXPERTS,
    "moe_intermediate_size": EXPERT_WIDTH,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
}
ONE_EXPERT = 3 * HIDDEN * EXPERT_WIDTH


@pytest.mark.parametrize("ranks", [{"tensor": RANKS}, {"data": RANKS}], ids=["tensor", "data"])
def test_without_expert_parallelism_every_expert_is_divided_over_all_ranks(ranks: dict[str, Any]) -> None:
    kept = {**MIXTURE, "num_key_value_heads": 4}

    assert weights(kept, **ranks).stages[0].by_group["experts"] == LAYERS * HALF * EXPERTS * ONE_EXPERT // RANKS


def test_with_expert_parallelism_ranks_hold_whole_experts() -> None:
    found = weights(MIXTURE, data=3, expert_parallel=True).stages[0].by_group["experts"]
    most = 6  # 16 experts over 3 ranks: 6, 5 and 5

    assert found == LAYERS * HALF * most * ONE_EXPERT


def test_data_parallel_ranks_each_hold_all_of_attention() -> None:
    alone, one_of_four = weights(MIXTURE).stages[0], weights(MIXTURE, data=RANKS).stages[0]

    assert one_of_four.by_group["attention"] == alone.by_group["attention"]


def test_on_blackwell_16_bit_experts_are_padded_to_128() -> None:
    padded = 3 * HIDDEN * 128
    found = weigh(read_config(MIXTURE), Ranks(), (LAYERS,), "bfloat16", Platform(capability=(10, 0)))

    assert found.stages[0].by_group["experts"] == LAYERS * HALF * EXPERTS * padded


def test_latent_attention_keeps_an_absorbed_copy_beside_its_up_projection() -> None:
    latent = {
        **LLAMA,
        "architectures": ["DeepseekV2ForCausalLM"],
        "model_type": "deepseek_v2",
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 4,
        "v_head_dim": 8,
    }
    copies = {extra.name: extra.bytes for extra in weights(latent, tensor=2).extras[0]}

    assert copies["absorbed latent projections"] == LAYERS * HALF * 16 * (HEADS // 2) * (8 + 8)


def test_a_rotary_table_holds_every_position() -> None:
    tables = {extra.name: extra.bytes for extra in weights(LLAMA).extras[0]}

    assert tables["RoPE tables"] == HALF * 512 * HEAD


SCALED = {"rope_type": "linear", "factor": 8.0}
WITHOUT_LENGTH = {key: value for key, value in LLAMA.items() if key != "max_position_embeddings"}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({**LLAMA, "rope_scaling": SCALED}, 8 * 512 * HEAD),
        ({**LLAMA, "partial_rotary_factor": 0.5}, 512 * HEAD // 2),
        ({**WITHOUT_LENGTH, "model_type": "dbrx", "max_seq_len": 1024}, 1024 * HEAD),
        ({**LLAMA, "model_type": "gemma3_text", "head_dim": HEAD, "rope_scaling": SCALED}, (8 + 1) * 512 * HEAD),
        ({**LLAMA, "model_type": "chatglm"}, 512 * HEAD // 2),
        ({**LLAMA, "model_type": "olmo2"}, 0),
    ],
    ids=["stretched", "part of a head", "another key", "a base of window layers", "half a head", "angles at run time"],
)
def test_rotary_tables_follow_the_config_and_what_its_class_supplies(config: dict[str, Any], expected: int) -> None:
    assert rope_table_bytes(read_config(config)) == expected * HALF


def test_layers_that_are_stored_alike_are_weighed_once() -> None:
    config = read_config(
        {
            **LLAMA,
            "num_hidden_layers": 20,
            "quantization_config": {"quant_method": "fp8", "ignored_layers": ["model.layers.7.mlp.down_proj"]},
        }
    )

    stored = store(network_of(config), "bfloat16", read_quantization(config, Platform()))

    assert stored.layers == (*[0] * 7, 1, *[0] * 12)
    assert len(stored.kinds) == 2
