"""Attention backend and page size: SGLang's choice by model and GPU, and the pages each backend can read."""

from collections.abc import Mapping
from dataclasses import dataclass

from kvcore.catalog.gpus import BLACKWELL, HOPPER
from kvcore.engines.sglang import architectures as known
from kvcore.engines.sglang.drafts import Drafts
from kvcore.engines.sglang.model import ServedModel
from kvcore.errors import refusal

DEEPSEEK_V4_PAGE = 256
SPARSE_PAGE = 64

PAGES: Mapping[str, tuple[tuple[int, ...], int]] = {
    "flashmla": ((64,), 64),
    "trtllm_mla": ((32, 64), 64),
    "cutedsl_mla": ((32, 64), 64),
    "trtllm_mha": ((16, 32, 64, 128), 64),
    "hpc_ops": ((64,), 64),
}
"""Page sizes a backend reads, and the one taken instead of any other (SGLang 0.5.23 `_mla_backend_page_constraints`)."""

FA4_PAGE = 128

GENERATIONS: Mapping[str, frozenset[int]] = {
    "trtllm_mha": frozenset({9, 10, 12}),
    "trtllm_mla": frozenset({10, 12}),
    "cutedsl_mla": frozenset({10}),
}
"""Major compute capabilities a backend runs on, for those SGLang checks (`handle_attention_backend_compatibility`)."""

TREE_BACKENDS = frozenset({"flashinfer", "fa3", "triton"})
NGRAM_BACKENDS = frozenset({"flashinfer"})
"""Backends that read pages of several tokens under a tree of drafts (SGLang 0.5.23 `_PAGE_TREE_SPEC_BACKENDS`)."""

_BLACKWELL_DEFAULTS: Mapping[str, str] = {
    "GptOssForCausalLM": "trtllm_mha",
    "Gemma4ForCausalLM": "trtllm_mha",
    "Gemma4ForConditionalGeneration": "trtllm_mha",
    "Gemma4UnifiedForConditionalGeneration": "trtllm_mha",
    "Llama4ForConditionalGeneration": "trtllm_mha",
    "Llama4ForCausalLM": "trtllm_mha",
    "Olmo2ForCausalLM": "trtllm_mha",
    "Exaone4ForCausalLM": "trtllm_mha",
    "ExaoneMoEForCausalLM": "trtllm_mha",
    "ExaoneMoeForCausalLM": "trtllm_mha",
    "MiMoV2ForCausalLM": "fa4",
    "MiMoV2FlashForCausalLM": "fa4",
    "Lfm2ForCausalLM": "flashinfer",
    "Lfm2MoeForCausalLM": "flashinfer",
    "GraniteMoeHybridForCausalLM": "flashinfer",
    "FalconH1ForCausalLM": "triton",
}
"""Backends of model families on B200 and B300 (SGLang 0.5.23 `arg_groups/model_overrides`)."""

_OTHER_DEFAULTS: Mapping[str, tuple[str, str]] = {
    "Gemma4ForCausalLM": ("triton", "triton"),
    "Gemma4ForConditionalGeneration": ("triton", "triton"),
    "Gemma4UnifiedForConditionalGeneration": ("triton", "triton"),
    "GptOssForCausalLM": ("fa3", "triton"),
    "Llama4ForConditionalGeneration": ("fa3", "triton"),
    "Llama4ForCausalLM": ("fa3", "triton"),
    "Olmo2ForCausalLM": ("fa3", "fa3"),
    "Exaone4ForCausalLM": ("fa3", "fa3"),
    "ExaoneMoEForCausalLM": ("fa3", "fa3"),
    "ExaoneMoeForCausalLM": ("fa3", "fa3"),
}
"""Backends of model families on Hopper, and on every other GPU from compute capability 8.0 on."""


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """The attention backend and the page size it leaves."""

    attention_backend: str
    page_size: int


@dataclass(frozen=True, kw_only=True)
class KernelQuery:
    """What decides backend and page size.

    Attributes:
        model: The checkpoint.
        major: Major compute capability.
        asymmetric: Keys and values differ in width.
        attention_backend: As given; None: SGLang's choice.
        page_size: As given; None: by backend.
        drafts: Speculative decoding.
        kv_cache_dtype: Element type of the token pool.
        topk_given: The branches of the draft tree were given, not chosen.
        keeps_snapshots: A strategy with snapshots of states was asked for by name.
        disable_radix_cache: Nothing is kept for reuse.
    """

    model: ServedModel
    major: int
    asymmetric: bool
    attention_backend: str | None
    page_size: int | None
    drafts: Drafts | None
    kv_cache_dtype: str
    topk_given: bool
    keeps_snapshots: bool
    disable_radix_cache: bool


def choose_kernels(query: KernelQuery) -> Kernels:
    """Backend and page size in force (SGLang 0.5.23 `_attention_backend_default`, `_page_size_default`)."""
    if query.model.is_deepseek_v4:
        return Kernels(attention_backend="dsv4", page_size=DEEPSEEK_V4_PAGE)
    if query.model.sparse:
        backend = query.attention_backend or "dsa"
        _check_readable(backend, query)
        _check_trees(backend, SPARSE_PAGE, query.drafts)
        return Kernels(attention_backend=backend, page_size=SPARSE_PAGE)
    backend = query.attention_backend or _default_backend(query)
    _check_readable(backend, query)
    forced = forced_page(query)
    page = query.page_size if forced is None else forced
    page = 1 if page is None else page
    readable, instead = PAGES.get(backend, ((page,), page))
    if page not in readable:
        page = instead
    if backend == "trtllm_mla" and query.kv_cache_dtype == "fp8_e5m2":
        rule = "TensorRT-LLM's latent kernels read fp8_e4m3 or bfloat16"  # SGLang 0.5.23 `_mla_kv_cache_dtype_checks`
        raise refusal("kv_cache_dtype", query.kv_cache_dtype, rule, "Use fp8_e4m3, or another attention_backend.")
    if backend == "fa3" and query.kv_cache_dtype == "fp8_e5m2":
        backend = "triton"  # SGLang 0.5.23 `_attention_backend_fa3_fp8_fallback`
    if backend == "fa4" and not query.model.latent and query.major == BLACKWELL and _is_chain(query):
        page = FA4_PAGE
    _check_trees(backend, page, query.drafts)
    return Kernels(attention_backend=backend, page_size=page)


