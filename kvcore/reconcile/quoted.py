"""Figures that people quote in a sentence or a table, where an engine's own line is missing.

They count only for what no line of the engine says. The wording is that of public threads and test reports.
"""

from kvcore.reconcile.patterns import Pattern, pattern

QUOTED: tuple[Pattern, ...] = tuple(
    pattern("quoted", "vllm", mark, text)
    for mark, text in (
        ("KV", r"\bKV (?:cache|pool)\b[^;]{0,40}?(?<![\d.,])(?P<gpu_kv_cache_tokens>COUNT)(?: tokens|(?=, max))"),
        ("tokens", r"actual tokens (?P<gpu_kv_cache_tokens>COUNT)"),
        ("max concurrency", r"max concurrency:? (?P<max_concurrency>DECIMAL)x"),
        ("tokens / ", r"tokens / (?P<max_concurrency>DECIMAL)x"),
        ("context ", r"context (?P<max_concurrency_len>COUNT)(?: \w+ KV)?: KV"),
        ("KV", r"\bKV(?: cache:)? (?P<available_kv_gib>DECIMAL)GIB"),
        ("for KV cache", r"(?P<available_kv_gib>DECIMAL)GIB for KV cache"),
        (" pool", r"(?P<available_kv_gib>DECIMAL)GIB pool\b"),
        ("weight", r"\bweights? (?P<model_loading_gib>DECIMAL)(?:GIB|,)"),
        ("activation", r"\bactivation (?P<activation_gib>DECIMAL)(?:GIB|,)"),
        ("non-torch", r"\bnon-torch (?P<non_torch_gib>DECIMAL)(?:GIB|,)"),
        ("CUDAGraph", r"\bCUDAGraph (?P<graph_capture_gib>DECIMAL)"),
        ("attention block", r"attention blocks? to (?P<attention_block_size>\d+) tokens"),
    )
)
"""Expressions by what they look for; every one needs its mark."""
