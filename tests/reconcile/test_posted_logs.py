"""Logs as people post them: broken, quoted, escaped, inside the records of collectors, beside the command they ran."""

import json

import pytest

from kvcore.reconcile.implied import FIRST_KNOWN, implied_request
from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.reconcile import reconcile

TOKENS = "INFO [kv_cache_utils.py:1] GPU KV cache size: 343,744 tokens"
AVAILABLE = "INFO [gpu_worker.py:1] Available KV cache memory: 12.34 GiB"
ARGUMENTS = "INFO [utils.py:233] non-default args: {'model': 'Qwen/Qwen3-8B', 'max_model_len': 4096}"


def figures(text: str) -> dict[str, str]:
    return {figure.name: figure.printed for figure in read_log_text(text).figures}


@pytest.mark.parametrize(
    "text",
    [
        "INFO [kv_cache_utils.py:1] GPU KV cache size: 343,\n744 tokens\nINFO done",
        "INFO [kv_cache_utils.py:1] GPU KV cache size: 343,744\n tokens",
        "> INFO [kv_cache_utils.py:1] GPU KV cache size:\n> 343,744 tokens",
        "GPU KV cache size: **343,744** tokens",
        "GPU KV cache size: <strong>343,744</strong> tokens",
        "`GPU KV cache size: 343,744 tokens`",
        "[0;36m(EngineCore_DP0 pid=1)[0;0m INFO GPU KV cache size: 343,744 tokens",
        "^[[36m(EngineCore_DP0 pid=1)^[[0m INFO GPU KV cache size: 343,744 tokens",
        'vllm-1  | {"level": "info", "message": "GPU KV cache size: 343,744 tokens"}',
        json.dumps({"jsonPayload": {"message": TOKENS}}),
        json.dumps({"MESSAGE": list(f"\x1b[36m{TOKENS}\x1b[0m".encode())}, separators=(",", ":")),
    ],
)
def test_a_figure_is_read_however_its_line_was_posted(text: str) -> None:
    assert figures(text) == {"gpu_kv_cache_tokens": "343744"}


WIDE = "(EngineCore_DP0 pid=590168) INFO 01-16 14:20:15 [kv_cache_utils.py:1286] GPU KV cache size: 343,744 tokens"
BEHIND = "(EngineCore_DP0 pid=590168) INFO 01-16 14:20:15 [gpu_worker.py:359] Available KV cache memory: 12.34 GiB"


def cut(text: str, column: int) -> str:
    """A text as a terminal of a width shows it."""
    lines = (line[at : at + column] for line in text.split("\n") for at in range(0, len(line), column))
    return "\n".join(lines)


@pytest.mark.parametrize("column", range(50, 110, 7))
def test_lines_cut_at_any_column_are_read_as_they_were(column: int) -> None:
    assert figures(cut(f"{BEHIND}\n{WIDE}", column)) == {"available_kv_gib": "12.34", "gpu_kv_cache_tokens": "343744"}


def test_a_number_cut_in_two_is_read_whole() -> None:
    pool = "[2026-06-07 12:06:52 DP0 TP0 EP0] KV Cache is allocated. #tokens: 126333, K size: 1.69 GB, V size: 1.69 GB"

    assert figures(cut(f"{pool}\n{pool}", pool.index("126333") + 3))["pool_tokens"] == "126333"


def test_lines_broken_between_words_in_a_quotation_are_read_as_they_were() -> None:
    quoted = "\n".join(f"> {part}" for part in (*WIDE.rsplit(" ", 3)[:1], " ".join(WIDE.rsplit(" ", 3)[1:])))

    assert figures(quoted) == {"gpu_kv_cache_tokens": "343744"}


def test_what_the_engine_prints_wins_over_packages_named_around_it() -> None:
    log = f"pip install vllm==0.10.0\nINFO [core.py:1] Initializing a V1 LLM engine (v0.11.0) with config: model='x'\n{TOKENS}"

    assert read_log_text(log).engine_version == "0.11.0"


def test_a_broken_line_is_counted_once_and_a_whole_one_never_joined() -> None:
    broken = read_log_text("INFO Available KV cache memory: 12.3\n4 GiB\nINFO GPU KV cache size: 343,744\ntokens\n")
    whole = read_log_text(f"{AVAILABLE}\n{AVAILABLE}\n")

    assert [(figure.name, figure.printed) for figure in broken.figures] == [
        ("available_kv_gib", "12.34"),
        ("gpu_kv_cache_tokens", "343744"),
    ]
    assert [figure.line for figure in whole.figures] == [1, 2]


def test_every_line_of_a_message_that_holds_many_is_read() -> None:
    record = json.dumps({"log": f"{AVAILABLE}\n{TOKENS}\n"})

    assert figures(record) == {"available_kv_gib": "12.34", "gpu_kv_cache_tokens": "343744"}


