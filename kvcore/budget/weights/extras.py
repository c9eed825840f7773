"""What loading adds to the weights: tables of rotary positions, and the copies latent attention absorbs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.budget.weights.modules import Linear, Module
from kvcore.budget.weights.ranks import Ranks, linear_shape
from kvcore.config import ModelConfig
from kvcore.config.kept import kept

HALF = 2
FLOAT32 = 4


@dataclass(frozen=True, kw_only=True)
class Extra:
    """Bytes that loading adds on one GPU, by name, with the rule's source."""

    name: str
    bytes: int
    source: str


def load_extras(config: ModelConfig, absorbed: int) -> tuple[Extra, ...]:
    """Everything loading adds on one GPU of a stage whose latent layers absorb so many bytes.

    A drafter inside the checkpoint looks positions up in the model's tables (vLLM 0.33.0 `get_rope`).
    """
    extras = (
        Extra(
            name="RoPE tables",
            bytes=rope_table_bytes(config),
            source="vLLM 0.33.0 `RotaryEmbedding._compute_cos_sin_cache`: one table per distinct RoPE",
        ),
        Extra(
            name="absorbed latent projections",
            bytes=absorbed,
            source="vLLM 0.33.0 `MLAAttention.process_weights_after_loading`: W_UK_T and W_UV beside kv_b_proj",
        ),
    )
    return tuple(extra for extra in extras if extra.bytes)


def absorbed_bytes(module: Module, ranks: Ranks) -> int:
    """16-bit copies of the key and value halves of a latent layer's up-projection; 0 of any other module."""
    if not isinstance(module, Linear) or module.attends != "latent":
        return 0
    shape = linear_shape(module, ranks)
    return shape.size * shape.inputs * HALF


@kept
def rope_table_bytes(config: ModelConfig) -> int:
    """Cosines and sines of every position, for each distinct set of RoPE parameters."""
    if config.get("position_embedding_type") in {"nope", "absolute", "alibi"} or config.model_type in NO_ROPE:
        return 0
    head = config.optional_integer("qk_rope_head_dim")
    try:
        width = head or config.head_dim
    except Exception:  # noqa: BLE001 - a model without heads has no tables
        return 0
    if head == 0 and config.optional_integer("kv_lora_rank"):
        return 0
    positions = next((stated for key in POSITIONS if (stated := config.optional_integer(key))), 0)
    element = FLOAT32 if config.model_type in FLOAT32_TABLES else HALF
    positions *= STRETCHED.get(config.model_type, 1)
    tables = sum(rows * rotary * element for rows, rotary in _tables(config, positions, width))
    ratios = config.sequence("compress_ratios")
    if ratios is not None and all(ratios[: config.num_hidden_layers]):
        return tables  # the second table is that of layers without compression
    return tables * TABLES.get(config.model_type, 1)


NO_ROPE = frozenset({
    "arcee", "bert", "bloom", "cwm", "falcon_mamba", "flex_olmo", "glm", "gpt2", "gpt_bigcode", "gpt_neox", "hunyuan_v1_dense",
    "hunyuan_v1_moe", "jais2", "jamba", "kimi_linear", "kolibri1", "mamba", "mamba2", "mellum", "mpt", "nemotron_h", "olmo",
    "olmo2", "olmo3", "opt", "phi", "roberta", "seed_oss", "smollm3", "starcoder2", "vaultgemma", "whisper", "xlm-roberta",
})  # fmt: skip
"""Model types without tables: no RoPE, or one whose angles are computed at run time, as Transformers' classes do."""

POSITIONS = ("max_position_embeddings", "seq_length", "max_seq_len", "n_positions")
"""Keys under which checkpoints state the positions their tables hold."""

PARTIAL: Mapping[str, float] = {"chatglm": 0.5, "glm4v_text": 0.5}
"""Share of a head that rotates, by model type, where the config does not say."""

LOCAL_BASE: Mapping[str, float] = {"gemma3_text": 10_000.0}
"""Base of window layers that the config class supplies (Hugging Face `Gemma3TextConfig.rope_local_base_freq`)."""

FLOAT32_TABLES = frozenset({"deepseek_v32", "deepseek_v4", "longcat_flash", "longcat_flash_ngram", "gpt_oss"})
"""Model types whose tables stay in float32."""

STRETCHED: Mapping[str, int] = {
    "qwen2_vl": 4, "qwen2_5_vl": 4, "qwen2_vl_text": 4, "qwen2_5_vl_text": 4, "qwen2_5_omni_text": 4,
}  # fmt: skip
"""Tables of several axes hold this many times the positions (vLLM 0.33.0 `MRotaryEmbedding`)."""

TABLES: Mapping[str, int] = {"deepseek_v32": 2, "deepseek_v4": 2, "mimo_v2": 2}
"""Equal tables: the indexer's, or those of layers with a base of their own."""


def _tables(config: ModelConfig, positions: int, width: int) -> Iterator[tuple[int, int]]:
    sections = _sections(config)
    seen: set[tuple[int, int, str]] = set()
    for name, parameters in sections:
        kind = str(parameters.get("rope_type", parameters.get("type", "default")) or "default")
        factor = parameters.get("factor")
        rows = positions
        original = parameters.get("original_max_position_embeddings") or config.get("original_max_position_embeddings")
        if kind in {"linear", "dynamic"} and isinstance(factor, int | float):
            rows = int(positions * factor)
        elif kind in {"yarn", "deepseek_yarn"} and isinstance(factor, int | float) and isinstance(original, int):
            rows = int(original * factor)
        elif kind in {"longrope", "su"} and isinstance(original, int):
            rows = positions + original
        partial = parameters.get(
            "partial_rotary_factor",
            config.get("partial_rotary_factor", config.get("rotary_pct", PARTIAL.get(config.model_type, 1.0))),
        )
        full = config.optional_integer("global_head_dim") if name == "full_attention" else None
        size = full or width
        is_partial = (
            isinstance(partial, int | float) and not config.optional_integer("qk_rope_head_dim") and full is None
        )
        rotary = config.optional_integer("rotary_dim") or (int(size * partial) if is_partial else size)
        key = (rows, rotary, f"{parameters.get('rope_theta')}{kind}")
        if key not in seen:
            seen.add(key)
            yield rows, rotary


def _sections(config: ModelConfig) -> list[tuple[str, Mapping[str, Any]]]:
    local = config.get("rope_local_base_freq", LOCAL_BASE.get(config.model_type))
    for key in ("rope_parameters", "rope_scaling"):
        value = config.get(key)
        if isinstance(value, Mapping):
            nested = [(name, item) for name, item in value.items() if isinstance(item, Mapping)]
            sections: list[tuple[str, Mapping[str, Any]]] = nested or [("", value)]
            if not nested and local:
                sections.append(("sliding_attention", {"rope_theta": local}))
            return sections
    return [("", {}), ("sliding_attention", {"rope_theta": local})] if local else [("", {})]
