"""Shape: the sizes that decide the peak of activations, read from a configuration."""

from kvcore.arithmetic import cdiv
from kvcore.budget.terms import Shape
from kvcore.budget.weights.ranks import Ranks
from kvcore.config import ModelConfig
from kvcore.config.kept import kept
from kvcore.engines.vllm.settings import EngineSettings

EXPERTS_PER_TOKEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "top_k_experts")
EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
DENSE_WIDTH = ("intermediate_size", "ffn_hidden_size", "n_inner", "block_ff_dim", "moe_intermediate_size")


def shape_of(config: ModelConfig, settings: EngineSettings, ranks: Ranks, *, samples: bool) -> Shape:
    """The shape of one GPU of a stage."""
    hidden = config.hidden_size
    per_token = _first(config, EXPERTS_PER_TOKEN)
    width = _first(config, EXPERT_WIDTH) if per_token else 0
    return Shape(
        tokens=settings.max_num_batched_tokens,
        sequences=settings.max_num_seqs,
        hidden_size=hidden,
        intermediate_size=cdiv(_first(config, DENSE_WIDTH) or 4 * hidden, ranks.tensor),
        expert_width=cdiv(width, ranks.intermediate_ranks),
        experts_per_token=per_token,
        vocab_size=config.integer("vocab_size", 1),
        latent_features=_latent_features(config, ranks),
        max_model_len=settings.max_model_len,
        samples=samples,
        is_multimodal=is_multimodal(config),
    )


@kept
def is_multimodal(config: ModelConfig) -> bool:
    """Whether an encoder beside the language model is profiled."""
    return any(isinstance(config.root.get(key), dict) for key in ("vision_config", "audio_config"))


def _latent_features(config: ModelConfig, ranks: Ranks) -> int:
    if not config.optional_integer("kv_lora_rank") or config.optional_integer("index_topk"):
        return 0
    per_head = (config.optional_integer("qk_nope_head_dim") or 0) + (config.optional_integer("v_head_dim") or 0)
    return cdiv(config.num_attention_heads, ranks.tensor) * per_head


def _first(config: ModelConfig, keys: tuple[str, ...]) -> int:
    for key in keys:
        value = config.get(key)
        number = max((item for item in value if isinstance(item, int)), default=0) if isinstance(value, list) else value
        if isinstance(number, int) and not isinstance(number, bool) and number > 0:
            return number
    return 0
