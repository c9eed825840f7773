"""Engine flags as data: which request field each sets, which do not matter to memory, which matter but are not modelled."""

import re
from collections.abc import Mapping

from kvcore.request_fields import REQUEST_FIELDS

VLLM_ALIASES: Mapping[str, str] = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-dcp": "--decode-context-parallel-size",
    "-ep": "--enable-expert-parallel",
    "-sc": "--speculative-config",
    "-q": "--quantization",
    "-n": "--nnodes",
    "-r": "--node-rank",
    "-cc": "--compilation-config",
    "-ac": "--attention-config",
    "-pcp": "--prefill-context-parallel-size",
    "-dpl": "--data-parallel-size-local",
    "-dpr": "--data-parallel-start-rank",
    "-dpa": "--data-parallel-address",
    "-dpp": "--data-parallel-rpc-port",
    "-dpb": "--data-parallel-backend",
    "-dph": "--data-parallel-hybrid-lb",
    "-dpe": "--data-parallel-external-lb",
    "-O": "--optimization-level",
    "--max-seq-len": "--max-model-len",
    "--device-memory-utilization": "--gpu-memory-utilization",
}
"""Short and older spellings (vLLM 0.33.0 `EngineArgs.add_cli_args`)."""

SGLANG_ALIASES: Mapping[str, str] = {
    "--tensor-parallel-size": "--tp-size",
    "--tp": "--tp-size",
    "--pipeline-parallel-size": "--pp-size",
    "--pp": "--pp-size",
    "--data-parallel-size": "--dp-size",
    "--dp": "--dp-size",
    "--expert-parallel-size": "--ep-size",
    "--ep": "--ep-size",
    "--max-model-len": "--context-length",
    "--model": "--model-path",
}
"""Other spellings (SGLang 0.5.23 `ServerArgs.add_cli_args`)."""

MODEL_FLAGS: Mapping[str, str] = {"vllm": "--model", "sglang": "--model-path"}

UNMODELLED = frozenset({
    "--prefill-context-parallel-size", "--cpu-offload-gb", "--offload-group-size", "--kv-offloading-size",
    "--kv-offloading-backend", "--kv-transfer-config", "--disable-sliding-window", "--performance-mode",
    "--hf-overrides", "--hf-config-path", "--enable-lora", "--max-loras", "--max-lora-rank", "--quantization",
    "--attention-config", "--compilation-config", "--max-cudagraph-capture-size", "--cudagraph-capture-sizes",
    "--mamba-block-size", "--use-replayssm", "--replayssm-buffer-len", "--limit-mm-per-prompt", "--language-model-only",
    "--skip-mm-profiling", "--mm-encoder-only", "--mm-ipc-gpu-memory-gb", "--runner", "--convert", "--pooler-config",
    "--enable-chunked-prefill", "--no-enable-chunked-prefill", "--swa-bounded-replay", "--gdn-prefill-backend",
    "--kda-prefill-backend", "--enable-dbo", "--enable-eplb", "--max-num-scheduled-tokens", "--spec-method",
    "--spec-model", "--spec-tokens", "--additional-config", "--moe-dense-tp-size", "--enable-hierarchical-cache",
    "--hicache-ratio", "--hicache-size", "--enable-hisparse", "--json-model-override-args", "--cuda-graph-max-bs",
    "--enable-lora-overlap-loading", "--max-loras-per-batch", "--lora-paths", "--config",
    "--moe-a2a-backend", "--enable-symm-mem", "--cuda-graph-bs", "--cuda-graph-bs-decode", "--cuda-graph-bs-prefill",
    "--cuda-graph-max-bs-decode", "--cuda-graph-max-bs-prefill", "--cuda-graph-config", "--cuda-graph-backend-decode",
    "--cuda-graph-backend-prefill", "--disable-decode-cuda-graph", "--disable-prefill-cuda-graph",
    "--max-prefill-tokens", "--enable-unified-memory", "--enable-kv-cache-sharding", "--dcp-size", "--attn-cp-size",
    "--enable-prefill-cp", "--enable-memory-saver", "--enable-two-batch-overlap", "--enable-torch-compile",
    "--enable-multi-layer-eagle", "--speculative-adaptive", "--speculative-draft-kv-cache-dtype",
    "--speculative-draft-window-size", "--speculative-dflash-block-size", "--ep-num-redundant-experts",
    "--enable-dp-lm-head", "--moe-dp-size", "--shared-experts-tp-size", "--enable-int8-mamba-checkpoint",
    "--int8-mamba-ckpt-size", "--enable-linear-replayssm", "--linear-replayssm-cache-len",
    "--mamba-max-states-per-path", "--enable-dsa-cache-layer-split", "--enable-deepseek-v4-fp4-indexer",
    "--prefill-only-disable-kv-cache", "--prefill-attention-backend", "--decode-attention-backend",
    "--disaggregation-decode-extra-slots", "--offload-mode", "--language-only", "--encoder-only", "--is-embedding",
})  # fmt: skip
"""Flags that change memory in ways kvcore does not compute; the reader is told."""

