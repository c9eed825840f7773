"""Stored modules: equal layers are one kind, and a layer stored otherwise is another."""

from typing import Any

from kvcore.budget.weights import network_of
from kvcore.budget.weights.kernels import Platform
from kvcore.budget.weights.methods import read_quantization
from kvcore.budget.weights.stored import StoredNetwork, store
from kvcore.config import read_config

LAYERS = 4
LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 256,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "num_hidden_layers": LAYERS,
    "vocab_size": 128,
    "tie_word_embeddings": False,
}


def stored(**section: Any) -> StoredNetwork:
    config = read_config({**LLAMA, "quantization_config": section})
    return store(network_of(config), "bfloat16", read_quantization(config, Platform()))


def test_layers_of_equal_modules_are_one_kind() -> None:
    found = stored()

    assert len(found.kinds) == 1
    assert found.layers == (0,) * LAYERS


def test_a_layer_whose_module_is_left_unquantized_is_a_kind_of_its_own() -> None:
    found = stored(quant_method="fp8", ignored_layers=["model.layers.2.self_attn.o_proj"])
    schemes = [item.scheme.name for kind in found.kinds for item in kind if item.module.name == "self_attn.o_proj"]

    assert found.layers == (0, 0, 1, 0)
    assert schemes == ["fp8, one scale per matrix", "unquantized"]