@pytest.mark.parametrize(
    "text",
    [
        ARGUMENTS.replace("'", "&#39;"),
        ARGUMENTS.replace("_", r"\_"),
        ARGUMENTS.replace("max_model_len", "max_mo\ndel_len"),
        ARGUMENTS.replace(", ", ",\n  "),
        "INFO api_server.py:530] args: Namespace(model='Qwen/Qwen3-8B', dtype=None, max_model_len=4096)",
    ],
)
def test_arguments_are_read_escaped_broken_and_as_older_releases_print_them(text: str) -> None:
    record = read_log_text(text)

    assert record.flags == {"model": "Qwen/Qwen3-8B", "max_model_len": 4096}
    assert record.flags_complete


def test_a_posted_command_stands_in_for_arguments_and_its_image_for_the_release() -> None:
    command = "docker run vllm/vllm-openai:v0.20.0 vllm serve Qwen/Qwen3-8B \\\n    --tensor-parallel-size 2 \\\n    --max-model-len 4096"

    request = implied_request(read_log_text(f"$ {command}\n\n{AVAILABLE}\n{TOKENS}"), {}).request

    assert (request["model"], request["tensor_parallel_size"], request["max_model_len"]) == ("Qwen/Qwen3-8B", 2, 4096)
    assert request["engine_version"] == "0.20.0"


def test_the_engines_own_arguments_win_over_a_command() -> None:
    log = f"vllm serve Qwen/Qwen3-32B --max-model-len 8192\n{ARGUMENTS}\n{TOKENS}"

    assert implied_request(read_log_text(log), {}).request["model"] == "Qwen/Qwen3-8B"


@pytest.mark.parametrize(
    ("line", "release"),
    [
        ("INFO [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.20.0", "0.20.0"),
        (
            "vLLM Version                 : 0.18.2rc1.dev73+gdb7a17ecc (git sha: db7a17ecc)",
            "0.18.2rc1.dev73+gdb7a17ecc",
        ),
        ("vllm==0.19.1", "0.19.1"),
    ],
)
def test_the_release_is_read_from_the_banner_and_from_lists_of_packages(line: str, release: str) -> None:
    assert read_log_text(f"{line}\n{TOKENS}").engine_version == release


def test_the_release_of_another_engine_is_not_taken() -> None:
    assert read_log_text(f"tried sglang 0.5.16 first\n{TOKENS}").engine_version == ""


def test_the_model_is_read_from_the_line_that_loads_it() -> None:
    line = "INFO [gpu_model_runner.py:4777] Starting to load model Qwen/Qwen3-8B..."

    assert implied_request(read_log_text(f"{line}\n{TOKENS}"), {}).request["model"] == "Qwen/Qwen3-8B"


def test_ranks_that_say_where_they_stand_give_the_split_of_heads_and_layers() -> None:
    ranks = "\n".join(
        f"INFO rank {rank} in world size 4 is assigned as DP rank 0, PP rank {rank // 2}, TP rank {rank % 2}, EP rank 0"
        for rank in range(4)
    )

    request = implied_request(read_log_text(f"{ranks}\n{TOKENS}"), {}).request

    assert (request["tensor_parallel_size"], request["pipeline_parallel_size"]) == (2, 2)


def test_one_rank_of_many_says_nothing_about_the_split() -> None:
    line = "INFO rank 0 in world size 4 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0"

    assert "tensor_parallel_size" not in implied_request(read_log_text(f"{line}\n{TOKENS}"), {}).request


def test_a_hybrid_manager_that_was_turned_off_is_asked_for_so() -> None:
    line = "WARNING [vllm.py:1228] Turning off hybrid kv cache manager because `--kv-transfer-config` is set."

    assert implied_request(read_log_text(f"{line}\n{TOKENS}"), {}).request["disable_hybrid_kv_cache_manager"] is True


# https://github.com/vllm-project/vllm/issues/10517: Llama-3.1-8B on an RTX 3090, where Markdown took the first number sign away.
FIRST_ENGINE = """MODEL: meta-llama/Llama-3.1-8B-Instruct
Memory profiling results: total_gpu_memory=23.58GiB peak_torch_memory=17.06GiB kv_cache_size=3.81GiB gpu_memory_utilization=0.90
GPU blocks: 1952, # CPU blocks: 2048
Maximum concurrency for 20000 tokens per request: 1.56x
"""


def test_the_first_engines_blocks_are_counted_as_by_the_first_release_known() -> None:
    found = reconcile(read_log_text(FIRST_ENGINE), {})

    assert found.implied.request["engine_version"] == FIRST_KNOWN
    assert found.verdict == "within_rounding"
    assert {row.name: row.logged for row in found.prediction.checked if found.prediction} == {
        "num_gpu_blocks": 1952,
        "max_concurrency": 1.56,
    }


