"""Weighing: a request's weights on vLLM's stages and ranks."""

from kvcore.budget.weights import ModelWeights, network_of, weigh
from kvcore.budget.weights.ranks import Ranks
from kvcore.config import ModelConfig
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.stages import layers_per_stage
from kvcore.request import Request

HOPPER = (9, 0)


def weigh_deployment(request: Request, config: ModelConfig, settings: EngineSettings) -> ModelWeights:
    """The weights of a request's model on its deployment.

    Raises:
        ConfigError: The architecture's weights or the quantization scheme are not known.
        EngineRefusal: A module does not divide over the ranks.
    """
    ranks = Ranks(
        tensor=settings.tensor_parallel_size, data=settings.data_parallel_size, expert_parallel=request.enable_expert_parallel
    )
    layers = len(network_of(config).layers)
    counts = layers_per_stage(layers, settings.pipeline_parallel_size, request.pipeline_layer_partition)
    return weigh(config, ranks, counts, settings.dtype, settings.gpu.capability if settings.gpu.compute_capability else HOPPER)
