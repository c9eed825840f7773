"""Command lines as people paste them, and the requests they stand for."""

import contextlib
import json
import time
from typing import Any

import pytest

from kvcore.commandline import read_command
from kvcore.errors import InputError

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
MOST_SECONDS = 5

COMMANDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("plain", f"vllm serve {MODEL}", {"model": MODEL}),
    ("flag and value", f"vllm serve {MODEL} --tensor-parallel-size 8", {"model": MODEL, "tensor_parallel_size": 8}),
    ("equals sign", f"vllm serve {MODEL} --max-model-len=131072", {"model": MODEL, "max_model_len": 131_072}),
    ("underscores", f"vllm serve {MODEL} --max_model_len 8192", {"model": MODEL, "max_model_len": 8192}),
    ("short forms", f"vllm serve {MODEL} -tp 8 -pp 2", {"model": MODEL, "tensor_parallel_size": 8, "pipeline_parallel_size": 2}),
    ("short form with equals", f"vllm serve {MODEL} -tp=4", {"model": MODEL, "tensor_parallel_size": 4}),
    ("decimal suffix", f"vllm serve {MODEL} --max-model-len 32k", {"model": MODEL, "max_model_len": 32_000}),
    ("binary suffix", f"vllm serve {MODEL} --max-model-len 32K", {"model": MODEL, "max_model_len": 32_768}),
    ("automatic length", f"vllm serve {MODEL} --max-model-len auto", {"model": MODEL, "max_model_len": "auto"}),
    ("minus one", f"vllm serve {MODEL} --max-model-len -1", {"model": MODEL, "max_model_len": -1}),
    ("switch", f"vllm serve {MODEL} --enforce-eager", {"model": MODEL, "enforce_eager": True}),
    ("negated switch", f"vllm serve {MODEL} --no-enable-prefix-caching", {"model": MODEL, "enable_prefix_caching": False}),
    ("switch with a value", f"vllm serve {MODEL} --enable-prefix-caching false", {"model": MODEL, "enable_prefix_caching": False}),
    ("line ends", f"vllm serve {MODEL} \\\n  --kv-cache-dtype fp8 \\\n  -tp 2", {"model": MODEL, "kv_cache_dtype": "fp8", "tensor_parallel_size": 2}),
    ("caret line ends", f"vllm serve {MODEL} ^\n  -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("comment lines", f"# start it\nvllm serve {MODEL}\n", {"model": MODEL}),
    ("prompt", f"$ vllm serve {MODEL}", {"model": MODEL}),
    ("module", f"python -m vllm.entrypoints.openai.api_server --model {MODEL} -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("path of the program", f"/opt/venv/bin/vllm serve {MODEL}", {"model": MODEL}),
    ("environment", f"CUDA_VISIBLE_DEVICES=0,1 VLLM_PP_LAYER_PARTITION=30,2 vllm serve {MODEL} -pp 2", {"model": MODEL, "pipeline_parallel_size": 2, "pipeline_layer_partition": "30,2"}),
    ("quoted JSON", f"vllm serve {MODEL} --speculative-config '{{\"method\": \"ngram\", \"num_speculative_tokens\": 4}}'", {"model": MODEL, "speculative_config": {"method": "ngram", "num_speculative_tokens": 4}}),
    ("docker image with vllm inside", f"docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.33.0 --model {MODEL} --max-model-len 8192", {"model": MODEL, "max_model_len": 8192}),
    ("docker with a command", f"docker run --rm image vllm serve {MODEL} -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("pipe behind", f"vllm serve {MODEL} -tp 2 2>&1 | tee log.txt", {"model": MODEL, "tensor_parallel_size": 2}),
    ("and behind", f"vllm serve {MODEL} && echo done", {"model": MODEL}),
    ("JSON args", f'["serve", "{MODEL}", "--tensor-parallel-size", "2"]', {"model": MODEL, "tensor_parallel_size": 2}),
    ("compose args", f'args: ["--model", "{MODEL}", "--max-model-len", "4096"]', {"model": MODEL, "max_model_len": 4096}),
    ("manifest list", f'args:\n  - --model\n  - {MODEL}\n  - --tensor-parallel-size\n  - "2"\n', {"model": MODEL, "tensor_parallel_size": 2}),
    ("manifest list with equals", f"- --model={MODEL}\n- --max-model-len=4096\n", {"model": MODEL, "max_model_len": 4096}),
    ("manifest flag and value in one item", f"- --model {MODEL}\n- -tp 2\n", {"model": MODEL, "tensor_parallel_size": 2}),
    ("shell in a list", f'["sh", "-c", "vllm serve {MODEL} -tp 2"]', {"model": MODEL, "tensor_parallel_size": 2}),
    ("utilization", f"vllm serve {MODEL} --gpu-memory-utilization 0.9", {"model": MODEL, "gpu_memory_utilization": "0.9"}),
    ("bytes with a suffix", f"vllm serve {MODEL} --kv-cache-memory-bytes 20GiB", {"model": MODEL, "kv_cache_memory_bytes": 20 * 2**30}),
    ("sglang", f"python -m sglang.launch_server --model-path {MODEL} --tp 8 --context-length 32768", {"engine": "sglang", "model": MODEL, "tp_size": 8, "context_length": 32_768}),
    ("sglang switch", f"python3 -m sglang.launch_server --model {MODEL} --dp 2 --enable-dp-attention", {"engine": "sglang", "model": MODEL, "dp_size": 2, "enable_dp_attention": True}),
    ("compose file", f"services:\n  vllm:\n    image: vllm/vllm-openai:latest\n    ports:\n      - 8000:8000\n    command:\n      - --model\n      - {MODEL}\n      - --enforce-eager\n", {"model": MODEL, "enforce_eager": True}),
    ("compose command on one line", f"    image: vllm/vllm-openai:latest\n    command: --model {MODEL} -tp 4  # four cards\n    ipc: host\n", {"model": MODEL, "tensor_parallel_size": 4}),
    ("compose command folded", f"image: vllm/vllm-openai\ncommand: >\n  --model {MODEL}\n  -tp 4\nipc: host\n", {"model": MODEL, "tensor_parallel_size": 4}),
    ("deployment of two keys", f'containers:\n  - name: vllm\n    image: vllm/vllm-openai:v0.33.0\n    command: ["vllm", "serve"]\n    args:\n      - "{MODEL}"\n      - "--tensor-parallel-size=4"\n      - --max-model-len\n      - "32768"\n    ports:\n      - containerPort: 8000\n    env:\n      - name: HF_TOKEN\n', {"model": MODEL, "tensor_parallel_size": 4, "max_model_len": 32_768}),
    ("deployment that runs a shell", f"command:\n  - /bin/sh\n  - -c\nargs:\n  - |\n    vllm serve {MODEL} \\\n      -tp 4\n", {"model": MODEL, "tensor_parallel_size": 4}),
    ("unquoted list over lines", f"args: [\n  --model, {MODEL},\n  -tp, 4\n]\n", {"model": MODEL, "tensor_parallel_size": 4}),
    ("sglang image", f"image: lmsysorg/sglang:latest\nargs: [--model-path, {MODEL}, --tp, 2]", {"engine": "sglang", "model": MODEL, "tp_size": 2}),
    ("shell in a shell", f"bash -c 'vllm serve {MODEL} -tp 2'", {"model": MODEL, "tensor_parallel_size": 2}),
    ("installed before", f"pip install vllm && vllm serve {MODEL} -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("another command before", f"ray start --head; vllm serve {MODEL} -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("folder named like the engine", f"docker run -v /srv/vllm:/x --env A=1 vllm/vllm-openai --model {MODEL} -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("keys of an object", f"vllm serve {MODEL} --speculative-config.method ngram --speculative-config.num_speculative_tokens=4", {"model": MODEL, "speculative_config": {"method": "ngram", "num_speculative_tokens": 4}}),
    ("comment behind", f"vllm serve {MODEL} -tp 2  # or -tp 8, don't\n", {"model": MODEL, "tensor_parallel_size": 2}),
    ("hash inside a word", f"vllm serve {MODEL} --chat-template /a#b -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("dashes a text program joined", f"vllm serve {MODEL} —max-model-len 8192 –tp 2", {"model": MODEL, "max_model_len": 8192, "tensor_parallel_size": 2}),
    ("image called like the program", f"docker run rocm/vllm vllm serve {MODEL} -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("installed on the line before", f"pip install vllm\nvllm serve {MODEL} -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
    ("output into a file", f"vllm serve {MODEL} -tp 2 >log.txt 2>err.txt", {"model": MODEL, "tensor_parallel_size": 2}),
    ("exported before", f"export VLLM_PP_LAYER_PARTITION=30,2 && vllm serve {MODEL} -pp 2", {"model": MODEL, "pipeline_parallel_size": 2, "pipeline_layer_partition": "30,2"}),
    ("variable of a container", f"docker run -e VLLM_PP_LAYER_PARTITION=30,2 vllm/vllm-openai --model {MODEL} -pp 2", {"model": MODEL, "pipeline_parallel_size": 2, "pipeline_layer_partition": "30,2"}),
    ("variable of a pod", f'env:\n  - name: VLLM_PP_LAYER_PARTITION\n    value: "30,2"\nimage: vllm/vllm-openai\nargs: ["--model={MODEL}", "-pp", "2"]', {"model": MODEL, "pipeline_parallel_size": 2, "pipeline_layer_partition": "30,2"}),
    ("variable of a compose file", f"image: vllm/vllm-openai\nenvironment:\n  VLLM_PP_LAYER_PARTITION: 30,2\ncommand: --model {MODEL} -pp 2", {"model": MODEL, "pipeline_parallel_size": 2, "pipeline_layer_partition": "30,2"}),
    ("release of an image", f"docker run vllm/vllm-openai:v0.11.0 --model {MODEL}", {"model": MODEL, "engine_version": "0.11.0"}),
    ("several values of a flag", f"vllm serve {MODEL} --kv-cache-dtype-skip-layers 0 31 -tp 2", {"model": MODEL, "kv_cache_dtype_skip_layers": "0,31", "tensor_parallel_size": 2}),
    ("end of the flags", f"vllm serve -tp 2 -- {MODEL}", {"model": MODEL, "tensor_parallel_size": 2}),
    ("optimization level", f"vllm serve {MODEL} -O3 -tp 2", {"model": MODEL, "tensor_parallel_size": 2}),
)  # fmt: skip


@pytest.mark.parametrize(("text", "request_fields"), [row[1:] for row in COMMANDS], ids=[row[0] for row in COMMANDS])
def test_a_pasted_command_fills_the_request(text: str, request_fields: dict[str, Any]) -> None:
    assert read_command(text).request == request_fields


def test_flags_without_weight_are_listed_as_ignored() -> None:
    read = read_command(f"vllm serve {MODEL} --host 0.0.0.0 --port 8000 --trust-remote-code --served-model-name a b")
    assert read.request == {"model": MODEL}
    assert read.ignored == ("--host", "--port", "--trust-remote-code", "--served-model-name")


def test_flags_that_change_memory_unseen_are_told_apart() -> None:
    assert read_command(f"vllm serve {MODEL} --cpu-offload-gb 4").unmodelled == ("--cpu-offload-gb",)


def test_keys_of_what_is_not_modelled_are_listed_by_their_flag() -> None:
    read = read_command(f"vllm serve {MODEL} --compilation-config.cudagraph_mode NONE -O2 --made-up.key 1")
    assert read.unmodelled == ("--compilation-config",)
    assert read.ignored == ("--optimization-level",)
    assert read.unknown == ("--made-up",)


def test_words_that_belong_to_no_flag_are_named() -> None:
    assert read_command(f"vllm serve {MODEL} tensor-parallel-size 2 --port 8000").unknown == (
        "tensor-parallel-size",
        "2",
    )


def test_variables_of_the_engine_are_listed_and_those_of_others_are_not() -> None:
    read = read_command(f"HF_TOKEN=x VLLM_API_KEY=y VLLM_MLA_DISABLE=1 vllm serve {MODEL}")
    assert read.ignored == ("VLLM_API_KEY",)
    assert read.unknown == ("VLLM_MLA_DISABLE",)


def test_an_image_of_an_sglang_that_is_not_known_is_named() -> None:
    read = read_command(f"docker run lmsysorg/sglang:v0.4.1-cu124 --model-path {MODEL}")
    assert read.unmodelled == ("lmsysorg/sglang:v0.4.1-cu124",)


def test_a_file_of_flags_is_named_as_not_read() -> None:
    assert read_command(f"vllm serve {MODEL} --config flags.yaml").unmodelled == ("--config",)


HOSTILE = (
    "args: [" + "a\n" * 30_000,
    "args:\n" + "- |\n" * 20_000,
    "args: a" + " " * 90_000 + "b",
    "command: [" + '"' * 90_000,
    "vllm serve m " + "--speculative-config." + "a." * 40_000 + "b 1",
    "vllm serve m " + "; " * 40_000,
    "vllm serve m " + "vllm" * 20_000 + ":",
    "env:\n" + "- name: VLLM_A\n" * 6_000,
    "vllm serve m " + "—" * 90_000,
    "vllm serve m " + "VLLM_A=" * 12_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:16])
def test_a_hostile_command_is_read_or_refused_in_bounded_time(text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(InputError):
        json.dumps(read_command(text).request)
    assert time.process_time() - began < MOST_SECONDS


def test_an_unknown_flag_is_named_with_its_nearest_neighbour() -> None:
    assert read_command(f"vllm serve {MODEL} --max-model-length 5").unknown == (
        "--max-model-length (did you mean --max-model-len?)",
    )


def test_sglangs_own_flags_are_no_misspelled_ones() -> None:
    """SGLang 0.5.23 reserves memory for DeepEP's buffers (`reserve_for_deepep_a2a_mb`), whatever mode they are used in."""
    read = read_command(
        f"python3 -m sglang.launch_server --model-path {MODEL} --tp 8 --moe-a2a-backend deepep --deepep-mode low_latency "
        "--enable-symm-mem true --log-requests --log-requests-level 2"
    )
    assert read.unmodelled == ("--moe-a2a-backend", "--enable-symm-mem")
    assert read.ignored == ("--deepep-mode", "--log-requests", "--log-requests-level")
    assert read.unknown == ()


@pytest.mark.parametrize("text", ["", "ls -la", "echo hello", "python train.py --epochs 3"])
def test_what_is_no_engine_command_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no command of vLLM or SGLang"):
        read_command(text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('vllm serve "org/model', "quoting is not closed"),
        ("vllm serve m --max-model-len", "needs a value"),
        ("vllm serve m --max-model-len 1.5", "does not give a whole number"),
        ("vllm serve m --max-model-len many", "whole number"),
        ("x" * 200_000, "at most 100,000 characters"),
    ],
)
def test_a_broken_command_says_what_is_broken(text: str, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        read_command(text)
