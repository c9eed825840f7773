"""The lines a reader knows, as data: what marks a line, and where its figures stand.

Every named group of an expression is a figure of that name. The wording is that of vLLM 0.2 to 0.33 (`gpu_worker.py`,
`kv_cache_utils.py`, `gpu_model_runner.py`, `interface.py`, `loggers.py`; before 0.9 also `gpu_executor.py`, `worker.py`),
SGLang (`model_runner.py`, `memory_pool.py`, `scheduler.py`), llama.cpp (`llama-kv-cache.cpp`) and TensorRT-LLM
(`kvCacheManager.cpp`, `_util.py`).
"""

# ruff: noqa: ISC004 - a row is a tuple of texts, and long expressions are written over two lines

import re
from dataclasses import dataclass

_COUNT = r"\d+(?:,\d{3})*"
_DECIMAL = r"-?\d+(?:\.\d+)?"
_GIB = r" ?(?:GiB|GB)"


@dataclass(frozen=True)
class Pattern:
    """A kind of line.

    Attributes:
        kind: Key of its reading.
        engine: Engine that prints it.
        mark: Text every such line holds.
        expression: Named groups are figures; ``text_…`` groups are words kept elsewhere.
    """

    kind: str
    engine: str
    mark: str
    expression: re.Pattern[str]


def pattern(kind: str, engine: str, mark: str, text: str) -> Pattern:
    """A kind of line; ``COUNT``, ``DECIMAL`` and ``GIB`` stand for a number with separators, any number, and the unit."""
    filled = text.replace("COUNT", _COUNT).replace("DECIMAL", _DECIMAL).replace("GIB", _GIB)
    return Pattern(kind, engine, mark, re.compile(filled))


