"""An SGLang log altered by one cause alone is diagnosed as that cause first."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.reconcile import reconcile

Request = Mapping[str, Any]

BEFORE, AFTER, LAYERS, KEY_AND_VALUE, HEADS, HEAD_DIM = 78.5, 47.5, 64, 2, 8, 128
GIB = 1 << 30
ASKED: Request = {"engine": "sglang", "model": "Qwen/Qwen3-32B", "gpu": "H100", "mem_fraction_static": 0.85}
FREE = {"available_before_load_gib": BEFORE, "available_after_load_gib": AFTER}

CAUSES: tuple[tuple[str, Request, Request, int], ...] = (
    ("static_fraction", ASKED, {"mem_fraction_static": 0.7}, 2),
    ("sglang_cache_dtype", ASKED, {"kv_cache_dtype": "fp8_e4m3"}, 1),
)
"""Cause, deployment as asked, what really ran, and bytes of one number of its cache."""


def tokens_of(request: Request) -> int:
    """Tokens SGLang has room for beside this log's weights."""
    report = answer({**request, **FREE})
    assert report.errors == ()
    assert report.capacity is not None
    assert report.capacity.tokens.engine_log is not None
    return report.capacity.tokens.engine_log


def sglang_log(request: Request, bytes_per_number: int) -> str:
    """The lines SGLang prints for a request."""
    tokens = tokens_of(request)
    half = tokens * LAYERS * HEADS * HEAD_DIM * bytes_per_number / GIB
    return (
        f"[2026-01-04 07:00:37 TP0] Load weight begin. avail mem={BEFORE:.2f} GB\n"
        f"[2026-01-04 07:05:25 TP0] Load weight end. type=Qwen3ForCausalLM, avail mem={AFTER:.2f} GB, mem usage=31.00 GB.\n"
        f"[2026-01-04 07:05:26 TP0] KV Cache is allocated. #tokens: {tokens}, K size: {half:.2f} GB, V size: {half:.2f} GB\n"
        f"[2026-01-04 07:05:26 TP0] Memory pool end. avail mem={AFTER - KEY_AND_VALUE * half:.2f} GB\n"
        f"[2026-01-04 07:07:30 TP0] max_total_num_tokens={tokens}, chunked_prefill_size=-1, max_prefill_tokens=65536, "
        "max_running_requests=32, context_len=40960, available_gpu_mem=14.41 GB\n"
    )


@pytest.mark.parametrize(("key", "asked", "altered", "size"), CAUSES, ids=[row[0] for row in CAUSES])
def test_a_log_altered_by_one_cause_is_diagnosed_as_that_cause_first(
    key: str, asked: Request, altered: Request, size: int
) -> None:
    found = reconcile(read_log_text(sglang_log({**asked, **altered}, size)), asked)

    assert found.verdict == "explained"
    assert found.diagnoses[0].key == key


def test_kernels_that_this_release_refuses_are_tried_as_those_it_takes() -> None:
    four_bits: Request = {**ASKED, "kv_cache_dtype": "fp4_mx_block16", "attention_backend": "triton"}
    log = sglang_log(four_bits, 1)

    found = reconcile(read_log_text(log), {**four_bits, "attention_backend": "flashinfer"})

    assert found.diagnoses[0].key == "kernels"


def test_a_log_that_agrees_needs_no_cause() -> None:
    found = reconcile(read_log_text(sglang_log(ASKED, 2)), ASKED)

    assert (found.verdict, found.diagnoses) == ("equal", ())


def test_the_next_flags_of_sglang_carry_their_computed_tokens() -> None:
    found = reconcile(read_log_text(sglang_log(ASKED, 2)), ASKED)

    flags = {step.flag: step.tokens for step in found.next_steps}

    assert flags == {
        "--kv-cache-dtype fp8_e4m3": tokens_of({**ASKED, "kv_cache_dtype": "fp8_e4m3"}),
        "--mem-fraction-static 0.88": tokens_of({**ASKED, "mem_fraction_static": 0.88}),
    }
    bytes_per_token = KEY_AND_VALUE * LAYERS * HEADS * HEAD_DIM
    static = (AFTER - BEFORE * (1 - ASKED["mem_fraction_static"])) * GIB
    assert flags["--kv-cache-dtype fp8_e4m3"] == math.floor(static / bytes_per_token)