def _check_trees(backend: str, page: int, drafts: Drafts | None) -> None:
    """Trees of drafts over pages (SGLang 0.5.23 `_handle_eagle_family`, `_handle_ngram`)."""
    if drafts is None or drafts.num_branches == 1:
        return
    if backend == "trtllm_mha" and drafts.algorithm != "NGRAM":
        rule = "trtllm_mha verifies chains of drafts only"
        raise refusal("speculative_eagle_topk", drafts.num_branches, rule, "Use 1, or another attention_backend.")
    readable = TREE_BACKENDS if drafts.algorithm != "NGRAM" else NGRAM_BACKENDS
    if page > 1 and backend not in readable:
        rule = f"drafts of {drafts.num_branches} branches over pages of {page} tokens need {', '.join(sorted(readable))}, not {backend}"
        raise refusal("attention_backend", backend, rule, "Use one of them, or pages of one token.")


def forced_page(query: KernelQuery) -> int | None:
    """The page size of Qwen's hybrids on B200 and B300 whatever was asked for; None: as asked for.

    Source: SGLang 0.5.23 `_qwen3_5_hybrid_overrides`.
    """
    is_qwen_hybrid = query.model.architecture in known.QWEN_HYBRIDS and query.major == BLACKWELL
    if not is_qwen_hybrid or query.attention_backend is not None:
        return None
    return PAGES["trtllm_mha"][1] if _qwen_hybrid_backend(query) == "trtllm_mha" else 1


def _check_readable(backend: str, query: KernelQuery) -> None:
    """Backends a model family can be read with (SGLang 0.5.23 `handle_model_specific_adjustments`)."""
    generations = GENERATIONS.get(backend)
    if generations is not None and query.major not in generations:
        capabilities = " or ".join(f"{major}.x" for major in sorted(generations))
        rule = f"{backend} needs compute capability {capabilities}, not {query.major}.x"
        raise refusal("attention_backend", backend, rule, "Use another backend, or such a GPU.")
    accepted = known.ACCEPTED_BACKENDS.get(query.model.architecture)
    if accepted is not None and backend not in accepted:
        rule = f"SGLang reads {query.model.architecture} with {', '.join(sorted(accepted))}, not {backend}"
        raise refusal("attention_backend", backend, rule, "Use one of them, or leave it out.")
    if backend == "triton" and query.model.architecture in known.NEVER_TRITON:
        rule = f"SGLang does not read {query.model.architecture} with triton"
        raise refusal("attention_backend", backend, rule, "Leave it out.")


def _default_backend(query: KernelQuery) -> str:
    """The family's backend, else the generic one (SGLang 0.5.23 `get_default_attn_backend`)."""
    name = query.model.architecture
    if query.major == BLACKWELL:
        if name in known.QWEN_HYBRIDS:
            return _qwen_hybrid_backend(query)
        if name in known.DEEPSEEK_FAMILY:
            return "trtllm_mla"
        if name == "NemotronHForCausalLM":
            return "trtllm_mha" if _is_chain(query) else "triton"
        if name in _BLACKWELL_DEFAULTS:
            return _BLACKWELL_DEFAULTS[name]
    if name in known.BLACKWELL_OF_EVERY_KIND and query.major >= BLACKWELL:
        return "fa4"
    if query.major != BLACKWELL and name in _OTHER_DEFAULTS:
        on_hopper, elsewhere = _OTHER_DEFAULTS[name]
        return on_hopper if query.major == HOPPER else elsewhere
    return _generic_backend(query)


def _generic_backend(query: KernelQuery) -> str:
    if query.major == HOPPER and (query.model.latent or _is_plain(query)):
        return "fa3"
    if query.model.latent:
        return "flashinfer" if query.major == BLACKWELL else "triton"
    if query.major == BLACKWELL and _is_plain(query) and (query.drafts is None or query.topk_given):
        return "fa4" if query.asymmetric else "trtllm_mha"
    return "triton" if query.model.attention_sinks else "flashinfer"


def _qwen_hybrid_backend(query: KernelQuery) -> str:
    """Triton, whose pages may be one token, unless snapshots, drafts or no reuse allow larger ones.

    Source: SGLang 0.5.23 `_qwen3_5_hybrid_overrides`, which runs before the strategy ``auto`` is resolved.
    """
    needs_single_tokens = not query.keeps_snapshots and not query.disable_radix_cache and query.drafts is None
    generic = _generic_backend(query)
    return "triton" if needs_single_tokens or generic != "trtllm_mha" else generic


def _is_chain(query: KernelQuery) -> bool:
    """Whether drafts are asked for in no more than one branch; the branches SGLang chooses itself come later."""
    return query.drafts is None or not query.topk_given or query.drafts.topk == 1


def _is_plain(query: KernelQuery) -> bool:
    """No drafts, or one branch over pages of one token (SGLang 0.5.23 `is_no_spec_infer_or_topk_one`)."""
    if query.drafts is None or not query.topk_given:
        return True
    return query.drafts.topk == 1 and query.page_size in {None, 1}
