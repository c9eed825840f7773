"""Pooled indexers: one key per pool of tokens and a ring for the open pool."""

from collections import Counter

from kvcore.config import read_config
from kvcore.engines.vllm.store.pooled_indexer import ring_tokens
from kvcore.layout import lay_out

POOL = 4
TYPES = ["linear_attention"] * 3 + ["deepseek_sparse_attention"]
GLM_FLASH = {
    "architectures": ["Glm5NextForConditionalGeneration"], "model_type": "glm5_next",
    "text_config": {
        "model_type": "glm5_next_text", "num_hidden_layers": 8, "hidden_size": 4096, "num_attention_heads": 64,
        "kv_lora_rank": 512, "qk_rope_head_dim": 0, "qk_nope_head_dim": 256, "index_topk": 2048,
        "index_head_dim": 128, "index_kpool": POOL, "layer_types": TYPES * 2, "num_nextn_predict_layers": 1,
        "linear_attn_config": {"num_heads": 64, "head_dim": 128, "short_conv_kernel_size": 4},
    },
}  # fmt: skip


def test_indexed_layers_keep_a_pooled_key_a_ring_and_a_latent_and_the_others_a_state() -> None:
    names = Counter(layer.cache.name for layer in lay_out(read_config(GLM_FLASH)).layers)
    assert names == {"kimi delta attention": 6, "indexer": 2, "indexer tail": 2, "latent": 2}


def test_the_drafter_is_one_indexed_layer() -> None:
    layout = lay_out(read_config(GLM_FLASH), speculative_method="mtp", num_speculative_tokens=2)
    assert [layer.cache.name for layer in layout.layers if layer.draft] == ["indexer", "indexer tail", "latent"]


def test_the_ring_holds_one_pool_and_grows_to_a_power_of_two_of_pools_with_drafts() -> None:
    assert ring_tokens(POOL, 0) == POOL
    assert ring_tokens(POOL, 1) == 2 * POOL
    assert ring_tokens(POOL, 4) == 2 * POOL
    assert ring_tokens(POOL, 5) == 4 * POOL
