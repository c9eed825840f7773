"""Free memory: as a log prints it before and after the load, or estimated from the GPU and the weights."""

from dataclasses import dataclass
from functools import lru_cache

from kvcore.arithmetic import GIB
from kvcore.budget.weights import MALFORMED, MOST_LAYERS, Checkpoint, ModelWeights, checkpoint_of, network_of, weigh
from kvcore.budget.weights.drafter import DrafterNetwork
from kvcore.budget.weights.families.drafters import own_drafter
from kvcore.budget.weights.kernels import Platform
from kvcore.budget.weights.ranks import Ranks
from kvcore.config import ModelConfig
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.engines.sglang.stages import layer_ranges
from kvcore.errors import ConfigError, EngineRefusal, input_error, refusal
from kvcore.request import Request

ASKS_FOR_ESTIMATE = ("gpu", "gpu_memory_gib", "weights_gib", "mem_fraction_static")
"""Fields any of which asks for an estimate where no free memory is given."""

CONTEXT_GIB = 0.5
COMMUNICATORS_GIB = 0.5
"""Taken before the weights by the driver's context, and by communicators where there are several ranks: assumed."""

INTERVAL_GIB = (-1.0, 0.5)
"""By how much the memory for pools may differ from the estimate: assumed."""


@dataclass(frozen=True, kw_only=True)
class FreeMemory:
    """Free memory of one GPU in GiB.

    Attributes:
        before_gib: Before the weights.
        after_gib: After the weights, the drafter's included; not above zero where they do not fit.
        kind: ``given`` or ``estimated``.
    """

    before_gib: float
    after_gib: float
    kind: str

    @property
    def interval_gib(self) -> tuple[float, float] | None:
        """By how much the memory for pools may differ; None for given figures."""
        return INTERVAL_GIB if self.kind == "estimated" else None


def free_memory(request: Request, settings: SglangSettings, weights: ModelWeights | None) -> FreeMemory | None:
    """The free memory of a request; given figures win, None where nothing is known.

    Raises:
        InputError: Only one of the two figures is given.
        EngineRefusal: The weights given do not fit.
    """
    before, after = request.available_before_load_gib, request.available_after_load_gib
    if before is not None and after is None and request.weights_gib is not None:
        after = before - request.weights_gib
        if after <= 0:
            rule = f"the weights do not fit the {before:g} GiB free before the load"
            raise refusal("weights_gib", request.weights_gib, rule, "Use more GPUs or a smaller checkpoint.")
    if before is not None and after is not None:
        return FreeMemory(before_gib=before, after_gib=after, kind="given")
    if before is None and after is None:
        return _estimated(request, settings, weights)
    missing = "available_before_load_gib" if before is None else "available_after_load_gib"
    rule = "the free memory is needed both before and after the load"
    remedy = "SGLang prints it as avail mem and mem usage of its line Load weight end: their sum was free before."
    raise input_error(missing, None, rule, remedy)


def _estimated(request: Request, settings: SglangSettings, weights: ModelWeights | None) -> FreeMemory | None:
    loaded = _loaded_gib(request, settings, weights)
    usable = settings.gpu.usable_bytes
    if loaded is None or usable is None or not any(name in request.given for name in ASKS_FOR_ESTIMATE):
        return None
    taken = CONTEXT_GIB + (COMMUNICATORS_GIB if settings.tp_size * settings.pp_size > 1 else 0.0)
    before = usable / GIB - taken
    return FreeMemory(before_gib=before, after_gib=before - loaded, kind="estimated")


def _loaded_gib(request: Request, settings: SglangSettings, weights: ModelWeights | None) -> float | None:
    if request.weights_gib is not None:
        return request.weights_gib
    if weights is None or leaves_drafter_out(settings, weights):
        return None
    return max(weights.loaded_bytes(stage) for stage in range(len(weights.stages))) / GIB


def leaves_drafter_out(settings: SglangSettings, weights: ModelWeights | None) -> bool:
    """Whether a drafter is loaded whose weights are not among these."""
    drafts = settings.drafts
    return drafts is not None and drafts.algorithm != "NGRAM" and (weights is None or weights.drafter_bytes is None)


def _known_drafter(config: ModelConfig, settings: SglangSettings) -> DrafterNetwork | None:
    """The drafter inside the checkpoint, which uses the model's embedding and head (SGLang 0.5.23 `set_embed_and_head`).

    None where several layers draft, of which SGLang may load fewer than the checkpoint has.
    """
    drafts = settings.drafts
    return own_drafter(config) if drafts is not None and drafts.inside and drafts.num_layers <= 1 else None


def weights_of(config: ModelConfig, dtype: str, settings: SglangSettings) -> tuple[ModelWeights | None, str]:
    """The weights on SGLang's stages and ranks, or why they are not known."""
    if settings.attn_dp_size > 1:
        return (
            None,
            "under data-parallel attention each group holds attention weights of its own, which are not weighed.",
        )
    if config.num_hidden_layers > MOST_LAYERS:
        return None, f"models of up to {MOST_LAYERS:,} layers are weighed."
    try:
        layers = len(network_of(config).layers)
        counts = tuple(len(stage) for stage in layer_ranges(layers, settings.pp_size))
        platform = Platform(capability=(settings.gpu.capability[0], 0))
        ranks, drafter = Ranks(tensor=settings.tp_size), _known_drafter(config, settings)
        return _weighed(checkpoint_of(config), ranks, counts, dtype, platform, drafter), ""
    except (ConfigError, EngineRefusal) as error:
        return None, error.errors[0].message
    except MALFORMED as error:
        return None, f"a value of the config has an unexpected form ({error})."


@lru_cache(maxsize=8)
def _weighed(
    checkpoint: Checkpoint,
    ranks: Ranks,
    counts: tuple[int, ...],
    dtype: str,
    platform: Platform,
    drafter: DrafterNetwork | None,
) -> ModelWeights:
    """Deployments that differ in context only are weighed once."""
    return weigh(checkpoint.config, ranks, counts, dtype, platform, drafter)
