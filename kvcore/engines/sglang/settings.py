"""Settings: every SGLang flag that sizes pools, after defaults, and where each value came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kvcore.arithmetic import GIB, MIB
from kvcore.catalog.gpus import BLACKWELL, Gpu, find_gpu
from kvcore.config import ModelConfig
from kvcore.dtypes import canonical
from kvcore.engines.recorder import InputRecorder
from kvcore.engines.sglang import architectures as known
from kvcore.engines.sglang.backend import KernelQuery, choose_kernels, forced_page
from kvcore.engines.sglang.checks import (
    FOUR_BIT,
    check_attention_ranks,
    check_drafts,
    check_four_bit,
    check_value_width,
)
from kvcore.engines.sglang.drafts import DEFAULT_RUNNING_REQUESTS, Drafts, resolve_drafts
from kvcore.engines.sglang.memory_fraction import (
    SMALL_PREFILL_CAPTURE,
    Headroom,
    decode_max_bs,
    default_fraction,
    gpu_class,
)
from kvcore.engines.sglang.model import ServedModel
from kvcore.engines.sglang.state_slots import StateReuse, resolve_state_reuse
from kvcore.engines.sglang.vision import expanded_batch, is_tuned, vision_reserve_gib
from kvcore.errors import refusal
from kvcore.layout.cache import AttentionCache
from kvcore.layout.layout import Layout
from kvcore.report.report import Input
from kvcore.request import Request

DEFAULT_GPU = "H100"
DEFAULT_WINDOW_RATIO = 0.8
DEEPSEEK_V4_WINDOW_RATIO = 0.1
DEEPSEEK_V4_RUNNING_REQUESTS = 256
DEFAULT_STATE_RATIO = 0.9
LLAMA2_CAPTURE = 4096
MOST_WITH_ARRIVALS = 32
"""Running requests of a decode server up to which it keeps room for others to arrive (`handle_pd_disaggregation`)."""


@dataclass(frozen=True, kw_only=True)
class SglangSettings:
    """What SGLang works with once every default is filled in (names as in its `ServerArgs`)."""

    gpu: Gpu
    tp_size: int
    pp_size: int
    dp_size: int
    attn_dp_size: int
    context_len: int
    kv_cache_dtype: str
    mem_fraction_static: float
    headroom: Headroom | None
    chunked_prefill_size: int
    page_size: int
    attention_backend: str
    sparse_backends: tuple[str, str]
    max_running_requests: int | None
    max_total_tokens: int | None
    swa_full_tokens_ratio: float
    disable_hybrid_swa_memory: bool
    disable_radix_cache: bool
    role: str
    arriving_requests: int
    state_reuse: StateReuse
    mamba_full_memory_ratio: float
    max_mamba_cache_size: int | None
    temporal_dtype: str
    drafts: Drafts | None
    vision_gib: float
    inputs: Mapping[str, Input] = field(repr=False)

    @property
    def attn_tp_size(self) -> int:
        """Ranks that share one request's attention."""
        return self.tp_size // self.attn_dp_size

    @property
    def requests_per_group(self) -> int | None:
        """Requests asked for per data-parallel attention group; None where they were not."""
        return None if self.max_running_requests is None else max(1, self.max_running_requests // self.attn_dp_size)

    @property
    def num_draft_tokens(self) -> int:
        """Tokens verified at once; 0 without drafts."""
        return 0 if self.drafts is None else self.drafts.num_draft_tokens

    @property
    def num_state_drafts(self) -> int:
        """Copies of a state per request for verification; a prefill server verifies nothing.

        Source: SGLang 0.5.23 `_pd_prefill_skips_mamba_spec_state`.
        """
        return 0 if self.role == "prefill" else self.num_draft_tokens


class _Ledger(InputRecorder):
    """Notes each value with its origin as it is settled."""

    def switch(self, name: str) -> bool:
        """A flag that is off unless it is given."""
        return bool(self.take(name, default=False, note="SGLang default"))

    def settle(self, name: str, value: object, note: str) -> None:
        """A value SGLang settles by itself, whatever was given."""
        is_given = name in self.request.given and getattr(self.request, name) == value
        self.put(name, value, "given" if is_given else "derived", "" if is_given else note)


@dataclass(frozen=True, kw_only=True)
class _Ranks:
    """Parallel sizes: tensor, pipeline and data, and the groups data-parallel attention makes."""

    tp: int
    pp: int
    dp: int
    attn_dp: int


def resolve_settings(request: Request, config: ModelConfig, model: ServedModel, layout: Layout) -> SglangSettings:
    """Fills in SGLang's defaults.

    Raises:
        InputError: The GPU is unknown.
        EngineRefusal: SGLang refuses a value or a combination.
    """
    ledger = _Ledger(request)
    gpu = _gpu(request)
    ledger.put("gpu", gpu.name, "given" if request.gpu else "default", "")
    for name in ("available_before_load_gib", "available_after_load_gib", "weights_gib"):
        if name in request.given:
            ledger.put(name, getattr(request, name), "given", "")
    ranks = _ranks(ledger)
    check_attention_ranks(model, config, ranks.tp, ranks.attn_dp)
    check_value_width(config, layout, model)
    drafts = _drafts(ledger, model, ranks.attn_dp)
    role = ledger.take("disaggregation_mode", "null", "prefill and decode on one server")
    kv_cache_dtype = _kv_cache_dtype(request, model, gpu)
    ledger.settle(
        "kv_cache_dtype", kv_cache_dtype, "the checkpoint's, else the model dtype; sparse latents on B200 in fp8"
    )
    no_reuse = ledger.switch("disable_radix_cache")
    if role == "decode" and not no_reuse:
        no_reuse = True  # SGLang 0.5.23 `handle_pd_disaggregation`
        ledger.settle("disable_radix_cache", no_reuse, "a decode server keeps no prefixes")
    query = KernelQuery(
        model=model,
        major=gpu.capability[0],
        asymmetric=_is_asymmetric(layout),
        attention_backend=request.attention_backend,
        page_size=request.page_size,
        drafts=drafts,
        topk_given=request.speculative_eagle_topk is not None,
        kv_cache_dtype=kv_cache_dtype,
        keeps_snapshots=(request.mamba_radix_cache_strategy or "").startswith("extra_buffer"),
        disable_radix_cache=no_reuse,
    )
    state_reuse = resolve_state_reuse(
        request,
        model,
        disable_radix_cache=no_reuse,
        pp_size=ranks.pp,
        page_size=forced_page(query) or request.page_size,
    )
    kernels = choose_kernels(query)
    check_four_bit(kv_cache_dtype, kernels.attention_backend, gpu)
    ledger.settle("page_size", kernels.page_size, f"of the backend {kernels.attention_backend}")
    ledger.settle("attention_backend", kernels.attention_backend, f"SGLang's choice on {gpu.name}")
    gpu_mib = _gpu_mib(gpu, request)
    tuned = is_tuned(model, gpu, gpu_mib)
    headroom = _headroom(ledger, model, gpu_mib, ranks, role, tuned=tuned)
    vision = model.vision if role != "decode" else None
    fraction = ledger.take("mem_fraction_static", default_fraction(headroom, vision), "by GPU memory, chunk and graphs")
    chunk = headroom.chunked_prefill_size
    if ranks.attn_dp > 1:
        chunk //= ranks.attn_dp
        note = f"divided by {ranks.attn_dp} data-parallel attention groups"
        ledger.put("chunked_prefill_size", chunk, "derived", note)
    requests = _max_running_requests(request, model, drafts)
    if requests is not None:
        ledger.settle("max_running_requests", requests, "SGLang's default with drafts, or for this architecture")
    if request.max_total_tokens is not None:
        ledger.settle("max_total_tokens", request.max_total_tokens, "")
    if model.keeps_state:
        strategy = "auto" if state_reuse.strategy == "off" else state_reuse.strategy
        ledger.settle(
            "mamba_radix_cache_strategy", strategy, "auto: by model and scheduler; unused without prefix cache"
        )
        ledger.settle("mamba_ssm_dtype", _temporal_dtype(request, config), "the config's, else float32")
    return SglangSettings(
        gpu=gpu,
        tp_size=ranks.tp,
        pp_size=ranks.pp,
        dp_size=ranks.dp,
        attn_dp_size=ranks.attn_dp,
        context_len=ledger.take("context_length", _context(request, model), "the model's own limit"),
        kv_cache_dtype=kv_cache_dtype,
        mem_fraction_static=fraction,
        headroom=None if "mem_fraction_static" in request.given else headroom,
        chunked_prefill_size=chunk,
        page_size=kernels.page_size,
        attention_backend=kernels.attention_backend,
        sparse_backends=_sparse_backends(request, model, kv_cache_dtype, gpu),
        max_running_requests=requests,
        max_total_tokens=request.max_total_tokens,
        swa_full_tokens_ratio=ledger.take(
            "swa_full_tokens_ratio",
            DEEPSEEK_V4_WINDOW_RATIO if model.is_deepseek_v4 else DEFAULT_WINDOW_RATIO,
            "SGLang default",
        ),
        disable_hybrid_swa_memory=ledger.switch("disable_hybrid_swa_memory")
        or model.architecture in known.NO_HYBRID_WINDOW_MEMORY,
        disable_radix_cache=no_reuse,
        role=role,
        arriving_requests=_arriving_requests(request, role, ranks.dp),
        state_reuse=state_reuse,
        mamba_full_memory_ratio=ledger.take("mamba_full_memory_ratio", DEFAULT_STATE_RATIO, "SGLang default"),
        max_mamba_cache_size=request.max_mamba_cache_size,
        temporal_dtype=_temporal_dtype(request, config),
        drafts=drafts,
        vision_gib=vision_reserve_gib(
            model, tuned=tuned, nnodes=request.nnodes or 1, max_running_requests=request.max_running_requests
        ),
        inputs=ledger.inputs,
    )


def _ranks(ledger: _Ledger) -> _Ranks:
    tp, pp, dp = (ledger.take(name, 1, "SGLang default") for name in ("tp_size", "pp_size", "dp_size"))
    return _Ranks(tp=tp, pp=pp, dp=dp, attn_dp=dp if ledger.switch("enable_dp_attention") else 1)


def _drafts(ledger: _Ledger, model: ServedModel, attn_dp: int) -> Drafts | None:
    drafts = resolve_drafts(ledger.request, model)
    if drafts is None:
        return None
    check_drafts(drafts, attn_dp)
    note = f"{drafts.num_steps} steps, {drafts.topk} branches, {drafts.num_layers} drafter layers"
    ledger.put("speculative_algorithm", drafts.algorithm, "given", note)
    ledger.settle("speculative_num_draft_tokens", drafts.num_draft_tokens, "chosen by SGLang")
    return drafts


def _headroom(ledger: _Ledger, model: ServedModel, gpu_mib: int, ranks: _Ranks, role: str, *, tuned: bool) -> Headroom:
    """What decides the memory left outside the static share: the prefill chunk, and which graphs are captured."""
    request = ledger.request
    chunk = ledger.take("chunked_prefill_size", gpu_class(gpu_mib).chunked_prefill_size, "by GPU memory")
    if chunk == 0:
        raise refusal("chunked_prefill_size", chunk, "a chunk has at least one token", "Use -1 to turn chunking off.")
    batch = expanded_batch(
        decode_max_bs(gpu_mib, ranks.tp, request.max_running_requests), request.max_running_requests, tuned=tuned
    )
    captures = not ledger.switch("disable_cuda_graph")
    return Headroom(
        gpu_mib=gpu_mib,
        ranks=ranks.tp * ranks.pp,
        chunked_prefill_size=chunk,
        decode_max_bs=batch,
        attention_dp=ranks.attn_dp,
        latent=model.latent,
        captures_decode=captures,
        captures_prefill=captures and ranks.pp == 1 and model.captures_prefill,
        role=role,
        decode_tokens=(request.max_running_requests or batch) * (request.speculative_num_draft_tokens or 1),
        largest_capture=_largest_capture(request),
        fixed_capture=SMALL_PREFILL_CAPTURE if model.architecture in known.SMALL_PREFILL_CAPTURES else None,
    )


def _gpu(request: Request) -> Gpu:
    if request.gpu is None and request.gpu_memory_gib is not None:
        return Gpu(name="typed", usable_bytes=int(request.gpu_memory_gib * GIB), compute_capability="9.0")
    gpu = find_gpu(request.gpu or DEFAULT_GPU)
    if gpu.vendor != "nvidia":
        rule = "kvcore knows SGLang's defaults on NVIDIA GPUs only"
        raise refusal("gpu", gpu.name, rule, "Ask for an NVIDIA GPU, or for engine vllm.")
    return gpu


def _gpu_mib(gpu: Gpu, request: Request) -> int:
    """Memory as nvidia-smi prints it, from which every default follows."""
    if gpu.nvidia_smi_mib is not None:
        return gpu.nvidia_smi_mib
    if gpu.usable_bytes is not None:
        return gpu.usable_bytes // MIB
    rule = "the catalogue does not know this GPU's memory"
    raise refusal("gpu", gpu.name, rule, "Give gpu_memory_gib instead of the GPU's name.")


def _context(request: Request, model: ServedModel) -> int:
    given = request.context_length
    if given is not None and given > model.context_len:
        rule = f"SGLang refuses a context longer than the model's {model.context_len:,} tokens"
        raise refusal("context_length", given, rule, f"Use at most {model.context_len:,} tokens.")
    return model.context_len


def _largest_capture(request: Request) -> int | None:
    """Cap of the tokens prefill is captured for: the token cap, and 4,096 for Llama 2 (`handle_gpu_memory_settings`)."""
    path = request.model or str((request.config or {}).get("_name_or_path", ""))
    caps = [request.max_total_tokens, LLAMA2_CAPTURE if "llama-2" in path.lower() else None]
    return min((cap for cap in caps if cap is not None), default=None)


def _kv_cache_dtype(request: Request, model: ServedModel, gpu: Gpu) -> str:
    """Element type of the token pool (SGLang 0.5.23 `configure_kv_cache_dtype`, `_dsa_kv_cache_dtype_default`)."""
    given = canonical(request.kv_cache_dtype or "auto")
    if model.is_deepseek_v4:
        if given not in {"auto", "fp8_e4m3"}:
            rule = "kvcore knows SGLang's packed fp8 cache of DeepSeek-V4 only"
            raise refusal("kv_cache_dtype", given, rule, "Use auto.")
        return "fp8_e4m3"
    if model.sparse:
        if given not in {"auto", "bfloat16", "fp8_e4m3"}:
            rule = "SGLang stores sparse latents in bfloat16 or fp8_e4m3"
            raise refusal("kv_cache_dtype", given, rule, "Use auto, bfloat16 or fp8_e4m3.")
        if given == "auto":
            return "fp8_e4m3" if gpu.capability[0] >= BLACKWELL else "bfloat16"
        return given
    if given == "auto":
        asked = canonical(request.dtype or "auto")
        return model.declared_kv_cache_dtype or (model.dtype if asked == "auto" else asked)
    if given not in {"bfloat16", "fp8_e4m3", "fp8_e5m2", *FOUR_BIT}:
        rule = "SGLang stores auto, bfloat16, fp8_e4m3, fp8_e5m2, nvfp4 or fp4_mx_block16"
        raise refusal("kv_cache_dtype", request.kv_cache_dtype, rule, "Use one of them.")
    return given


def _sparse_backends(request: Request, model: ServedModel, dtype: str, gpu: Gpu) -> tuple[str, str]:
    """Prefill and decode kernels of sparse latents.

    Source: SGLang 0.5.23 `_dsa_split_backend_resolution`, `_check_dsa_backend_constraints`.
    """
    if not model.sparse:
        return "", ""
    newer = gpu.capability[0] >= BLACKWELL
    if model.architecture == "GlmMoeDsaForCausalLM" and gpu.capability[0] > BLACKWELL and dtype == "fp8_e4m3":
        prefill = decode = "flashinfer_sparse_mla"
    elif dtype == "fp8_e4m3":
        prefill = decode = "trtllm" if newer else "flashmla_kv"
    else:
        prefill, decode = "flashmla_sparse", "trtllm" if newer else "fa3"
    chosen = request.dsa_prefill_backend or prefill, request.dsa_decode_backend or decode
    if dtype == "fp8_e4m3" and "tilelang" in chosen and chosen != ("tilelang", "tilelang"):
        rule = "TileLang's plain rows and the scaled rows of other kernels cannot share an 8-bit cache"
        raise refusal(
            "dsa_decode_backend", chosen[1], rule, "Use tilelang for both prefill and decode, or for neither."
        )
    if "triton" in chosen:
        rule = "the triton kernels of sparse attention run on AMD GPUs only"
        raise refusal("dsa_decode_backend", chosen[1], rule, "Leave both kernels out.")
    return chosen


def _max_running_requests(request: Request, model: ServedModel, drafts: Drafts | None) -> int | None:
    if request.max_running_requests is not None:
        return request.max_running_requests
    if model.is_deepseek_v4:
        return DEEPSEEK_V4_RUNNING_REQUESTS
    return None if drafts is None else DEFAULT_RUNNING_REQUESTS


def _arriving_requests(request: Request, role: str, dp: int) -> int:
    """Requests whose cache a decode server may be receiving (SGLang 0.5.23 `disaggregation_decode_extra_slots`)."""
    if role != "decode" or request.max_running_requests is None:
        return 0
    of_worker = max(1, request.max_running_requests // dp)
    return 2 * of_worker if of_worker <= MOST_WITH_ARRIVALS else 0


def _is_asymmetric(layout: Layout) -> bool:
    caches = [layer.cache for layer in layout.layers if isinstance(layer.cache, AttentionCache)]
    return any(cache.head_size != cache.head_size_v for cache in caches)


def _temporal_dtype(request: Request, config: ModelConfig) -> str:
    """Recurrent states: the flag, the config's ``mamba_ssm_dtype``, else float32 (SGLang 0.5.23 `mamba2_state_dtype`)."""
    if request.mamba_ssm_dtype is not None:
        return request.mamba_ssm_dtype
    stated = config.get("mamba_ssm_dtype")
    return stated if stated in {"float32", "bfloat16", "float16"} else "float32"
