"""The table of request fields: one row per field, read by the parser, the CLI, the form and the JSON Schema."""

from dataclasses import dataclass

MAX_TOKENS = 1 << 40
MAX_BYTES = 1 << 50
MAX_GIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class RequestField:
    """One field of the request.

    Attributes:
        name: Field name: the engine's own flag in snake_case.
        type: ``integer``, ``number``, ``boolean``, ``string``, ``choice``, ``object``, ``budget`` (bytes, or a list of
            bytes per pipeline stage), ``integers``, ``strings`` or ``speculative``.
        label: Short label for a form.
        help: One sentence: meaning and default.
        group: Group in forms: model, hardware, parallelism, lengths, cache, budget, advanced.
        unit: Unit of the value, empty for counts and names.
        choices: Allowed values of a ``choice``.
        minimum: Smallest allowed number.
        exclusive_minimum: True when the minimum itself is not allowed.
        maximum: Largest allowed number.
        also_allowed: Numbers allowed outside the range (for example -1 for "auto").
        engine: ``vllm``, ``sglang`` or ``both``.
        flag: The engine's command-line flag, empty when the field is kvcore's own.
    """

    name: str
    type: str
    label: str
    help: str
    group: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    exclusive_minimum: bool = False
    maximum: float | None = None
    also_allowed: tuple[int, ...] = ()
    engine: str = "vllm"
    flag: str = ""

    @property
    def remedy(self) -> str:
        """What to do about a bad value."""
        return self.help