PATTERNS: tuple[Pattern, ...] = tuple(
    pattern(*row)
    for row in (
        ("tokens", "vllm", "KV cache size", r"KV cache size: (?P<gpu_kv_cache_tokens>COUNT) tokens"),
        (
            "concurrency", "vllm", "concurrency for",
            r"aximum concurrency for (?P<max_concurrency_len>COUNT) tokens per request: (?P<max_concurrency>DECIMAL)x",
        ),
        ("available", "vllm", "KV cache memory: ", r"Available KV cache memory: (?P<available_kv_gib>DECIMAL)GIB"),
        ("available", "vllm", "available_kv_cache_memory", r"available_kv_cache_memory\D{0,3}(?P<available_kv_gib>DECIMAL)GIB"),
        (
            "reserved", "vllm", "kv_cache_memory_bytes",
            r"Initial free memory:? (?P<free_gib>DECIMAL)GIB, reserved (?P<available_kv_gib>DECIMAL)GIB memory for KV Cache",
        ),
        ("loading", "vllm", "oading took", r"odel loading took:? (?P<model_loading_gib>DECIMAL)GIB"),
        ("loading", "vllm", "weights took", r"oading model weights took (?P<model_loading_gib>DECIMAL)GIB"),
        ("graph", "vllm", "Graph capturing", r"Graph capturing finished in DECIMAL secs?, took (?P<graph_capture_gib>DECIMAL)GIB"),
        ("graph_estimate", "vllm", "CUDA graph memory", r"Estimated CUDA graph memory: (?P<graph_estimate_gib>DECIMAL)GIB"),
        ("graph_profiling", "vllm", "CUDA graph memory profiling", r"CUDA graph memory profiling is enabled"),
        ("init", "vllm", "init engine", r"init engine (?:\([^)]*\) )?took (?P<init_engine_seconds>DECIMAL) s"),
        ("attention_block", "vllm", "attention block size", r"Setting attention block size to (?P<attention_block_size>\d+) tokens"),
        ("kernel_block", "vllm", "cache block size to", r"[Ss]etting kv ?cache block size to (?P<kernel_block_size>\d+)"),
        ("mamba_padding", "vllm", "mamba page size by", r"Padding mamba page size by (?P<mamba_page_padding_percent>DECIMAL)%"),
        (
            "padding_layers", "vllm", "padding layers",
            r"Add (?P<padding_layers>\d+) padding layers, may waste at most (?P<padding_waste_percent>DECIMAL)%",
        ),
        (
            "blocks", "vllm", "blocks: ",
            r"# (?:GPU|CUDA|cuda|HPU|TPU) blocks: (?P<num_gpu_blocks>COUNT)(?!\d|, # CPU)",
        ),
        (
            "blocks", "vllm", " blocks: ",
            r"\b(?:GPU|CUDA|ROCM|HPU|TPU|XPU|NPU|CPU|NEURON|(?-i:cuda|rocm|hpu|tpu|xpu|npu|cpu|neuron)) blocks: "
            r"(?P<num_gpu_blocks>COUNT), # CPU blocks: (?P<num_cpu_blocks>COUNT)",
        ),
        ("blocks", "vllm", "num_gpu_blocks is", r"num_gpu_blocks is:? (?P<num_gpu_blocks>COUNT)"),
        ("override", "vllm", "num_gpu_blocks_override", r"verriding num_gpu_blocks=[1-9]\d* with num_gpu_blocks_override=(?P<num_gpu_blocks_override>\d+)"),
        (
            "refusal", "vllm", "max seq len",
            r"max seq len \((?P<refused_max_model_len>COUNT)\), \(?(?P<kv_needed_gib>DECIMAL)GIB KV cache is needed, which is "
            r"larger than the available KV cache memory \((?P<available_kv_gib>DECIMAL)GIB\)",
        ),
        (
            "refusal", "vllm", "max seq len",
            r"max seq len \((?P<refused_max_model_len>COUNT)\) is larger than the maximum number of tokens that can be stored "
            r"in KV cache \((?P<gpu_kv_cache_tokens>COUNT)\)",
        ),
        ("estimated_length", "vllm", "maximum model length", r"estimated maximum model length is (?P<estimated_max_model_len>COUNT)"),
        (
            "free_memory", "vllm", "ree memory on device",
            r"ree memory on device:? \(?(?P<free_gib>DECIMAL)/(?P<gpu_memory_gib>DECIMAL)GIB",
        ),
        (
            "requested_memory", "vllm", "tilization",
            r"esired (?:GPU memory|GPU) utilization (?:is )?\(?(?P<gpu_memory_utilization>DECIMAL)(?:,| \() ?(?P<requested_gib>DECIMAL)GIB",
        ),
        (
            "requested_memory", "vllm", "Requested memory",
            r"Initial free memory: (?P<free_gib>DECIMAL)GIB; Requested memory: (?P<gpu_memory_utilization>DECIMAL) \(util\), "
            r"(?P<requested_gib>DECIMAL)GIB",
        ),
        (
            "requested_memory", "vllm", "total_gpu_memory",
            r"total_gpu_memory \((?P<gpu_memory_gib>DECIMAL)GIB\) x gpu_memory_utilization \((?P<gpu_memory_utilization>DECIMAL)\) "
            r"= (?P<requested_gib>DECIMAL)GIB",
        ),
        (
            "requested_memory", "vllm", "urrent vLLM instance can use",
            r"urrent vLLM instance can use (?P<requested_gib>DECIMAL)GIB",
        ),
        ("requested_memory", "vllm", "total_gpu_memory ", r"total_gpu_memory (?P<gpu_memory_gib>DECIMAL)GIB"),
        ("requested_memory", "vllm", "gpu_memory_utilization ", r"gpu_memory_utilization (?P<gpu_memory_utilization>0\.\d+)$"),
        ("weights", "vllm", "GiB for weight", r"(?P<weights_gib>DECIMAL)GIB for weight"),
        ("weights", "vllm", "model weights take", r"model weights take (?P<weights_gib>DECIMAL)GIB"),
        ("weights", "vllm", "weights memory", r"weights memory: (?P<weights_gib>DECIMAL)GIB"),
        ("consumed", "vllm", "GiB for consumed memory", r"(?P<consumed_gib>DECIMAL)GIB for consumed memory"),
        ("activation", "vllm", "peak activation", r"(?P<activation_gib>DECIMAL)GIB for peak activation"),
        ("activation", "vllm", "peak memory", r"PyTorch activation peak memory (?:takes )?(?P<activation_gib>DECIMAL)GIB"),
        ("activation", "vllm", "torch peak memory increase", r"torch peak memory increase: (?P<activation_gib>DECIMAL)GIB"),
        ("non_torch", "vllm", "non-torch memory", r"(?P<non_torch_gib>DECIMAL)GIB for non-torch memory"),
        ("non_torch", "vllm", "non_torch_memory", r"non_torch_memory(?: takes |=| )(?P<non_torch_gib>DECIMAL)GIB"),
        ("non_torch", "vllm", "non-torch forward", r"non-torch forward increase memory: (?P<non_torch_gib>DECIMAL)GIB"),
        ("graph", "vllm", "for CUDAGraph memory", r"(?P<graph_capture_gib>DECIMAL)GIB for CUDAGraph memory"),
        ("non_kv", "vllm", "non KV cache memory", r"otal non KV cache memory: (?P<non_kv_gib>DECIMAL)GIB"),
        ("kv_cache_memory", "vllm", "kv-cache-memory", r"--kv-cache-memory(?:-bytes)?=(?P<kv_cache_memory_suggestion_bytes>\d+)"),
        ("available", "vllm", "cache memory in use", r"urrent kv cache memory in use is (?P<available_kv_gib>DECIMAL)GIB"),
        ("available", "vllm", "for KV Cache is", r"reserved for KV Cache is (?P<available_kv_gib>DECIMAL)GIB"),
        (
            "profile", "vllm", "Memory profiling results",
            r"total_gpu_memory=(?P<gpu_memory_gib>DECIMAL)GIB .*peak_torch_memory=(?P<peak_gib>DECIMAL)GIB .*kv_cache_size=(?P<available_kv_gib>DECIMAL)GIB "
            r"gpu_memory_utilization=(?P<gpu_memory_utilization>DECIMAL)",
        ),
        ("chunked_prefill", "vllm", "max_num_batched_tokens=", r"enabled with max_num_batched_tokens=(?P<max_num_batched_tokens>\d+)"),
        ("dcp", "vllm", "dcp_world_size", r"KV cache size by the dcp_world_size (?P<dcp_world_size>\d+)"),
        ("backend", "vllm", "attention backend", r"Using (?:AttentionBackendEnum\.)?(?P<text_attention_backend>[A-Z][A-Z0-9_]+) (?:attention )?backend"),
        ("cache_dtype", "vllm", "KV cache format", r"(?P<text_kv_cache_dtype>fp8_ds_mla|nvfp4_ds_mla) KV cache format"),
        ("cache_dtype", "vllm", "to store kv cache", r"Using (?P<text_kv_cache_dtype>fp8\w*|nvfp4) data type to store kv ?cache"),
        ("version", "vllm", "version ", r"(?:server |\] |^ ?|[█▀] +)version (?P<text_version>v?\d+\.\d+[\w.+-]*)"),
        ("hybrid_off", "vllm", "hybrid kv cache manager", r"Turning off hybrid kv cache manager"),
        ("hybrid_off", "vllm", "KV cache manager is disabled", r"Hybrid KV cache manager is disabled"),
        (
            "ranks", "vllm", "is assigned as",
            r"rank \d+ in world size (?P<world_size>\d+) is assigned as DP rank \d+, PP rank (?P<pp_rank>\d+), "
            r"(?:PCP rank \d+, )?TP rank (?P<tp_rank>\d+)",
        ),
        ("model", "vllm", "to load model", r"Starting to load model (?P<text_model>\S+?)\.\.\."),
        ("model", "vllm", " model ", r"[█▀] +model +(?P<text_model>\S+)"),
        ("model", "vllm", "odel: ", r"\b[Mm]odel(?: name| id)?: (?P<text_model>[\w-]+/[\w.-]+)\W*$"),
        ("model", "vllm", "MODEL: ", r"\bMODEL: (?P<text_model>[\w-]+/[\w.-]+)\W*$"),
        ("version", "vllm", "LLM engine (v", r"LLM engine \(v?(?P<text_version>\d+\.\d+[\w.+-]*)\)"),
        ("version", "vllm", "vLLM Version", r"vLLM Version *: *(?P<text_version_about>v?\d+\.\d+[\w.+-]*)"),
        ("version", "vllm", "vllm==", r"\bvllm==(?P<text_version_about>\d+\.\d+[\w.+-]*)"),
        ("version", "vllm", "vllm-openai", r"vllm-openai\w*:v(?P<text_version_about>\d+\.\d+\.\d+)"),
        ("sglang_version", "sglang", "lmsysorg/sglang:", r"lmsysorg/sglang:v(?P<text_version_about>\d+\.\d+\.\d+[\w.]*)"),
        (
            "sglang_tokens", "sglang", "max_total_num_tokens",
            r"max_total_num_tokens[= ](?P<max_total_num_tokens>\d+)(?:, chunked_prefill_size=(?P<chunked_prefill_size>-?\d+), "
            r"max_prefill_tokens=\d+, max_running_requests=(?P<max_running_requests>\d+), context_len=(?P<context_len>\d+)"
            r"(?:, available_gpu_mem=(?P<sglang_left_gib>DECIMAL) GB)?)?",
        ),
        (
            "sglang_pool", "sglang", "is allocated",
            r"KV Cache is allocated\.(?: dtype: (?P<text_pool_dtype>[\w.]+),)? #tokens: (?P<pool_tokens>\d+)"
            r"(?:, KV size: (?P<pool_kv_gib>DECIMAL) GB|, K size: (?P<pool_k_gib>DECIMAL) GB, V size: (?P<pool_v_gib>DECIMAL) GB)?",
        ),
        (
            "sglang_states", "sglang", "is allocated",
            r"Mamba Cache is allocated\. max_mamba_cache_size: (?P<max_mamba_cache_size>\d+), conv_state size: "
            r"(?P<conv_state_gib>DECIMAL) ?GB, ssm_state size: (?P<ssm_state_gib>DECIMAL) ?GB",
        ),
        ("sglang_window", "sglang", "layer_tokens", r"full_layer_tokens=(?P<pool_full_tokens>\d+), swa_layer_tokens=(?P<swa_tokens>\d+)"),
        ("sglang_window", "sglang", "SWAKVPool", r"SWAKVPool mem usage: (?P<swa_pool_gib>DECIMAL) GB(?:, swa size: (?P<swa_tokens>\d+), full size: (?P<pool_full_tokens>\d+))?"),
        ("sglang_before", "sglang", "avail mem", r"Load weight begin\. avail mem=(?P<available_before_load_gib>DECIMAL) GB"),
        (
            "sglang_after", "sglang", "avail mem",
            r"Load weight end\..*avail mem=(?P<available_after_load_gib>DECIMAL) GB(?:, mem usage=(?P<model_loading_gib>DECIMAL) GB)?",
        ),
        ("sglang_pool_end", "sglang", "avail mem", r"Memory pool end\. avail mem=(?P<available_after_pool_gib>DECIMAL) GB"),
        (
            "sglang_graph", "sglang", "avail mem",
            r"Capture \w+ graph end\..*mem usage=(?P<graph_capture_gib>DECIMAL) GB\. avail mem=(?P<available_after_graph_gib>DECIMAL) GB",
        ),
        ("sglang_dtype", "sglang", "cache dtype", r"KV cache dtype: (?:torch\.)?(?P<text_kv_cache_dtype>\w+)"),
        ("sglang_version", "sglang", "sglang", r"sglang(?:\[\w+\])?[ =]+v?(?P<text_version>\d+\.\d+\.\d+[\w.+-]*)"),
        (
            "llama_pool", "llama.cpp", "llama_kv_cache",
            r"llama_kv_cache\w*:\s+size = +(?P<size_mib>DECIMAL) MiB \( *(?P<cells>\d+) cells, +(?P<layers>\d+) layers"
            r"(?:.*?K \(\w+\): +(?P<k_mib>DECIMAL) MiB, V \(\w+\): +(?P<v_mib>DECIMAL) MiB)?",
        ),
        ("llama_pool", "llama.cpp", "llama_kv_cache", r"llama_kv_cache_init: kv_size = (?P<cells>\d+),.* n_layer = (?P<layers>\d+)"),
        (
            "llama_pool", "llama.cpp", "KV self size",
            r"KV self size +=\s+(?P<size_mib>DECIMAL) MiB, K \(\w+\): +(?P<k_mib>DECIMAL) MiB, V \(\w+\): +(?P<v_mib>DECIMAL) MiB",
        ),
        (
            "trt_pool", "tensorrt-llm", "paged KV",
            r"Allocated (?P<allocated_gib>DECIMAL) GiB for max tokens in paged KV cache \((?P<pool_tokens>\d+)\)",
        ),
        (
            "trt_profile", "tensorrt-llm", "memory usage profiling",
            r"Peak memory during memory usage profiling \(torch \+ non-torch\): (?P<peak_gib>DECIMAL) GiB.*"
            r"fraction is set (?P<free_fraction>DECIMAL), kv size is (?P<kv_bytes_per_token>\d+)\. "
            r"device total memory (?P<gpu_memory_gib>DECIMAL) GiB",
        ),
        ("trt_pool", "tensorrt-llm", "paged KV", r"Using (?P<pool_tokens>\d+) tokens in paged KV cache"),
        ("trt_bytes", "tensorrt-llm", "k/v cache", r"Allocate (?P<allocated_bytes>\d+) bytes for k/v cache"),
        ("trt_blocks", "tensorrt-llm", "rimary", r"(?:primary blocks=|KV cache primary pool: )(?P<primary_blocks>\d+)"),
        ("trt_blocks", "tensorrt-llm", "okens per block", r"okens per block[=: ]+(?P<tokens_per_block>\d+)"),
        (
            "trt_budget", "tensorrt-llm", "calculating max tokens",
            r"available KV cache memory when calculating max tokens: (?P<available_kv_gib>DECIMAL) GiB",
        ),
        (
            "trt_budget", "tensorrt-llm", "calculating max tokens",
            r"total: (?P<gpu_memory_gib>DECIMAL) GiB, available: (?P<available_kv_gib>DECIMAL) GiB",
        ),
    )
)  # fmt: skip

