"""From a request to SGLang's report: read, lay out, bill, divide the free memory."""

from kvcore import __version__
from kvcore.arithmetic import GIB
from kvcore.budget.weights import ModelWeights
from kvcore.config import ModelConfig
from kvcore.engines.sglang.charge import held_parts, taxes_of
from kvcore.engines.sglang.derivation import derive
from kvcore.engines.sglang.free_memory import FreeMemory, free_memory, leaves_drafter_out, weights_of
from kvcore.engines.sglang.model import ServedModel, served_model
from kvcore.engines.sglang.plan import SglangPlan, plan
from kvcore.engines.sglang.sections import (
    budget_section,
    capacity_section,
    layout_section,
    plan_section,
    request_section,
)
from kvcore.engines.sglang.settings import SglangSettings, resolve_settings
from kvcore.engines.vllm.memory_sections import weights_section
from kvcore.errors import EngineRefusal, input_error, refusal
from kvcore.layout import Layout
from kvcore.report.report import Engine, Report, Source, Tax, TaxCause
from kvcore.request import Request, parse_request, request_fields
from kvcore.request_fields import REQUEST_FIELDS
from kvcore.subject import Subject, subject_of

VERSION = "0.5.23"

SAME_IN_SGLANG = {
    "tensor_parallel_size": "tp_size",
    "pipeline_parallel_size": "pp_size",
    "data_parallel_size": "dp_size",
    "max_model_len": "context_length",
    "max_num_seqs": "max_running_requests",
    "block_size": "page_size",
    "gpu_memory_utilization": "mem_fraction_static",
}
"""vLLM's fields and SGLang's nearest to them, for the error that names it."""

SPARE_TOKENS = 4
"""Places of a request's row beyond its context (SGLang 0.5.23 `extra_max_context_len`)."""

TOKEN_PLACE_BYTES = 4
"""The table of token places holds int32 (SGLang 0.5.23 `ReqToTokenPool`)."""

STATED_MEMORY = frozenset({"gpu_memory_gib", "weights_gib"})
"""Fields about memory that hold for either engine."""


def answer_sglang(request: Request) -> Report:
    """The report of one request under SGLang's rules.

    Raises:
        KvcoreError: The input is wrong, the mechanism unknown, or the engine refuses.
    """
    request = _with_arguments(request)
    _check_fields(request)
    subject = subject_of(request)
    if subject.config is None:
        raise input_error(
            "layout", "a layout given by hand", "SGLang's pools need a config.json", "Give model or config."
        )
    config, layout = subject.config, subject.lay_out(None)
    model = served_model(config, enable_multimodal=request.enable_multimodal, keeps_state=subject.traits.keeps_state)
    settings = resolve_settings(request, config, model, layout)
    weights, reason = weights_of(config, model.dtype, settings)
    free = free_memory(request, settings, weights)
    planned, objection = _fitted(layout, config, model, settings, free)
    held = held_parts(planned, settings, layout.num_hidden_layers)
    one = request_section(held, settings)
    taxes = taxes_of(held)
    return Report(
        inputs=dict(settings.inputs),
        kvcore_version=__version__,
        engine=Engine(name="sglang", version=VERSION),
        model=subject.name,
        budget=budget_section(None if planned.pools is None else planned.pools.memory, free),
        layout=layout_section(layout, planned, settings),
        plan=plan_section(planned, settings),
        request=one,
        capacity=capacity_section(planned, one, settings, objection),
        tax=Tax(
            causes=tuple(TaxCause(name=name, bytes=amount) for name, amount in taxes.items()),
            bytes=sum(taxes.values()),
        ),
        weights=weights_section(weights, subject.published_weights, None, reason),
        derivation=derive(model, planned, settings),
        warnings=(*([objection] if objection else []), *_warnings(layout, planned, settings, subject, free, weights)),
        sources=(Source(id="engine", kind="pinned", ref=f"SGLang {VERSION}, its wheel", checked=""), *subject.sources),
    )


def _with_arguments(request: Request) -> Request:
    """The request with ``sglang_args`` read as fields of their own."""
    if request.sglang_args is None:
        return request
    fields = {name: value for name, value in request_fields(request).items() if name != "sglang_args"}
    for name in request.sglang_args:
        if name in fields:
            rule = "it is given both as a field and in sglang_args"
            raise input_error(f"sglang_args.{name}", request.sglang_args[name], rule, "Give it once.")
    return parse_request({**request.sglang_args, **fields})


