"""Architectures that keep a state per request: recurrent, linear attention or short convolution, alone or in hybrids."""

import dataclasses
from collections.abc import Mapping

from kvcore.layout.architecture import Architecture, CacheBuilder, DraftBuilder
from kvcore.layout.architectures.wrappers import SIGLIP, VISION
from kvcore.layout.drafts import mtp_layers
from kvcore.layout.gated_delta_net import olmo_gated_delta_net, qwen_gated_delta_net
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.hybrid_attention import bailing_latent, hidden_wide_query, nemotron_attention, zamba2_attention
from kvcore.layout.hybrid_drafts import nemotron_drafts
from kvcore.layout.hybrid_kinds import (
    all_states,
    bailing_kinds,
    bailing_v3_kinds,
    every_nth_attends,
    jamba_kinds,
    kimi_kinds,
    layer_types_or,
    lfm2_kinds,
    nemotron_kinds,
    no_layer_types,
    olmo_kinds,
    zamba2_default_kinds,
)
from kvcore.layout.kimi_delta import bailing_kimi_delta, kimi_delta
from kvcore.layout.latent import kimi_latent
from kvcore.layout.layer_kinds import LayerKinds, every_layer
from kvcore.layout.lightning_attention import lightning_attention
from kvcore.layout.mamba1 import jamba_mamba, mamba1
from kvcore.layout.mamba2 import falcon_h1_mamba2, granite_mamba2, mamba2, nemotron_mamba2, zamba2_mamba2
from kvcore.layout.short_convolution import moe_short_convolution, short_convolution
from kvcore.layout.traits import Traits

_VLLM = "vLLM 0.33.0"


def _hybrid(
    source: str,
    kinds: LayerKinds,
    *,
    state: CacheBuilder,
    attention: CacheBuilder,
    state_kind: str = "linear_attention",
    state_per_block: bool = False,
    supports_pipeline: bool = True,
    mtp: DraftBuilder | None = None,
) -> Architecture:
    """Layers that attend among layers that keep a state."""
    is_latent = attention in {kimi_latent, bailing_latent}
    return Architecture(
        layer_kinds=kinds,
        caches={state_kind: (state,), "full_attention": (attention,)},
        traits=Traits(
            keeps_state=True, state_per_block=state_per_block, latent=is_latent, supports_pipeline=supports_pipeline
        ),
        source=f"{_VLLM} {source}",
        mtp=mtp,
    )


def _pure_state(source: str, state: CacheBuilder, *, supports_pipeline: bool) -> Architecture:
    """No layer attends: prefix caching is off by default and the length cannot be left to the engine."""
    return Architecture(
        layer_kinds=every_layer("linear_attention"),
        caches={"linear_attention": (state,)},
        traits=Traits(
            keeps_state=True,
            state_per_block=True,
            attention_free=True,
            prefix_caching=False,
            supports_pipeline=supports_pipeline,
        ),
        source=f"{_VLLM} {source}",
    )


def _qwen(source: str, *, drafts_key: str | None) -> Architecture:
    return _hybrid(
        source,
        layer_types_or(every_nth_attends("full_attention_interval", 4)),
        state=qwen_gated_delta_net,
        attention=grouped_query,
        mtp=mtp_layers(grouped_query, key=drafts_key, default=1) if drafts_key else None,
    )


def _nemotron(
    source: str,
    *,
    state_per_block: bool = True,
    supports_pipeline: bool = True,
    mtp: DraftBuilder | None = nemotron_drafts,
) -> Architecture:
    return Architecture(
        layer_kinds=nemotron_kinds,
        caches={"linear_attention": (nemotron_mamba2,), "full_attention": (nemotron_attention,), "mlp": (), "moe": ()},
        traits=Traits(keeps_state=True, state_per_block=state_per_block, supports_pipeline=supports_pipeline),
        source=f"{_VLLM} {source}",
        mtp=mtp,
    )


def _kimi(source: str, mtp: DraftBuilder | None) -> Architecture:
    return _hybrid(source, kimi_kinds, state=kimi_delta, attention=kimi_latent, mtp=mtp)


def _bailing(source: str, kinds: LayerKinds, state: CacheBuilder) -> Architecture:
    drafts = mtp_layers(bailing_latent)
    return _hybrid(source, kinds, state=state, attention=bailing_latent, mtp=drafts)


