"""Architectures of multi-head latent attention, with and without an indexer, and compressed caches."""

from collections.abc import Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.layout.architecture import Architecture, CacheBuilder, DraftBuilder
from kvcore.layout.block_sparse import DENSE, block_sparse, block_sparse_kinds, index_key
from kvcore.layout.block_sparse import SPARSE as BLOCK_SPARSE
from kvcore.layout.compressed import (
    HEAVY,
    SPARSE,
    WINDOW,
    compressed_indexer,
    compressed_kinds,
    compressed_latent,
    compressor_state,
    indexer_compressor_state,
    window_latent,
)
from kvcore.layout.drafts import mtp_layers
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.indexer import indexer
from kvcore.layout.kimi_delta import glm_kimi_delta
from kvcore.layout.latent import latent, latent_or_heads
from kvcore.layout.layer_kinds import every_layer
from kvcore.layout.pooled_indexer import (
    INDEXED,
    LINEAR,
    glm_sparse_kinds,
    glm_sparse_latent,
    pooled_indexer,
    tail_ring,
)
from kvcore.layout.traits import Traits

LATENT = Traits(latent=True)


def _latent(
    module: str, traits: Traits = LATENT, mtp: DraftBuilder | None = None, cache: CacheBuilder = latent
) -> Architecture:
    """Latents in every layer, whatever the model type; an indexer where the checkpoint names one."""
    return Architecture(
        layer_kinds=every_layer("latent"),
        caches={"latent": (indexer, cache)},
        traits=traits,
        mtp=mtp,
        source=f"vLLM 0.33.0 `models/{module}`",
    )


def _deepseek(module: str, traits: Traits = LATENT, mtp: DraftBuilder | None = None) -> Architecture:
    """DeepSeek's decoder: latents, or heads where the checkpoint has none."""
    return _latent(module, traits, mtp, latent_or_heads)


DEEPSEEK_MTP = mtp_layers(
    indexer, latent_or_heads, model_types=frozenset({"deepseek_v3", "deepseek_v32", "glm_moe_dsa"})
)
"""vLLM 0.33.0 `DeepSeekMTP` and `DeepseekV32MTP`, for the model types `SpeculativeConfig` turns into drafters."""


def _two_attentions_per_layer(config: ModelConfig) -> Sequence[str]:
    """LongCat's layers, each with two attentions; ``num_hidden_layers`` counts attentions (`FlashDecoderLayer`)."""
    layers = config.optional_integer("num_layers")
    return ("two latents",) * (layers if layers is not None else config.num_hidden_layers // 2)


def _longcat(module: str) -> Architecture:
    return Architecture(
        layer_kinds=_two_attentions_per_layer,
        caches={"two latents": (latent, latent)},
        traits=LATENT,
        mtp=mtp_layers(latent, fixed=1),
        source=f"vLLM 0.33.0 `models/{module}`",
    )


def _compressed() -> Architecture:
    """DeepSeek V4: caches in the order its attention creates them (`DeepseekV4Attention.__init__`)."""
    return Architecture(
        layer_kinds=compressed_kinds,
        caches={
            WINDOW: (window_latent,),
            SPARSE: (
                compressed_indexer, indexer_compressor_state, window_latent, compressed_latent, compressor_state,
            ),
            HEAVY: (window_latent, compressed_latent, compressor_state),
        },
        traits=LATENT,
        mtp=mtp_layers(window_latent, model_types=frozenset({"deepseek_v4"})),
        source="vLLM 0.33.0 `models/deepseek_v4`",
    )  # fmt: skip


def _pooled_hybrid() -> Architecture:
    """GLM-5.3-Flash: linear attention, and sparse latents with a pooled indexer."""
    indexed = (pooled_indexer, tail_ring, glm_sparse_latent)
    return Architecture(
        layer_kinds=glm_sparse_kinds,
        caches={LINEAR: (glm_kimi_delta,), INDEXED: indexed},
        traits=Traits(latent=True, keeps_state=True, blackwell_kv_cache_dtype="fp8"),
        mtp=mtp_layers(*indexed, model_types=frozenset({"glm5_next"})),
        source="vLLM 0.33.0 `models/glm5next`",
    )


def _block_sparse() -> Architecture:
    """MiniMax M3: whole keys and values everywhere, index keys in sparse layers."""
    return Architecture(
        layer_kinds=block_sparse_kinds,
        caches={DENSE: (grouped_query,), BLOCK_SPARSE: (index_key, block_sparse)},
        mtp=mtp_layers(index_key, block_sparse, key="num_mtp_modules", default=1),
        source="vLLM 0.33.0 `models/minimax_m3`",
    )


LATENTS: Mapping[str, Architecture] = {
    "AXK1ForCausalLM": _deepseek("AXK1.py"),
    "DeepseekForCausalLM": _deepseek("deepseek_v2.py", Traits()),
    "DeepseekOCR2ForCausalLM": _deepseek("deepseek_ocr2.py", Traits()),
    "DeepseekOCRForCausalLM": _deepseek("deepseek_ocr.py", Traits()),
    "DeepseekV2ForCausalLM": _deepseek("deepseek_v2.py"),
    "DeepseekV32ForCausalLM": _latent("deepseek_v32", mtp=DEEPSEEK_MTP),
    "DeepseekV3ForCausalLM": _deepseek("deepseek_v2.py", mtp=DEEPSEEK_MTP),
    "DeepseekVLV2ForCausalLM": _deepseek("deepseek_vl2.py"),
    "DeepseekV4ForCausalLM": _compressed(),
    "DeepseekV4ForConditionalGeneration": _compressed(),
    "Glm4MoeLiteForCausalLM": _latent("glm4_moe_lite.py", mtp=mtp_layers(latent)),
    "Glm5NextForCausalLM": _pooled_hybrid(),
    "Glm5NextForConditionalGeneration": _pooled_hybrid(),
    "GlmMoeDsaForCausalLM": _latent(
        "deepseek_v32", Traits(latent=True, blackwell_kv_cache_dtype="fp8_e4m3"), mtp=DEEPSEEK_MTP
    ),
    "KimiK25ForConditionalGeneration": _deepseek("kimi_k25.py"),
    "KimiVLForConditionalGeneration": _deepseek("kimi_vl.py"),
    "LongcatFlashForCausalLM": _longcat("longcat_flash.py"),
    "LongcatFlashNgramForCausalLM": _longcat("longcat_flash_ngram.py"),
    "MiniMaxM3SparseForCausalLM": _block_sparse(),
    "MiniMaxM3SparseForConditionalGeneration": _block_sparse(),
    "MistralLarge3ForCausalLM": _deepseek("mistral_large_3.py"),
    "PanguUltraMoEForCausalLM": _latent(
        "openpangu.py", mtp=mtp_layers(latent, model_types=frozenset({"pangu_ultra_moe"}))
    ),
    "SarvamMLAForCausalLM": _latent("sarvam.py"),
}
"""One row per architecture."""
