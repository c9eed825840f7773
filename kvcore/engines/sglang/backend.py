"""Attention backend and page size: SGLang's choice by model and GPU, and the pages each backend can read."""

from collections.abc import Mapping
from dataclasses import dataclass

from kvcore.engines.sglang import architectures as known
from kvcore.engines.sglang.drafts import Drafts
from kvcore.engines.sglang.model import ServedModel

HOPPER, BLACKWELL = 9, 10
"""Major compute capabilities: H100 and H200; B200 and B300 (consumer Blackwell is 12)."""

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

_BLACKWELL_DEFAULTS: Mapping[str, str] = {
    "GptOssForCausalLM": "trtllm_mha",
    "Gemma4ForCausalLM": "trtllm_mha",
    "Gemma4ForConditionalGeneration": "trtllm_mha",
    "Gemma4UnifiedForConditionalGeneration": "trtllm_mha",
    "Llama4ForConditionalGeneration": "trtllm_mha",
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
    topk_given: bool
    keeps_snapshots: bool
    disable_radix_cache: bool


def choose_kernels(query: KernelQuery) -> Kernels:
    """Backend and page size in force (SGLang 0.5.23 `_attention_backend_default`, `_page_size_default`)."""
    if query.model.is_deepseek_v4:
        return Kernels(attention_backend="dsv4", page_size=DEEPSEEK_V4_PAGE)
    if query.model.sparse:
        return Kernels(attention_backend=query.attention_backend or "dsa", page_size=SPARSE_PAGE)
    backend = query.attention_backend or _default_backend(query)
    page = query.page_size if query.page_size is not None else 1
    readable, instead = PAGES.get(backend, ((page,), page))
    if page not in readable:
        page = instead
    if backend == "fa4" and not query.model.latent and query.major == BLACKWELL and _is_chain(query.drafts):
        page = FA4_PAGE
    return Kernels(attention_backend=backend, page_size=page)


def _default_backend(query: KernelQuery) -> str:
    """The family's backend, else the generic one (SGLang 0.5.23 `get_default_attn_backend`)."""
    name = query.model.architecture
    if query.major == BLACKWELL:
        if name in known.QWEN_HYBRIDS:
            return _qwen_hybrid_backend(query)
        if name in known.DEEPSEEK_FAMILY:
            return "trtllm_mla"
        if name == "NemotronHForCausalLM":
            return "trtllm_mha" if _is_chain(query.drafts) else "triton"
        if name in _BLACKWELL_DEFAULTS:
            return _BLACKWELL_DEFAULTS[name]
    elif name in _OTHER_DEFAULTS:
        on_hopper, elsewhere = _OTHER_DEFAULTS[name]
        return on_hopper if query.major == HOPPER else elsewhere
    return _generic_backend(query)


def _generic_backend(query: KernelQuery) -> str:
    if query.major == HOPPER and (query.model.latent or _is_chain(query.drafts)):
        return "fa3"
    if query.model.latent:
        return "flashinfer" if query.major == BLACKWELL else "triton"
    if query.major == BLACKWELL and _is_chain(query.drafts) and (query.drafts is None or query.topk_given):
        return "fa4" if query.asymmetric else "trtllm_mha"
    return "flashinfer"


def _qwen_hybrid_backend(query: KernelQuery) -> str:
    """Triton, whose pages may be one token, unless snapshots, drafts or no reuse allow larger ones.

    Source: SGLang 0.5.23 `_qwen3_5_hybrid_overrides`, which runs before the strategy ``auto`` is resolved.
    """
    needs_single_tokens = not query.keeps_snapshots and not query.disable_radix_cache and query.drafts is None
    generic = _generic_backend(query)
    return "triton" if needs_single_tokens or generic != "trtllm_mha" else generic


def _is_chain(drafts: Drafts | None) -> bool:
    return drafts is None or drafts.topk == 1
