"""Weighing: a request's weights on vLLM's stages and ranks."""

from functools import lru_cache

from kvcore.budget.weights import MALFORMED, MOST_LAYERS, Checkpoint, ModelWeights, checkpoint_of, network_of, weigh
from kvcore.budget.weights.drafter import DrafterNetwork
from kvcore.budget.weights.families.drafters import own_drafter, whole_drafter
from kvcore.budget.weights.kernels import Platform
from kvcore.budget.weights.ranks import Ranks
from kvcore.catalog.gpus import HOPPER
from kvcore.config import ModelConfig
from kvcore.engines.vllm.profiles import parse_release
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.stages import layers_per_stage
from kvcore.errors import ConfigError, KvcoreError
from kvcore.layout.drafters import MTP_METHODS
from kvcore.request import Request, SpeculativeConfig
from kvcore.subject import drafter_config

WIDENS_FROM = (0, 28, 0)
"""Release from which Kimi's narrow shares of experts are padded (vLLM 0.28.0 `KimiMoE`)."""

TOWERS_ONCE_FROM = (0, 33, 0)
"""Release from which only the first pipeline stage builds towers (vLLM 0.33.0 `SupportsMultiModal._mark_tower_model`)."""

SHARES_FROM = (0, 33, 0)
"""Release from which what a drafter shares with the model was read (vLLM 0.33.0 `load_eagle_model`)."""


@lru_cache(maxsize=16)
def _weighed(
    checkpoint: Checkpoint,
    ranks: Ranks,
    stages: int,
    partition: tuple[int, ...] | None,
    dtype: str,
    platform: Platform,
    drafter: DrafterNetwork | None,
) -> ModelWeights:
    layers = len(network_of(checkpoint.config).layers)
    return weigh(checkpoint.config, ranks, layers_per_stage(layers, stages, partition), dtype, platform, drafter)


def weigh_deployment(request: Request, config: ModelConfig, settings: EngineSettings) -> ModelWeights:
    """The weights of a request's model on its deployment.

    Raises:
        ConfigError: The architecture's weights or the quantization scheme are not known.
        EngineRefusal: A module does not divide over the ranks.
    """
    release = parse_release(settings.engine_version or settings.profile.version)
    ranks = Ranks(
        tensor=settings.tensor_parallel_size,
        data=settings.data_parallel_size,
        expert_parallel=request.enable_expert_parallel,
        widens_narrow_experts=release >= WIDENS_FROM,
        towers_everywhere=release < TOWERS_ONCE_FROM,
    )
    # Kernels are picked by the major capability alone, so cards of one generation are weighed once.
    major = settings.gpu.capability[0] if settings.gpu.compute_capability else HOPPER
    platform = Platform(capability=(major, 0), release=(release[0], release[1]))
    return _weighed(
        checkpoint_of(config),
        ranks,
        settings.pipeline_parallel_size,
        request.pipeline_layer_partition,
        settings.dtype,
        platform,
        _known_drafter(request.speculative_config, config, ranks, settings.pipeline_parallel_size, release),
    )


def _known_drafter(
    speculative: SpeculativeConfig | None,
    config: ModelConfig,
    ranks: Ranks,
    stages: int,
    release: tuple[int, int, int],
) -> DrafterNetwork | None:
    """The drafter, where its tensors and what it shares are known for certain.

    EAGLE heads are not: whether they bring an embedding and a head stands in their tensors, not in their config (vLLM
    0.33.0 `has_own_embed_tokens`, `has_own_lm_head`).
    """
    if speculative is None or release < SHARES_FROM:
        return None
    has_own_checkpoint = speculative.config is not None or speculative.model is not None
    try:
        if speculative.method in MTP_METHODS and not has_own_checkpoint:
            return own_drafter(config)
        is_plain = stages == 1 and ranks.data == 1 and not ranks.expert_parallel
        if speculative.method == "draft_model" and is_plain:
            found = drafter_config(speculative)
            return None if found is None else whole_drafter(found, network_of(found))
    except (KvcoreError, *MALFORMED):
        return None
    return None


def known_weights(
    request: Request, config: ModelConfig | None, settings: EngineSettings
) -> tuple[ModelWeights | None, str]:
    """The weights of a request, or why they are not known.

    Raises:
        EngineRefusal: A module does not divide over the ranks.
    """
    if config is None:
        return None, "a layout given by hand states no tensors."
    if config.num_hidden_layers > MOST_LAYERS:
        return (
            None,
            f"num_hidden_layers = {config.num_hidden_layers:,}: models of up to {MOST_LAYERS:,} layers are weighed.",
        )
    try:
        return weigh_deployment(request, config, settings), ""
    except ConfigError as error:
        return None, error.errors[0].message
    except MALFORMED as error:
        return None, f"a value of the config has an unexpected form ({error})."


def whole_bytes(config: ModelConfig, dtype: str) -> int:
    """Bytes of the model's tensors, each once, as one GPU would hold them."""
    return _whole_bytes(checkpoint_of(config), dtype)


@lru_cache(maxsize=16)
def _whole_bytes(checkpoint: Checkpoint, dtype: str) -> int:
    layers = len(network_of(checkpoint.config).layers)
    return weigh(checkpoint.config, Ranks(), (layers,), dtype).bytes_per_gpu