KV_CACHE_DTYPES = (
    "auto", "bfloat16", "float16", "float32", "half", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla",
    "nvfp4_ds_mla", "int8", "int8_per_token_head", "fp8_per_token_head", "int4_per_token_head", "nvfp4",
    "nvfp4_4over6", "turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc",
    "fp16", "bf16", "fp32", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
SGLANG_KV_CACHE_DTYPES = ("fp4_mx_block16",)
"""Cache dtypes only SGLang has."""

MODEL_DTYPES = ("auto", "bfloat16", "float16", "half", "float32", "float")
STATE_DTYPES = ("auto", "float32", "float16", "bfloat16")


def _count(name: str, label: str, text: str, group: str, maximum: int, **more: object) -> RequestField:
    return RequestField(
        name=name,
        type="integer",
        label=label,
        help=text,
        group=group,
        minimum=1,
        maximum=maximum,
        **more,  # type: ignore[arg-type]
    )


def _gib(name: str, label: str, text: str, group: str = "budget", **more: object) -> RequestField:
    return RequestField(
        name=name,
        type="number",
        label=label,
        help=text,
        group=group,
        unit="GiB",
        minimum=0,
        maximum=MAX_GIB,
        **more,  # type: ignore[arg-type]
    )


REQUEST_FIELDS: tuple[RequestField, ...] = (
    RequestField(name="model", type="string", label="Model", group="model", engine="both",
                 help="Catalogue id, for example meta-llama/Llama-3.1-8B-Instruct; `kvcore models` lists them."),
    RequestField(name="config", type="object", label="config.json", group="model", engine="both",
                 help="The Hugging Face config.json object, instead of a catalogue model."),
    RequestField(name="layout", type="object", label="Layout", group="model", engine="both",
                 help="A layout exported by `kvcore layout --json`, possibly edited, instead of a model."),
    RequestField(name="engine", type="choice", label="Engine", group="model", choices=("vllm", "sglang"), engine="both",
                 help="Whose rules apply: vllm (default) or sglang."),
    RequestField(name="engine_version", type="string", label="Engine version", group="model", engine="both",
                 help="Release whose rules apply; default 0.33.0 for vLLM, which is known from 0.9 on."),
    RequestField(name="gpu", type="string", label="GPU", group="hardware", engine="both",
                 help="GPU name such as H100, H200, B200 or A100; sets the engine's defaults. Default H100."),

    _count("tensor_parallel_size", "Tensor parallel", "GPUs that split each layer; default 1.", "parallelism", 4096,
           flag="--tensor-parallel-size"),
    _count("pipeline_parallel_size", "Pipeline parallel", "Stages that split the layers; default 1.", "parallelism", 4096,
           flag="--pipeline-parallel-size"),
    _count("data_parallel_size", "Data parallel", "Engine replicas; capacity is per replica. Default 1.", "parallelism",
           4096, flag="--data-parallel-size"),
    _count("decode_context_parallel_size", "Decode context parallel",
           "Ranks inside tensor parallel that share a request's tokens; default 1.", "parallelism", 4096,
           flag="--decode-context-parallel-size"),
    RequestField(name="enable_expert_parallel", type="boolean", label="Expert parallel", group="parallelism",
                 help="Split experts over the ranks instead of splitting each expert; changes weights, not the cache.",
                 flag="--enable-expert-parallel"),
    RequestField(name="pipeline_layer_partition", type="integers", label="Layers per stage", group="parallelism",
                 help="Layers of each pipeline stage (VLLM_PP_LAYER_PARTITION); default: vLLM's own split.",
                 minimum=1, maximum=100_000),

    _count("max_model_len", "Context length", "Longest request in tokens; -1 or auto: the longest that fits. "
           "Default: the model's own limit.", "lengths", MAX_TOKENS, unit="tokens", also_allowed=(-1,),
           flag="--max-model-len"),
    _count("max_num_batched_tokens", "Batched tokens", "Tokens of one engine step; default by GPU memory and usage.",
           "lengths", MAX_TOKENS, unit="tokens", flag="--max-num-batched-tokens"),
    _count("max_num_seqs", "Sequences", "Requests of one engine step; default by GPU memory and usage.", "lengths",
           1 << 24, flag="--max-num-seqs"),
    RequestField(name="async_scheduling", type="boolean", label="Async scheduling", group="lengths",
                 help="Whether the next step is scheduled while one runs; default true.", flag="--async-scheduling"),
    RequestField(name="usage_context", type="choice", label="Entry point", group="lengths", choices=("server", "llm"),
                 help="server: `vllm serve` (default); llm: the LLM class, whose batch defaults are larger."),

    RequestField(name="dtype", type="choice", label="Model dtype", group="cache", choices=MODEL_DTYPES,
                 help="Model dtype; default: the checkpoint's, as the engine resolves it.", flag="--dtype", engine="both"),
    RequestField(name="kv_cache_dtype", type="choice", label="KV cache dtype", group="cache",
                 choices=KV_CACHE_DTYPES + SGLANG_KV_CACHE_DTYPES,
                 help="How cache entries are stored; auto: the model dtype or what the checkpoint declares.",
                 flag="--kv-cache-dtype", engine="both"),
    RequestField(name="kv_cache_dtype_skip_layers", type="strings", label="Layers kept unquantized", group="cache",
                 help="Layer numbers or kinds whose cache stays in the model dtype.", flag="--kv-cache-dtype-skip-layers"),
    _count("block_size", "Block size", "Tokens per cache block; default by attention backend.", "cache", 1 << 24,
           unit="tokens", flag="--block-size"),
    RequestField(name="enable_prefix_caching", type="boolean", label="Prefix caching", group="cache",
                 help="Whether finished blocks stay for reuse; default: on for decoder models.",
                 flag="--enable-prefix-caching"),
    RequestField(name="mamba_cache_mode", type="choice", label="Mamba cache mode", group="cache",
                 choices=("none", "align", "all"), help="Which states are kept; default align with prefix caching, else none.",
                 flag="--mamba-cache-mode"),
    RequestField(name="mamba_cache_dtype", type="choice", label="Conv state dtype", group="cache", choices=STATE_DTYPES,
                 help="Dtype of convolution states; auto: the model dtype.", flag="--mamba-cache-dtype"),
    RequestField(name="mamba_ssm_cache_dtype", type="choice", label="SSM state dtype", group="cache", choices=STATE_DTYPES,
                 help="Dtype of recurrent states; auto: by model.", flag="--mamba-ssm-cache-dtype"),
    RequestField(name="disable_hybrid_kv_cache_manager", type="boolean", label="Hybrid manager off", group="cache",
                 help="Treat window layers as full attention; default false.", flag="--disable-hybrid-kv-cache-manager"),
    RequestField(name="speculative_config", type="speculative", label="Speculative decoding", group="cache",
                 help='For example {"method": "mtp", "num_speculative_tokens": 1}.', flag="--speculative-config"),
    RequestField(name="attention_backend", type="string", label="Attention backend", group="advanced",
                 help="Backend by the engine's name, for example FLASH_ATTN or fa3; default: its choice for the GPU.",
                 flag="--attention-backend", engine="both"),
    _count("num_gpu_blocks_override", "Block count override", "Number of cache blocks, instead of the budget's.",
           "advanced", 1 << 40, flag="--num-gpu-blocks-override"),
    RequestField(name="decode_set_aside_percent", type="number", label="Decode set-aside", group="advanced", unit="%",
                 help="Share of the pool a decode worker keeps free for caches on their way from prefill workers; "
                 "default 0.", minimum=0, maximum=100),
    _count("max_in_flight_tokens", "In-flight tokens", "Tokens scheduled but not finished; default: batches in flight × "
           "batched tokens.", "advanced", MAX_TOKENS, unit="tokens"),

    RequestField(name="kv_cache_memory_bytes", type="budget", label="Cache memory", group="budget", unit="bytes",
                 help="Exact cache bytes per GPU; a list gives one value per pipeline stage.", minimum=1,
                 maximum=MAX_BYTES, flag="--kv-cache-memory-bytes"),
    _gib("available_kv_cache_gib", "Available cache memory", "As the log prints it: Available KV cache memory, in GiB.",
         exclusive_minimum=True),
    RequestField(name="gpu_memory_utilization", type="number", label="GPU memory utilization", group="budget",
                 help="Share of GPU memory vLLM may use, in (0, 1]; default 0.92.", minimum=0, exclusive_minimum=True,
                 maximum=1, flag="--gpu-memory-utilization"),
    _gib("gpu_memory_gib", "GPU memory", "Usable memory of one GPU in GiB, for a GPU the catalogue does not know.",
         group="hardware", exclusive_minimum=True),
    _gib("weights_gib", "Weights", "Weights per GPU in GiB, instead of the computed figure."),
    _gib("activation_gib", "Activation peak", "Peak of activations per GPU in GiB, instead of the estimate."),
    _gib("cuda_graph_gib", "CUDA graphs", "CUDA graph memory per GPU in GiB, instead of the estimate."),
    _gib("non_torch_gib", "Non-torch memory", "Memory outside PyTorch per GPU in GiB, instead of the estimate."),
    RequestField(name="enforce_eager", type="boolean", label="Eager mode", group="advanced",
                 help="Run without CUDA graphs; default false.", flag="--enforce-eager"),

    _count("tp_size", "Tensor parallel", "SGLang tensor parallel size; default 1.", "parallelism", 4096, engine="sglang",
           flag="--tp-size"),
    _count("pp_size", "Pipeline parallel", "SGLang pipeline parallel size; default 1.", "parallelism", 4096, engine="sglang",
           flag="--pp-size"),
    _count("dp_size", "Data parallel", "SGLang data parallel size; default 1.", "parallelism", 4096, engine="sglang",
           flag="--dp-size"),
    _count("ep_size", "Expert parallel", "SGLang expert parallel size; default 1.", "parallelism", 4096, engine="sglang",
           flag="--ep-size"),
    _count("context_length", "Context length", "Longest request in tokens; default: the model's own limit.", "lengths",
           MAX_TOKENS, unit="tokens", engine="sglang", flag="--context-length"),
    RequestField(name="mem_fraction_static", type="number", label="Static memory fraction", group="budget", minimum=0,
                 exclusive_minimum=True, maximum=1, engine="sglang",
                 help="Share of free memory for weights and pools; default by GPU memory.", flag="--mem-fraction-static"),
    _count("page_size", "Page size", "Tokens per page of SGLang's pool; default by backend.", "cache", 1 << 20,
           engine="sglang", unit="tokens", flag="--page-size"),
    RequestField(name="chunked_prefill_size", type="integer", label="Prefill chunk", group="lengths", minimum=1,
                 maximum=MAX_TOKENS, also_allowed=(-1,), unit="tokens", engine="sglang",
                 help="Tokens of one prefill chunk; -1 turns chunking off. Default by GPU memory.",
                 flag="--chunked-prefill-size"),
    _count("max_running_requests", "Running requests", "Cap on requests at once; default: resolved by SGLang.", "lengths",
           1 << 24, engine="sglang", flag="--max-running-requests"),
    _count("max_total_tokens", "Token cap", "Cap on the token pool.", "cache", MAX_TOKENS, engine="sglang", unit="tokens",
           flag="--max-total-tokens"),
    RequestField(name="enable_dp_attention", type="boolean", label="DP attention", group="parallelism", engine="sglang",
                 help="Data-parallel attention with tensor-parallel experts; default false.", flag="--enable-dp-attention"),
    RequestField(name="speculative_algorithm", type="string", label="Speculative algorithm", group="cache",
                 engine="sglang", help="EAGLE, EAGLE3, NEXTN, STANDALONE or NGRAM.", flag="--speculative-algorithm"),
    _count("speculative_num_steps", "Draft steps", "Steps of the drafter; default by model.", "cache", 1024,
           engine="sglang", flag="--speculative-num-steps"),
    _count("speculative_eagle_topk", "Draft branches", "Branches of the draft tree; default by model.", "cache", 1024,
           engine="sglang", flag="--speculative-eagle-topk"),
    _count("speculative_num_draft_tokens", "Draft tokens", "Tokens verified at once; with one branch steps + 1.",
           "cache", 1024, engine="sglang", unit="tokens", flag="--speculative-num-draft-tokens"),
    RequestField(name="speculative_draft_model_path", type="string", label="Draft model", group="cache",
                 engine="sglang", help="Catalogue id of the drafter; default: the drafter inside the checkpoint.",
                 flag="--speculative-draft-model-path"),
    RequestField(name="speculative_draft_config", type="object", label="Drafter's config.json", group="cache",
                 engine="sglang", help="The drafter's config.json object, for a drafter the catalogue does not know."),
    RequestField(name="disable_radix_cache", type="boolean", label="Radix cache off", group="cache", engine="sglang",
                 help="Keep nothing for reuse; default false.", flag="--disable-radix-cache"),
    RequestField(name="swa_full_tokens_ratio", type="number", label="Window tokens ratio", group="cache", minimum=0,
                 exclusive_minimum=True, maximum=1, engine="sglang", flag="--swa-full-tokens-ratio",
                 help="Tokens of the window pool per token of the full pool; default 0.8, DeepSeek-V4 0.1."),
    RequestField(name="disable_hybrid_swa_memory", type="boolean", label="Window pool off", group="cache",
                 engine="sglang", help="Store windows as full attention; default false.",
                 flag="--disable-hybrid-swa-memory"),
    RequestField(name="mamba_full_memory_ratio", type="number", label="State memory ratio", group="cache", minimum=0,
                 exclusive_minimum=True, maximum=1000, engine="sglang", flag="--mamba-full-memory-ratio",
                 help="State memory per token memory of hybrids; default 0.9."),
    _count("max_mamba_cache_size", "State slots", "Slots for states; default by memory.", "cache", 1 << 40,
           engine="sglang", flag="--max-mamba-cache-size"),
    RequestField(name="mamba_ssm_dtype", type="choice", label="Recurrent state dtype", group="cache", engine="sglang",
                 choices=("float32", "bfloat16", "float16"), flag="--mamba-ssm-dtype",
                 help="Dtype of recurrent states; default: the config's mamba_ssm_dtype, else float32."),
    RequestField(name="mamba_radix_cache_strategy", type="choice", label="State reuse", group="cache",
                 engine="sglang", choices=("auto", "no_buffer", "extra_buffer", "extra_buffer_lazy"),
                 help="How states are kept for reuse; default auto.", flag="--mamba-radix-cache-strategy"),
    RequestField(name="disable_overlap_schedule", type="boolean", label="Overlap scheduling off", group="lengths",
                 engine="sglang", help="Do not schedule a batch while one runs; default false.",
                 flag="--disable-overlap-schedule"),
    RequestField(name="disable_cuda_graph", type="boolean", label="CUDA graphs off", group="advanced", engine="sglang",
                 help="Capture no graphs, which leaves more memory; default false.", flag="--disable-cuda-graph"),
    RequestField(name="disaggregation_mode", type="choice", label="Server role", group="advanced", engine="sglang",
                 choices=("null", "prefill", "decode"), flag="--disaggregation-mode",
                 help="null: prefill and decode on one server (default), or only one of both."),
    RequestField(name="enable_multimodal", type="boolean", label="Vision", group="advanced", engine="sglang",
                 help="Serve images; default: on, except for models SGLang serves as text by default.",
                 flag="--enable-multimodal"),
    RequestField(name="dsa_prefill_backend", type="string", label="Sparse prefill kernels", group="advanced",
                 engine="sglang", help="Kernels of DeepSeek sparse attention, for example trtllm; default by GPU.",
                 flag="--dsa-prefill-backend"),
    RequestField(name="dsa_decode_backend", type="string", label="Sparse decode kernels", group="advanced",
                 engine="sglang", help="As for prefill, in decoding.", flag="--dsa-decode-backend"),
    _count("nnodes", "Nodes", "Machines the ranks are spread over; changes no size. Default 1.", "parallelism", 4096,
           engine="sglang", flag="--nnodes"),
    RequestField(name="node_rank", type="integer", label="Node", group="advanced", minimum=0, maximum=4096,
                 engine="sglang", help="Which machine this is; changes no size.", flag="--node-rank"),
    RequestField(name="dist_init_addr", type="string", label="First node", group="advanced", engine="sglang",
                 help="Address of the first machine; changes no size.", flag="--dist-init-addr"),
    RequestField(name="sglang_args", type="object", label="SGLang flags", group="advanced", engine="sglang",
                 help="SGLang server arguments by name; each must be a request field too."),
    _gib("available_before_load_gib", "Free before load", "Free memory per GPU before the weights, in GiB.", engine="sglang"),
    _gib("available_after_load_gib", "Free after load", "Free memory per GPU after the weights, in GiB.", engine="sglang"),
)  # fmt: skip
