"""What each line of a log means, as data: a plain reading, and the page that says more."""

# ruff: noqa: ISC004 - rows of texts, each sentence over as many lines as it needs

from collections.abc import Mapping
from dataclasses import dataclass

STATES = "concepts/hybrid-alignment/#block"
KINDS, BLOCKS, GROUPS = (
    "concepts/cache-kinds/#keys-and-values",
    "concepts/blocks-and-pages/#blocks",
    "concepts/windows/#groups",
)
ERAS, CONCURRENCY, COMPARE = (f"concepts/log-lines/#{anchor}" for anchor in ("eras", "concurrency", "compare"))
REQUESTED, WEIGHTS, ACTIVATIONS, OUTSIDE, GRAPHS, BY_HAND, OTHERS = (
    f"concepts/memory/#{anchor}"
    for anchor in ("requested", "weights", "activations", "non-torch", "graphs", "by-hand", "others")
)
SGLANG = "concepts/sglang/#log-lines"


@dataclass(frozen=True)
class Reading:
    """A kind of line: its title, what it means, and the page below the site's root that explains it."""

    title: str
    text: str
    page: str


READINGS: Mapping[str, Reading] = {
    "tokens": Reading(
        "GPU KV cache size",
        "Not a pool of tokens for every model. Up to 0.20.0 it is blocks per group times the smallest block; from 0.20.1 on "
        "it is maximum concurrency times the context length, so it changes with --max-model-len at the same memory. Only "
        "where every layer keeps every token can requests share it token by token. Each GPU of a tensor-parallel group "
        "prints the same figure: do not add them up.",
        ERAS,
    ),
    "concurrency": Reading(
        "Maximum concurrency",
        "How many requests of exactly this length the engine's estimate lets in at once. It is neither a limit (shorter "
        "requests fit more often) nor a promise (one block is kept back), and says nothing about requests per second.",
        CONCURRENCY,
    ),
    "available": Reading(
        "Available KV cache memory",
        "The budget: GPU memory times utilization, minus weights, the peak of activations and what other libraries hold; "
        "from 0.20 also minus an estimate for CUDA graphs. GiB of 1024³ bytes, rounded to two decimals, per GPU. A "
        "negative value means the rest alone is too large for the share that was allowed.",
        REQUESTED,
    ),
    "reserved": Reading(
        "Reserved cache memory",
        "--kv-cache-memory-bytes set the budget, so nothing was measured: the utilization no longer counts, and what the "
        "engine needs besides must fit into the rest of the card.",
        BY_HAND,
    ),
    "loading": Reading(
        "Model loading",
        "Weights on one GPU, with what the loader left behind. Early releases write GB and mean GiB.",
        WEIGHTS,
    ),
    "graph": Reading(
        "CUDA graphs",
        "Memory taken while graphs were captured. Up to 0.19 it comes on top of the budget; it can be printed negative "
        "when other memory was freed meanwhile, and then means nothing.",
        GRAPHS,
    ),
    "graph_estimate": Reading(
        "CUDA graph estimate",
        "What graphs are expected to take, deducted from the budget from 0.20 on. It extrapolates from two captures, and "
        "can be far above what is taken when graphs share a pool.",
        GRAPHS,
    ),
    "graph_profiling": Reading(
        "CUDA graph profiling",
        "The engine says which utilization would give the budget of earlier releases. Raising it is safe only if the "
        "graphs really take what was estimated.",
        GRAPHS,
    ),
    "init": Reading(
        "Start of the engine", "How long profiling, allocating and warming up took; it holds no cache figure.", BLOCKS
    ),
    "attention_block": Reading(
        "Attention block size",
        "A hybrid model: blocks were made so large that a page of attention is at least as large as one recurrent state. "
        "Prefixes are reused in whole blocks, and a short request still takes whole blocks.",
        STATES,
    ),
    "kernel_block": Reading(
        "Block size of a kernel", "The attention kernels take this block size only, whatever --block-size says.", BLOCKS
    ),
    "mamba_padding": Reading(
        "Padding of states",
        "States were padded so that their page equals a page of attention: this share of every state's page is not used.",
        STATES,
    ),
    "padding_layers": Reading(
        "Padding layers",
        "The layers do not divide evenly into groups. The missing ones are filled with layers that store nothing; the "
        "printed percentage is the most that can be lost, for requests that fill every group.",
        GROUPS,
    ),
    "blocks": Reading(
        "Blocks of the pool",
        "GPU blocks are the pool; each holds a fixed number of tokens of one group. CPU blocks were swap space of the first "
        "engine and never hold a running request.",
        BLOCKS,
    ),
    "override": Reading(
        "Block count override",
        "Someone set the number of blocks by hand. The budget is then not what decides.",
        BLOCKS,
    ),
    "refusal": Reading(
        "Refusal at start",
        "One request of the full length does not fit. The first figure is what that one request needs, not what to add. "
        "Shorten --max-model-len, free memory, or store the cache in fewer bytes.",
        CONCURRENCY,
    ),
    "estimated_length": Reading(
        "Estimated maximum length",
        "The longest request that would fit. It is not proportional to the memory: windows and states cost the same at any "
        "length.",
        CONCURRENCY,
    ),
    "free_memory": Reading(
        "Free memory at start",
        "Free and total memory of the card as the driver reports them. The utilization is a share of the total, not of "
        "what is free, so other processes make the start fail.",
        REQUESTED,
    ),
    "requested_memory": Reading(
        "Requested memory", "Total memory times utilization: all that the engine may use, cache included.", REQUESTED
    ),
    "weights": Reading("Weights", "Weights on one GPU, as measured while loading.", WEIGHTS),
    "consumed": Reading("Weights and other", "Weights together with memory outside PyTorch, on one GPU.", WEIGHTS),
    "activation": Reading(
        "Peak of activations",
        "The most that one step of max_num_batched_tokens needed while profiling. Fewer batched tokens make it smaller and "
        "the cache larger.",
        ACTIVATIONS,
    ),
    "non_torch": Reading(
        "Memory outside PyTorch", "Communication buffers and the CUDA context; grows with tensor parallelism.", OUTSIDE
    ),
    "non_kv": Reading(
        "Everything but the cache",
        "Weights, the peak of activations and memory outside PyTorch, on one GPU.",
        REQUESTED,
    ),
    "quoted": Reading(
        "Quoted figures",
        "Not lines an engine prints, but figures somebody copied out of one. They count where the line itself is missing, and "
        "may be rounded.",
        COMPARE,
    ),
    "kv_cache_memory": Reading(
        "Suggested cache memory",
        "Bytes the engine suggests for --kv-cache-memory-bytes. Its advice counts graph memory twice in some releases; "
        "leave a margin.",
        BY_HAND,
    ),
    "profile": Reading(
        "Profile of the first engine", "Total, peak and what is left for the cache, in one line.", REQUESTED
    ),
    "chunked_prefill": Reading(
        "Chunked prefill",
        "Tokens of one step. Windows and chunks keep this many tokens in flight beside the window itself; from 0.26 that "
        "of every batch in flight.",
        "concepts/windows/#in-flight",
    ),
    "dcp": Reading(
        "Decode context parallel",
        "The ranks share the tokens of a request, so the printed figure is that of one rank times their number.",
        "concepts/sharding/#decode-context-parallel",
    ),
    "backend": Reading(
        "Attention backend",
        "The kernels that were chosen. They decide which block sizes and formats are possible.",
        BLOCKS,
    ),
    "cache_dtype": Reading("Cache dtype", "How entries are stored; it need not be what the flag said.", KINDS),
    "version": Reading(
        "Release",
        "Which rules apply: releases count tokens, windows and states differently.",
        "versions/#release-by-release",
    ),
    "arguments": Reading(
        "Arguments",
        "The flags the engine was started with. kvcore takes those that decide sizes, and no names.",
        COMPARE,
    ),
    "command": Reading(
        "Command",
        "The command posted with the log, which stands in for its list of arguments. kvcore takes the flags that decide sizes.",
        COMPARE,
    ),
    "hybrid_off": Reading(
        "Hybrid manager off",
        "Layers with windows or chunks are charged like full attention. A connector that cannot move groups of layers turns "
        "the manager off.",
        COMPARE,
    ),
    "ranks": Reading(
        "Ranks", "Where one worker stands among all: the largest ranks say how layers and heads are split.", COMPARE
    ),
    "model": Reading(
        "Model", "Which checkpoint is loaded. kvcore looks its name up in the catalogue and keeps no path.", COMPARE
    ),
    "config_dump": Reading(
        "Resolved configuration", "What the flags became after the engine filled in its defaults.", COMPARE
    ),
    "sglang_tokens": Reading(
        "max_total_num_tokens",
        "SGLang's pool: tokens all running requests share, page by page. For hybrids it counts the full-attention pool "
        "only; window and state pools have sizes of their own. max_running_requests is a cap of its own.",
        SGLANG,
    ),
    "sglang_pool": Reading(
        "Pool of keys and values",
        "One allocated pool with its tokens and bytes. A second one of the same tokens belongs to a drafter. GB here are "
        "GiB of 1024³ bytes, and the pool holds one page more than its tokens.",
        SGLANG,
    ),
    "sglang_states": Reading(
        "Pool of states", "Slots for recurrent states; each running request needs at least one.", SGLANG
    ),
    "sglang_window": Reading(
        "Window pool",
        "Windowed layers have a pool of their own. The smaller of the two decides how many tokens are admitted.",
        SGLANG,
    ),
    "sglang_before": Reading(
        "Free before loading", "Free memory the static fraction is taken of; neighbours change it.", SGLANG
    ),
    "sglang_after": Reading(
        "Free after loading",
        "What is left beside the weights. The pools get this minus (1 − mem_fraction_static) of what was free before.",
        SGLANG,
    ),
    "sglang_pool_end": Reading("Free after the pools", "What is left for activations and graphs.", SGLANG),
    "sglang_graph": Reading("Graphs", "Memory taken by captured graphs, out of what the static fraction left.", SGLANG),
    "sglang_dtype": Reading(
        "Cache dtype", "How entries of the pools are stored, after the engine's own default.", KINDS
    ),
    "sglang_version": Reading("Release", "Which release of SGLang wrote this log.", SGLANG),
    "llama_pool": Reading(
        "llama.cpp cache",
        "Cells times layers in MiB. Windowed layers have a cache of their own whose cells grow with the number of slots, "
        "not with the context. kvcore reads these lines and does not compute them.",
        KINDS,
    ),
    "trt_pool": Reading(
        "TensorRT-LLM cache",
        "Tokens of the paged cache: blocks times tokens per block. kvcore reads these lines and does not compute them.",
        OTHERS,
    ),
    "trt_bytes": Reading("TensorRT-LLM bytes", "Bytes allocated for keys and values on one GPU.", OTHERS),
    "trt_blocks": Reading("TensorRT-LLM blocks", "Blocks of the primary pool, and tokens each holds.", BLOCKS),
    "trt_profile": Reading(
        "TensorRT-LLM profile",
        "The peak without the cache, the share of the rest the cache gets, and the bytes of one token.",
        OTHERS,
    ),
    "trt_budget": Reading("TensorRT-LLM budget", "Memory left before the free fraction is applied.", OTHERS),
    "run_pool": Reading(
        "Pool of a finished run",
        "Tokens of one worker's pool, as the simulator recorded it. It states no bytes, so nothing is computed from it.",
        BLOCKS,
    ),
}
"""Reading of every kind of line."""