ARGUMENT_LISTS = (
    ("non-default args: {", ":", "vllm"),
    ("server_args=ServerArgs(", "=", "sglang"),
    (" with config: ", "=", "vllm"),
    (" args: Namespace(", "=", "vllm"),
)
"""Where a list of arguments starts, what stands between a name and its value, and whose it is."""

MARKS: tuple[bytes, ...] = (
    b"GiB", b"KV cache size", b"oncurrency for", b"blocks: ", b"-default args", b"ServerArgs(", b"attention b", b" version ",
    b"LLM engine (v", b"stored in KV cache", b"maximum model length", b"max_total_num_tokens", b"is allocated", b"avail mem",
    b"layer_tokens=", b"llama_kv_cache", b"KV self size", b"k/v cache", b"paged KV cache", b"primary pool", b"okens per block",
    b"mamba page size by", b"padding layers", b"weights took", b"oading took", b"num_gpu_blocks", b"init engine", b"max_num_batched_tokens=",
    b"store kv", b"KV cache format", b"cache dtype", b"block size to", b"max concurrency", b"peak activation", b"gpu_memory_utilization 0",
    b"Starting to load model",
)  # fmt: skip
"""Texts that pick the lines worth a closer look out of a log of any length; every pattern's lines hold one of them."""

WORDS_ABOUT: tuple[bytes, ...] = (
    b"vllm serve", b"vllm.entrypoints", b"launch_server", b"sglang serve", b"vLLM Version", b"vllm==", b"vllm-openai",
    b"lmsysorg/sglang:", b"hybrid kv cache manager", b"KV cache manager is disabled",
    b"is assigned as", b"args: Namespace(", b"SWAKVPool", b"  model  ", b"odel: ", b"MODEL: ", b'"MESSAGE":[',
)  # fmt: skip
"""Texts of what people post around a log, and of collectors; they are looked for in its beginning only, to read fast."""
