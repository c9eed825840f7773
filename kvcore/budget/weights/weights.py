"""Weights: bytes on each GPU and published parameters, from the configuration alone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kvcore.budget.weights.drafter import GROUP, DrafterNetwork
from kvcore.budget.weights.extras import Extra, load_extras
from kvcore.budget.weights.families import BUILDERS
from kvcore.budget.weights.kernels import Kernels, Platform, kernels_of
from kvcore.budget.weights.methods import quantization_of, read_quantization
from kvcore.budget.weights.modules import Network
from kvcore.budget.weights.quantization import Quantization
from kvcore.budget.weights.ranks import Ranks
from kvcore.budget.weights.sizes import Share, StageWeights, published_params, share_of, stages_of, weights_of_modules
from kvcore.budget.weights.stored import StoredNetwork, store
from kvcore.config import ModelConfig
from kvcore.config.kept import kept
from kvcore.errors import config_error

PLATFORM = Platform()

MOST_LAYERS = 2000
"""Deeper models are not weighed: no published one has as many, and a made-up one must not cost seconds."""

MALFORMED = (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError)
"""What builders raise on values no published config has; engines answer for the cache all the same."""


@dataclass(frozen=True)
class Checkpoint:
    """A config that is the same as another when its text is: what depends on nothing else is worked out once."""

    text: str
    config: ModelConfig = field(compare=False)


@kept
def checkpoint_of(config: ModelConfig) -> Checkpoint:
    """Returns a config as a key to what was worked out of it."""
    return Checkpoint(json.dumps(config.root, sort_keys=True, default=repr), config)


@dataclass(frozen=True, kw_only=True)
class ModelWeights:
    """Weights of a model on one deployment.

    Attributes:
        stages: Weights on one GPU of each pipeline stage, as the engine creates them.
        extras: What loading adds on one GPU of each stage.
        params: Published parameters, without the checkpoint's own drafter; None where they are not known.
        quantization: The storage scheme as people call it; empty for none.
    """

    stages: tuple[StageWeights, ...]
    extras: tuple[tuple[Extra, ...], ...]
    params: int | None
    quantization: str

    @property
    def drafter_bytes(self) -> int | None:
        """Bytes of the drafter among the last stage's; None where none is weighed."""
        return self.stages[-1].by_group.get(GROUP)

    @property
    def bytes_per_gpu(self) -> int:
        """Weight bytes on the fullest stage."""
        return max(stage.bytes for stage in self.stages)

    @property
    def fullest(self) -> int:
        """The stage with the most weight bytes."""
        return max(range(len(self.stages)), key=lambda stage: self.stages[stage].bytes)

    def loaded_bytes(self, stage: int) -> int:
        """What the engine logs as "Model loading took" on one GPU of a stage: allocated bytes and what loading adds."""
        return self.stages[stage].allocated + sum(extra.bytes for extra in self.extras[stage])


def network_of(config: ModelConfig) -> Network:
    """The modules of a model.

    Raises:
        ConfigError: The architecture's weights are not known, or the config lacks a size.
    """
    return _network(checkpoint_of(config))


@lru_cache(maxsize=4)
def _network(checkpoint: Checkpoint) -> Network:
    """The same modules whatever the deployment."""
    config = checkpoint.config
    builder = BUILDERS.get(config.architecture)
    if builder is None:
        raise config_error(
            "architectures",
            config.architecture or None,
            "kvcore does not know which tensors this architecture has, so its weights are unknown",
            "Give the cache budget as logged (available_kv_cache_gib), or weights_gib from the log's Model loading took.",
        )
    return builder(config)


@lru_cache(maxsize=4)
def _params(checkpoint: Checkpoint) -> int | None:
    return published_params(_network(checkpoint))


@lru_cache(maxsize=4)
def _quantization(checkpoint: Checkpoint, kernels: Kernels) -> Quantization:
    return quantization_of(checkpoint.config, kernels)


@lru_cache(maxsize=4)
def _stored(checkpoint: Checkpoint, dtype: str, kernels: Kernels) -> StoredNetwork:
    """The same whatever the ranks, and on most platforms."""
    return store(_network(checkpoint), dtype, _quantization(checkpoint, kernels))


@lru_cache(maxsize=64)
def _share(checkpoint: Checkpoint, ranks: Ranks, dtype: str, kernels: Kernels) -> Share:
    """The same however many pipeline stages there are."""
    return share_of(_stored(checkpoint, dtype, kernels), ranks, dtype)


def weigh(
    config: ModelConfig,
    ranks: Ranks,
    stage_layers: Sequence[int],
    dtype: str,
    platform: Platform = PLATFORM,
    drafter: DrafterNetwork | None = None,
) -> ModelWeights:
    """Weighs a model.

    Args:
        config: The checkpoint.
        ranks: Parallel sizes.
        stage_layers: Layers of each pipeline stage.
        dtype: The model's element type after the engine's defaults.
        platform: What picks the kernels of experts.
        drafter: What proposes tokens on the last stage, weighed as a group of its own.

    Raises:
        ConfigError: The architecture's weights or the quantization scheme are not known.
        EngineRefusal: A module does not divide over the ranks.
    """
    checkpoint = checkpoint_of(config)
    kernels = kernels_of(config.model_type, platform)
    stages = stages_of(_share(checkpoint, ranks, dtype, kernels), stage_layers)
    if drafter is not None:
        stored = read_quantization(drafter.config, platform)
        drafts = weights_of_modules(drafter.kept(len(stages)), ranks, dtype, stored)
        stages = (*stages[:-1], stages[-1].with_group(GROUP, drafts))
    return ModelWeights(
        stages=stages,
        extras=tuple(load_extras(config, stage.absorbed) for stage in stages),
        params=_params(checkpoint),
        quantization=_quantization(checkpoint, kernels).name,
    )