CHECKLIST: tuple[tuple[str, str], ...] = (
    (
        "Cache dtype",
        "Is the cache stored as you think? A checkpoint may declare fp8 where no flag does: half the bytes, twice the tokens.",
    ),
    (
        "Latent attention",
        "Does the model store one latent per token (MLA)? Keys and values per head would count it many times over, and "
        "sparse variants add an index key.",
    ),
    (
        "Reserves",
        "Are the peak of activations and the CUDA graphs off the budget? Compare with the printed line, not with the size "
        "of the card.",
    ),
    (
        "Page padding",
        "Do all layers have the same page? Where they do not, pages or whole layers are padded, and requests take whole "
        "blocks.",
    ),
    (
        "States",
        "Are there recurrent or convolution states? They cost the same at any length, in copies that depend on prefix "
        "caching and drafts.",
    ),
    (
        "Sharding",
        "Do the KV heads divide by the tensor-parallel size? Ranks beyond the heads hold copies; a latent is held whole by "
        "every rank.",
    ),
)
"""The six points to check where figures differ, most often the reason first."""

GREP_HINTS: tuple[tuple[str, str], ...] = (
    (
        "vLLM",
        "grep -E 'GPU KV cache size|Maximum concurrency|Available KV cache memory|GPU blocks|non-default args|version' server.log",
    ),
    ("SGLang", "grep -E 'max_total_num_tokens|KV Cache is allocated|avail mem|server_args' server.log"),
    ("a container", "docker logs CONTAINER 2>&1 | kvcore reconcile -"),
)
"""How to find the lines, by where the engine runs."""
