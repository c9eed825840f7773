"""Values a Hugging Face config class supplies when the checkpoint's config.json leaves the key out.

Source of each row: the defaults of the configuration class of transformers 5.16 named by its ``model_type``.
"""

from collections.abc import Mapping
from typing import Any

CLASS_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "gemma3_text": {
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "hidden_size": 2304,
        "num_hidden_layers": 26, "sliding_window": 4096, "sliding_window_pattern": 6, "vocab_size": 262_208,
        "max_position_embeddings": 131_072,
    },
}  # fmt: skip
