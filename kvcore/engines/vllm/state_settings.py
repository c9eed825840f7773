"""Settings of states per request after vLLM's defaults: cache mode and element types."""

from dataclasses import dataclass, field

from kvcore.config import ModelConfig
from kvcore.engines.vllm.profile import ALIGN, ALL, NONE, Profile
from kvcore.engines.vllm.profile_table import MODEL_DTYPE
from kvcore.errors import refusal
from kvcore.layout.gated_delta_net import DTYPE_DECLARING_ARCHITECTURES
from kvcore.layout.state_dtype import state_dtype
from kvcore.layout.traits import Traits
from kvcore.report.report import Input
from kvcore.request import Request

AUTO = "auto"
NEMOTRON_H = "nemotron_h"

NO_CHUNK = 2048
"""Tokens a state kernel without chunks is taken to work through at a time (vLLM 0.16.0 `get_mamba_chunk_size`)."""


@dataclass(frozen=True, kw_only=True)
class StateSettings:
    """How states are kept.

    Attributes:
        mamba_cache_mode: ``align`` or ``all`` where states at block boundaries are kept for reuse, else ``none``.
        mamba_chunk_size: Tokens a state kernel works through at a time.
        mamba_cache_dtype: Element type of convolution states; ``auto``: the model dtype.
        mamba_ssm_cache_dtype: Element type of recurrent states as the engine resolves it; ``auto``: by mechanism.
        inputs: The settings for the report; empty for models without states.
    """

    mamba_cache_mode: str
    mamba_cache_dtype: str
    mamba_ssm_cache_dtype: str
    mamba_chunk_size: int = NO_CHUNK
    inputs: dict[str, Input] = field(default_factory=dict)


def resolve_state_settings(
    request: Request,
    config: ModelConfig | None,
    traits: Traits,
    profile: Profile,
    *,
    dtype: str,
    enable_prefix_caching: bool,
) -> StateSettings:
    """Resolves the settings of states.

    Args:
        request: The question.
        config: The checkpoint; None for a layout given by hand.
        traits: What the architecture means to the engine.
        profile: The engine version's switches.
        dtype: Model dtype.
        enable_prefix_caching: Whether finished blocks are kept for reuse.

    Raises:
        EngineRefusal: The release does not have the flag, or cannot combine the mode with speculative decoding.
    """
    _check_mode(request, profile)
    mode = NONE
    if enable_prefix_caching and traits.keeps_state:
        mode = _reuse_mode(request.mamba_cache_mode, traits, profile)
    if mode == ALIGN and request.speculative_config is not None and not profile.align_with_drafts:
        rule = f"vLLM {profile.version} does not keep states for reuse (mode align) together with speculative decoding"
        raise refusal("enable_prefix_caching", "true", rule, "Leave it out, or use 0.17 or newer.")
    conv, given_ssm = request.mamba_cache_dtype or AUTO, request.mamba_ssm_cache_dtype or AUTO
    if given_ssm == AUTO and config is not None and config.model_type == NEMOTRON_H:
        given_ssm = _nemotron_h_dtype(config, dtype if conv == AUTO else conv, profile)
    declared = declared_ssm_dtype(config) if config is not None and given_ssm == "auto" else given_ssm
    if not traits.keeps_state:
        return StateSettings(mamba_cache_mode=mode, mamba_cache_dtype=conv, mamba_ssm_cache_dtype=given_ssm)
    note = f"{mode} with prefix caching, else none" if mode != NONE else "none without prefix caching"
    if request.mamba_cache_mode not in {None, mode}:
        note = f"{request.mamba_cache_mode} was asked for, which has no effect: the mode follows enable_prefix_caching"
        if request.mamba_cache_mode == ALL and profile.state_reuse == ALIGN:
            note += "; the command line of the engine no longer takes this word, its Python interface does"
    inputs = {
        "mamba_cache_mode": Input(value=mode, origin="derived", note=note),
        "mamba_cache_dtype": _input(request.mamba_cache_dtype, conv, "auto: the model dtype"),
        "mamba_ssm_cache_dtype": _input(
            request.mamba_ssm_cache_dtype, declared, "as the config declares; auto: that of the convolution state"
        ),
    }
    return StateSettings(
        mamba_cache_mode=mode,
        mamba_cache_dtype=conv,
        mamba_ssm_cache_dtype=given_ssm,
        mamba_chunk_size=_chunk_size(config),
        inputs=inputs,
    )


def _nemotron_h_dtype(config: ModelConfig, convolution: str, profile: Profile) -> str:
    """What a release sets for Nemotron-H (`NemotronHForCausalLMConfig.update_mamba_ssm_cache_dtype`)."""
    default = profile.nemotron_h_state_dtype
    if default != MODEL_DTYPE:
        return state_dtype(config, "mamba_ssm_cache_dtype", default) or AUTO
    return convolution


def can_reuse_states(traits: Traits, profile: Profile) -> bool:
    """Whether prefix caching stays on for a model with states; releases up to 0.14 switch it back off for most."""
    if profile.state_reuse == "never":
        return False
    return profile.state_reuse != "mamba_all" or traits.state_per_block


def _reuse_mode(asked: str | None, traits: Traits, profile: Profile) -> str:
    """The mode prefix caching takes.

    Up to 0.14 there is no flag; up to 0.27 ``all`` is the default of the classes that can
    (vLLM 0.16.0 `MambaModelConfig.verify_and_update_config`); from 0.28 on ``align`` is, and from 0.32 on the flag is read
    without effect, whatever it says: only the command line checks the word (vLLM 0.33.0 `EngineArgs.create_engine_config`).
    """
    if profile.state_reuse == "mamba_all":
        return ALL
    if profile.state_reuse == "align" or not traits.state_per_block:
        return ALIGN
    default = ALL if profile.state_reuse == "all_or_align" else ALIGN
    return default if asked in {None, NONE} else str(asked)


def _check_mode(request: Request, profile: Profile) -> None:
    if request.mamba_cache_mode is not None and profile.state_reuse in {"never", "mamba_all"}:
        rule = f"vLLM {profile.version} has no such flag; releases from 0.15 on do"
        raise refusal("mamba_cache_mode", request.mamba_cache_mode, rule, "Leave it out.")


def _chunk_size(config: ModelConfig | None) -> int:
    """Tokens a state kernel works through at a time (vLLM 0.16.0 `ModelConfig.get_mamba_chunk_size`)."""
    for key in ("mamba_chunk_size", "chunk_size"):
        size = None if config is None else config.get(key)
        if isinstance(size, int) and not isinstance(size, bool) and size > 0:
            return size
    return NO_CHUNK


def declared_ssm_dtype(config: ModelConfig) -> str:
    """What ``auto`` means for this checkpoint (vLLM 0.33.0 `NemotronHForCausalLMConfig`, `Qwen3_5...Config`)."""
    if config.model_type == "nemotron_h":
        return state_dtype(config, "mamba_ssm_cache_dtype", "float32") or "auto"
    if config.architecture in DTYPE_DECLARING_ARCHITECTURES:
        return state_dtype(config, "mamba_ssm_dtype", None) or "auto"
    return "auto"


def _input(given: str | None, value: str, note: str) -> Input:
    return Input(value=value, origin="given" if given else "default", note="" if given else note)
