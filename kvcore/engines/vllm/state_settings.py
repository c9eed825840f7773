"""Settings of states per request after vLLM's defaults: cache mode and element types."""

from dataclasses import dataclass, field

from kvcore.config import ModelConfig
from kvcore.errors import refusal
from kvcore.layout.gated_delta_net import DTYPE_DECLARING_ARCHITECTURES
from kvcore.layout.state_dtype import state_dtype
from kvcore.layout.traits import Traits
from kvcore.report.report import Input
from kvcore.request import Request

REMOVED_MODE = "all"
"""Mode that kept every block's state; the last release with it was 0.31."""


@dataclass(frozen=True, kw_only=True)
class StateSettings:
    """How states are kept.

    Attributes:
        mamba_cache_mode: ``align`` where states at block boundaries are kept for reuse, else ``none``.
        mamba_cache_dtype: Element type of convolution states; ``auto``: the model dtype.
        mamba_ssm_cache_dtype: Element type of recurrent states as the engine resolves it; ``auto``: by mechanism.
        inputs: The settings for the report; empty for models without states.
    """

    mamba_cache_mode: str
    mamba_cache_dtype: str
    mamba_ssm_cache_dtype: str
    inputs: dict[str, Input] = field(default_factory=dict)


def resolve_state_settings(
    request: Request, config: ModelConfig | None, traits: Traits, *, enable_prefix_caching: bool
) -> StateSettings:
    """Resolves the settings of states.

    The mode follows prefix caching alone: the flag is still read and has no effect (vLLM 0.33.0
    `EngineArgs.create_engine_config`, `MambaModelConfig.verify_and_update_config`).

    Raises:
        EngineRefusal: The release does not have the mode.
    """
    mode = "align" if enable_prefix_caching and traits.keeps_state else "none"
    if request.mamba_cache_mode == REMOVED_MODE:
        rule = "vLLM 0.33.0 has the modes none and align only"
        raise refusal("mamba_cache_mode", REMOVED_MODE, rule, "Leave it out: the mode follows enable_prefix_caching.")
    conv, given_ssm = request.mamba_cache_dtype or "auto", request.mamba_ssm_cache_dtype or "auto"
    declared = declared_ssm_dtype(config) if config is not None and given_ssm == "auto" else given_ssm
    if not traits.keeps_state:
        return StateSettings(mamba_cache_mode=mode, mamba_cache_dtype=conv, mamba_ssm_cache_dtype=given_ssm)
    note = "align with prefix caching, else none"
    if request.mamba_cache_mode not in {None, mode}:
        note = f"{request.mamba_cache_mode} was asked for, which has no effect: the mode follows enable_prefix_caching"
    inputs = {
        "mamba_cache_mode": Input(value=mode, origin="derived", note=note),
        "mamba_cache_dtype": _input(request.mamba_cache_dtype, conv, "auto: the model dtype"),
        "mamba_ssm_cache_dtype": _input(
            request.mamba_ssm_cache_dtype, declared, "as the config declares; auto: that of the convolution state"
        ),
    }
    return StateSettings(
        mamba_cache_mode=mode, mamba_cache_dtype=conv, mamba_ssm_cache_dtype=given_ssm, inputs=inputs
    )


def declared_ssm_dtype(config: ModelConfig) -> str:
    """What ``auto`` means for this checkpoint (vLLM 0.33.0 `NemotronHForCausalLMConfig`, `Qwen3_5...Config`)."""
    if config.model_type == "nemotron_h":
        return state_dtype(config, "mamba_ssm_cache_dtype", "float32") or "auto"
    if config.architecture in DTYPE_DECLARING_ARCHITECTURES:
        return state_dtype(config, "mamba_ssm_dtype", None) or "auto"
    return "auto"


def _input(given: str | None, value: str, note: str) -> Input:
    return Input(value=value, origin="given" if given else "default", note="" if given else note)