def _check_fields(request: Request) -> None:
    """Fields that mean something to vLLM only are refused: ignoring them would answer another question."""
    if request.engine_version not in {None, VERSION}:
        rule = f"kvcore knows SGLang {VERSION}"
        raise refusal("engine_version", request.engine_version, rule, f"Use {VERSION}, or leave it out.")
    for field in REQUEST_FIELDS:
        if field.engine == "vllm" and field.name in request.given and field.name not in STATED_MEMORY:
            nearest = SAME_IN_SGLANG.get(field.name)
            remedy = f"Use {nearest}." if nearest else "Leave it out, or ask for engine vllm."
            raise refusal(field.name, getattr(request, field.name), "this is no setting of SGLang", remedy)


def _fitted(
    layout: Layout, config: ModelConfig, model: ServedModel, settings: SglangSettings, free: FreeMemory | None
) -> tuple[SglangPlan, str | None]:
    """The plan; where an estimate leaves no room the cells alone, and the engine's objection."""
    if free is None or free.kind == "given":
        return plan(layout, config, model, settings, None if free is None else (free.before_gib, free.after_gib)), None
    try:
        return plan(layout, config, model, settings, (free.before_gib, free.after_gib)), None
    except EngineRefusal as error:
        cells = plan(layout, config, model, settings, None)
        return cells, f"By the estimate of the free memory SGLang does not start: {error.errors[0].message}"


def _warnings(
    layout: Layout,
    planned: SglangPlan,
    settings: SglangSettings,
    subject: Subject,
    free: FreeMemory | None,
    weights: ModelWeights | None,
) -> tuple[str, ...]:
    warnings = [*layout.notes, *subject.notes]
    if free is None:
        warnings.append(
            "The free memory is not known, so no capacity: give available_before_load_gib and available_after_load_gib. "
            "SGLang's line Load weight end prints the latter as avail mem; with mem usage added it gives the former."
        )
        if leaves_drafter_out(settings, weights):
            warnings.append(
                "Nor is it estimated: kvcore does not know what this drafter weighs. weights_gib, with the drafter's weights "
                "added, gives an estimate."
            )
    elif free.kind == "estimated":
        warnings.append(
            "The free memory is estimated from the GPU and the weights: figures of a startup log, given as "
            "available_before_load_gib and available_after_load_gib, make every other number exact."
        )
    if planned.pools is not None:
        warnings.append(
            "SGLang logs tokens, not concurrency: the requests at once are its pools divided by what one request of the "
            "longest context holds."
        )
    if planned.window is not None and planned.sizing.mode == "ratio":
        warnings.append(
            f"The window pool has {settings.swa_full_tokens_ratio:g} tokens per token of the full pool whatever the "
            "window: a lower swa_full_tokens_ratio leaves more for long requests."
        )
    if any(layer.cell.split == "replicated_heads" for layer in planned.billed):
        warnings.append("Attention ranks exceed the KV heads: heads are stored on several GPUs.")
    if settings.attn_tp_size > 1 and any(layer.cell.split == "whole" for layer in planned.billed):
        warnings.append(
            "The latent cache is stored whole on every GPU; enable_dp_attention would divide requests instead."
        )
    if settings.drafts is not None and settings.drafts.num_layers == 0 and settings.drafts.inside:
        warnings.append("The drafter's own cache is not billed: it comes out of the memory left free.")
    if settings.drafts is not None and settings.drafts.assumed:
        warnings.append(
            "The drafter's checkpoint is not in the catalogue: one layer is assumed, as EAGLE heads have; give "
            "speculative_draft_config to be sure."
        )
    if planned.pools is not None:
        table = _token_table_bytes(planned.pools.max_running_requests, settings) / GIB
        warnings.append(f"The table of token places takes another {table:.2f} GiB out of the memory left free.")
    return tuple(warnings)


def _token_table_bytes(requests: int, settings: SglangSettings) -> int:
    """Bytes of the table that says where each request's tokens are, which no pool is charged with.

    One int32 per token of the longest context and some to spare, a row for each request and one for padding
    (SGLang 0.5.23 `ReqToTokenPool`, `KVCacheConfigurator`).
    """
    row = settings.context_len + SPARE_TOKENS + settings.num_draft_tokens
    return (requests + 1) * row * TOKEN_PLACE_BYTES
