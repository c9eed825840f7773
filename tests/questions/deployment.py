"""A small dense model whose blocks are easy to work out by hand."""

LAYERS = 32
KV_HEADS = 8
HEAD_DIM = 128
BF16 = 2
BLOCK = 16
BLOCK_BYTES = LAYERS * KV_HEADS * 2 * HEAD_DIM * BF16 * BLOCK
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 32,
    "num_key_value_heads": KV_HEADS,
    "hidden_size": 4096,
    "head_dim": HEAD_DIM,
    "vocab_size": 128_256,
    "max_position_embeddings": 131_072,
    "torch_dtype": "bfloat16",
}