IGNORED = frozenset({
    "--host", "--port", "--api-key", "--served-model-name", "--tokenizer", "--tokenizer-mode", "--tokenizer-path",
    "--tokenizer-revision", "--revision", "--code-revision", "--trust-remote-code", "--download-dir", "--load-format",
    "--seed", "--random-seed", "--disable-log-requests", "--enable-log-requests", "--disable-log-stats",
    "--uvicorn-log-level", "--log-level", "--log-level-http", "--log-config-file", "--chat-template",
    "--chat-template-content-format", "--reasoning-parser", "--tool-call-parser", "--enable-auto-tool-choice",
    "--tool-parser-plugin", "--reasoning-parser-plugin", "--reasoning-config", "--structured-outputs-config",
    "--guided-decoding-backend", "--generation-config", "--override-generation-config", "--response-role",
    "--root-path", "--ssl-keyfile", "--ssl-certfile", "--ssl-ca-certs", "--allowed-origins", "--allowed-methods",
    "--allowed-headers", "--allow-credentials", "--middleware", "--max-log-len", "--api-server-count", "--headless",
    "--distributed-executor-backend", "--distributed-timeout-seconds", "--data-parallel-size-local",
    "--data-parallel-start-rank", "--data-parallel-rank", "--data-parallel-address", "--data-parallel-rpc-port",
    "--data-parallel-backend", "--data-parallel-hybrid-lb", "--data-parallel-external-lb", "--master-addr",
    "--master-port", "--nnodes", "--node-rank", "--dist-init-addr", "--dist-timeout", "--disable-custom-all-reduce",
    "--all2all-backend", "--moe-backend", "--moe-runner-backend", "--linear-backend", "--expert-placement-strategy",
    "--max-logprobs", "--logprobs-mode", "--scheduling-policy", "--schedule-policy", "--scheduler-cls",
    "--long-prefill-token-threshold", "--prefix-caching-hash-algo", "--kv-events-config", "--hf-token",
    "--otlp-traces-endpoint", "--collect-detailed-traces", "--profiler-config", "--optimization-level",
    "--enable-prompt-tokens-details", "--enable-server-load-tracking", "--disable-fastapi-docs",
    "--enable-request-id-headers", "--enable-sleep-mode", "--enable-flashinfer-autotune", "--use-tqdm-on-load",
    "--model-impl", "--config-format", "--ignore-patterns", "--safetensors-load-strategy", "--mm-processor-kwargs",
    "--mm-processor-cache-gb", "--mm-processor-cache-type", "--media-io-kwargs", "--interleave-mm-strings",
    "--allowed-local-media-path", "--allowed-media-domains", "--show-hidden-metrics-for-version", "--model-loader-extra-config",
    "--skip-tokenizer-init", "--skip-server-warmup", "--enable-metrics", "--enable-cache-report", "--watchdog-timeout",
    "--decode-log-interval", "--file-storage-path", "--stream-interval", "--sampling-backend", "--grammar-backend",
    "--weight-version", "--base-gpu-id", "--device", "--device-ids", "--nccl-port", "--warmups", "--numa-node",
    "--deepep-mode", "--deepep-config", "--ep-dispatch-algorithm", "--eplb-algorithm", "--init-expert-location",
    "--elastic-ep-backend", "--disaggregation-bootstrap-port", "--disaggregation-ib-device",
    "--disaggregation-transfer-backend", "--mooncake-ib-device", "--load-balance-method",
    "--schedule-conservativeness", "--num-continuous-decode-steps", "--scheduler-recv-interval",
    "--max-queued-requests", "--enable-priority-scheduling", "--radix-eviction-policy", "--log-requests",
    "--log-requests-level", "--log-requests-format", "--tokenizer-worker-num", "--detokenizer-worker-num",
    "--incremental-streaming-output", "--default-chat-template-kwargs", "--preferred-sampling-params",
    "--sampling-defaults", "--admin-api-key", "--fastapi-root-path", "--enable-metrics-for-all-schedulers",
    "--enable-mfu-metrics", "--enable-request-time-stats-logging", "--enable-trace", "--export-metrics-to-file",
    "--export-metrics-to-file-dir", "--crash-dump-folder", "--sleep-on-idle", "--soft-watchdog-timeout",
    "--gpu-id-step", "--enable-p2p-check", "--fp8-gemm-runner-backend", "--fp4-gemm-runner-backend",
    "--disable-flashinfer-autotune", "--weight-loader-disable-mmap", "--weight-loader-prefetch-checkpoints",
    "--weight-loader-prefetch-num-threads",
})  # fmt: skip
"""Flags that do not matter to the cache's memory."""