@pytest.mark.parametrize("device", ["GPU", "cuda", "CPU", "cpu", "NPU"])
def test_blocks_of_any_device_are_read_and_those_of_the_host_apart(device: str) -> None:
    record = read_log_text(f"INFO executor_base.py:108] # {device} blocks: 10019, # CPU blocks: 3276")

    assert [(figure.name, figure.value) for figure in record.figures] == [
        ("num_gpu_blocks", 10019),
        ("num_cpu_blocks", 3276),
    ]


def test_blocks_that_stand_for_the_budget_prove_nothing_alone() -> None:
    log = (
        "INFO Starting to load model meta-llama/Llama-3.1-8B-Instruct...\nINFO # GPU blocks: 12313, # CPU blocks: 2048"
    )

    assert reconcile(read_log_text(log), {}).verdict == "not_compared"


# https://github.com/DaisukeTakai/eval_dataset, vllm_predict.log: 0.10.0 prints tokens for every worker, the first has more.
EACH_WORKER = """INFO [api_server.py:1755] vLLM API server version 0.10.0
INFO [cli_args.py:261] non-default args: {'model': '/models/Qwen3-32B', 'max_model_len': 32768, 'tensor_parallel_size': 8, 'kv_cache_dtype': 'fp8'}
(VllmWorker rank=5 pid=8) INFO [gpu_worker.py:255] Available KV cache memory: 55.62 GiB
(VllmWorker rank=0 pid=3) INFO [gpu_worker.py:255] Available KV cache memory: 55.71 GiB
INFO [kv_cache_utils.py:833] GPU KV cache size: 3,650,960 tokens
INFO [kv_cache_utils.py:837] Maximum concurrency for 32,768 tokens per request: 111.42x
INFO [kv_cache_utils.py:833] GPU KV cache size: 3,644,816 tokens
INFO [kv_cache_utils.py:837] Maximum concurrency for 32,768 tokens per request: 111.23x
"""


def test_of_tokens_that_every_worker_prints_the_least_are_the_pools() -> None:
    found = reconcile(read_log_text(EACH_WORKER), {})

    assert found.verdict == "within_rounding"
    assert [row.logged for row in found.prediction.checked if found.prediction] == [3_644_816, 111.23]


# https://github.com/Zzsf11/VideoCuttingAgent, vllm_serve.log: of two workers only the first prints its budget.
SILENT_WORKER = """INFO [api_server.py:1] vLLM API server version 0.12.0
INFO [utils.py:1] non-default args: {'model': 'Qwen/Qwen3-VL-30B-A3B-Instruct', 'max_model_len': 65536, 'tensor_parallel_size': 2}
(Worker_TP0 pid=1182678) INFO [gpu_worker.py:359] Available KV cache memory: 37.23 GiB
(EngineCore_DP0 pid=1181805) INFO [kv_cache_utils.py:1286] GPU KV cache size: 813,152 tokens
(EngineCore_DP0 pid=1181805) INFO [kv_cache_utils.py:1291] Maximum concurrency for 65,536 tokens per request: 12.41x
"""
BLOCK = 16


def test_a_worker_that_prints_nothing_may_have_had_less_room() -> None:
    found = reconcile(read_log_text(SILENT_WORKER), {})

    assert (found.verdict, found.diagnoses[0].key) == ("explained", "another_rank")
    assert found.diagnoses[0].changes == {"num_gpu_blocks_override": 813_152 // BLOCK}


# https://github.com/jethac/dgx-spark-hijinks, results/sglang_bench_longprefill_20260607T120614Z_server.log
FREE_MEMORY_CHANGED = """server_args=ServerArgs(model_path='Qwen/Qwen2.5-1.5B-Instruct', mem_fraction_static=0.4, page_size=1, attention_backend='flashinfer')
[2026-06-07 12:06:34] Load weight begin. avail mem=16.69 GB
[2026-06-07 12:06:52] Load weight end. elapsed=17.48 s, type=Qwen2ForCausalLM, avail mem=13.44 GB, mem usage=3.25 GB.
[2026-06-07 12:06:52] KV Cache is allocated. #tokens: 126333, K size: 1.69 GB, V size: 1.69 GB
[2026-06-07 12:07:24] max_total_num_tokens=126333, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=32768, available_gpu_mem=5.88 GB
"""


def test_free_memory_that_others_share_may_change_before_the_pools_are_sized() -> None:
    found = reconcile(read_log_text(FREE_MEMORY_CHANGED), {})

    assert found.verdict == "explained"
    assert [item.key for item in found.diagnoses] == ["free_memory"]