def _lfm2(source: str, kinds: LayerKinds, state: CacheBuilder) -> Architecture:
    return _hybrid(source, kinds, state=state, attention=hidden_wide_query, state_kind="conv")


_QWEN3_5 = _qwen("`models/qwen3_5.py`", drafts_key="mtp_num_hidden_layers")
_QWEN3_5_VL = dataclasses.replace(_QWEN3_5, tower_keys=VISION)
_LFM2_KINDS = layer_types_or(lfm2_kinds)

STATES: Mapping[str, Architecture] = {
    "MambaForCausalLM": _pure_state("`models/mamba.py`", mamba1, supports_pipeline=True),
    "FalconMambaForCausalLM": _pure_state("`models/mamba.py`", mamba1, supports_pipeline=True),
    "Mamba2ForCausalLM": _pure_state("`models/mamba2.py`", mamba2, supports_pipeline=False),
    "JambaForCausalLM": _hybrid(
        "`models/jamba.py`", jamba_kinds, state=jamba_mamba, attention=grouped_query, state_per_block=True
    ),
    "Zamba2ForCausalLM": Architecture(
        layer_kinds=layer_types_or(zamba2_default_kinds, "layers_block_type", "layer_types"),
        caches={"linear_attention": (zamba2_mamba2,), "hybrid": (zamba2_attention, zamba2_mamba2)},
        traits=Traits(keeps_state=True, state_per_block=True, supports_pipeline=False),
        source=f"{_VLLM} `models/zamba2.py`",
    ),
    "FalconH1ForCausalLM": Architecture(
        layer_kinds=every_layer("hybrid"),
        caches={"hybrid": (grouped_query, falcon_h1_mamba2)},
        traits=Traits(keeps_state=True, state_per_block=True),
        source=f"{_VLLM} `models/falcon_h1.py`",
    ),
    "GraniteMoeHybridForCausalLM": _hybrid(
        "`models/granitemoehybrid.py`",
        layer_types_or(all_states, "layer_types", "layers_block_type"),
        state=granite_mamba2,
        attention=hidden_wide_query,
        state_per_block=True,
    ),
    "NemotronHForCausalLM": _nemotron("`models/nemotron_h.py`"),
    "NemotronH_Nano_VL_V2": _nemotron(
        "`models/nano_nemotron_vl.py`", state_per_block=False, supports_pipeline=False, mtp=None
    ),
    "Qwen3NextForCausalLM": _qwen("`models/qwen3_next.py`", drafts_key="num_nextn_predict_layers"),
    "Qwen3_5ForCausalLM": _QWEN3_5,
    "Qwen3_5MoeForCausalLM": _QWEN3_5,
    "Qwen3_5ForConditionalGeneration": _QWEN3_5_VL,
    "Qwen3_5MoeForConditionalGeneration": _QWEN3_5_VL,
    "InternS2PreviewForConditionalGeneration": _qwen(
        "`models/interns2_preview.py`", drafts_key="mtp_num_hidden_layers"
    ),
    "MiniCPMV4_6ForConditionalGeneration": _qwen("`models/minicpmv4_6.py`", drafts_key=None),
    "OlmoHybridForCausalLM": _hybrid(
        "`models/olmo_hybrid.py`", layer_types_or(olmo_kinds), state=olmo_gated_delta_net, attention=hidden_wide_query
    ),
    "Lfm2ForCausalLM": _lfm2("`models/lfm2.py`", _LFM2_KINDS, short_convolution),
    "Lfm2VlForConditionalGeneration": dataclasses.replace(
        _lfm2("`models/lfm2_vl.py`", _LFM2_KINDS, short_convolution), tower_keys=SIGLIP
    ),
    "Lfm2MoeForCausalLM": _lfm2("`models/lfm2_moe.py`", layer_types_or(no_layer_types), moe_short_convolution),
    "KimiLinearForCausalLM": _kimi("`models/kimi_k3`", None),
    "KimiK3ForConditionalGeneration": _kimi("`models/kimi_k3`", mtp_layers(kimi_latent)),
    "BailingMoeV2_5ForCausalLM": _bailing("`models/bailing_moe_linear.py`", bailing_kinds, lightning_attention),
    "BailingMoeV3ForCausalLM": _bailing("`models/bailing_moe_v3.py`", bailing_v3_kinds, bailing_kimi_delta),
}
"""One row per architecture."""
