"""Served: what vLLM's classes read of a checkpoint, where that is less than its config states."""

import dataclasses
from collections.abc import Mapping

from kvcore.subject import Subject

HEAD_DIM, KV_HEADS = "head_dim", "num_key_value_heads"

HEADS_OF_HIDDEN = (
    "deepseek", "granitemoe", "granitemoe_swa", "granitemoeshared", "internlm2", "jamba", "mimo", "minicpm", "molmo",
    "olmoe", "orion", "qwen2", "qwen2_5_omni_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl",
    "qwen2_vl_text", "stablelm",
)  # fmt: skip
"""Model types whose heads are ``hidden_size / num_attention_heads`` wide (vLLM 0.33.0, for example `Qwen2Attention`)."""

OLDEST = ("bloom", "gpt2", "gptj", "opt")
"""Model types of before grouped queries: every head has keys and values of its own (vLLM 0.33.0, for example `OPTAttention`)."""

NOT_READ: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(HEADS_OF_HIDDEN, (HEAD_DIM,)),
    **dict.fromkeys(OLDEST, (HEAD_DIM, KV_HEADS)),
}
"""Keys the engine's class for a model type does not read, where a config states them all the same."""


def served(subject: Subject) -> Subject:
    """The subject without what the engine's class does not read."""
    config = subject.config
    if config is None:
        return subject
    unread = [key for key in NOT_READ.get(config.model_type, ()) if config.text.get(key)]
    if not unread:
        return subject
    text = {name: value for name, value in config.text.items() if name not in unread}
    config = dataclasses.replace(config, text=text, root=config.root if config.text_path else text)
    return dataclasses.replace(subject, config=config, laid_out={})