SWITCHES = frozenset({
    "--trust-remote-code", "--disable-log-requests", "--enable-log-requests", "--disable-log-stats",
    "--enable-auto-tool-choice", "--allow-credentials", "--headless", "--data-parallel-hybrid-lb",
    "--data-parallel-external-lb", "--disable-custom-all-reduce", "--enable-prompt-tokens-details",
    "--enable-server-load-tracking", "--disable-fastapi-docs", "--enable-request-id-headers", "--enable-sleep-mode",
    "--enable-flashinfer-autotune", "--skip-tokenizer-init", "--skip-server-warmup", "--enable-metrics",
    "--enable-cache-report", "--disable-sliding-window", "--enable-lora", "--language-model-only",
    "--skip-mm-profiling", "--mm-encoder-only", "--enable-chunked-prefill", "--no-enable-chunked-prefill",
    "--use-replayssm", "--swa-bounded-replay", "--enable-dbo", "--enable-eplb", "--enable-hierarchical-cache",
    "--enable-hisparse", "--interleave-mm-strings",
    "--enable-symm-mem", "--disable-decode-cuda-graph", "--disable-prefill-cuda-graph", "--enable-unified-memory",
    "--enable-kv-cache-sharding", "--enable-prefill-cp", "--enable-memory-saver", "--enable-two-batch-overlap",
    "--enable-torch-compile", "--enable-multi-layer-eagle", "--speculative-adaptive", "--enable-dp-lm-head",
    "--enable-int8-mamba-checkpoint", "--enable-linear-replayssm", "--enable-dsa-cache-layer-split",
    "--enable-deepseek-v4-fp4-indexer", "--prefill-only-disable-kv-cache", "--language-only", "--encoder-only",
    "--is-embedding", "--enable-priority-scheduling", "--log-requests", "--incremental-streaming-output",
    "--enable-metrics-for-all-schedulers", "--enable-mfu-metrics", "--enable-request-time-stats-logging",
    "--enable-trace", "--export-metrics-to-file", "--sleep-on-idle", "--enable-p2p-check",
    "--disable-flashinfer-autotune", "--weight-loader-disable-mmap", "--weight-loader-prefetch-checkpoints",
})  # fmt: skip
"""Flags without a value, among those that set no request field."""

FIELD_OF_FLAG: Mapping[str, Mapping[str, str]] = {
    engine: {field.flag: field.name for field in REQUEST_FIELDS if field.flag and field.engine in {engine, "both"}}
    for engine in ("vllm", "sglang")
}
"""Request field by flag, per engine: the table of request fields turned round."""

SWITCH_FIELDS = frozenset(field.name for field in REQUEST_FIELDS if field.type == "boolean")
OBJECT_FIELDS = frozenset(field.name for field in REQUEST_FIELDS if field.type in {"object", "speculative"})
LIST_FIELDS = frozenset(field.name for field in REQUEST_FIELDS if field.type == "strings")
INTEGER_FIELDS = frozenset(field.name for field in REQUEST_FIELDS if field.type in {"integer", "budget"})


def canonical_flag(engine: str, flag: str) -> str:
    """The engine's long spelling of a flag; underscores count as dashes."""
    if re.fullmatch(r"-O\d", flag):
        return "--optimization-level"
    spelled = flag if not flag.startswith("--") else flag.replace("_", "-")
    aliases = VLLM_ALIASES if engine == "vllm" else SGLANG_ALIASES
    return aliases.get(spelled, spelled)
