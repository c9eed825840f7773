"""Writes tests/golden/ from a folder of figures that the engines' own planning code produced.

The folder holds ``golden/`` (one JSON file per config and engine, every argument, setting and figure of each point) and
``configs/`` (the config.json files the points were asked for). What is kept is what the tests compare: the request in
kvcore's field names, the engine's figures, its resolved settings and the weight bytes, one point a line.

Usage: ``python -m tools.golden FOLDER``
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kvcore.catalog.facts import compact, facts
from kvcore.config import parse_config
from kvcore.request_fields import REQUEST_FIELDS

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "tests" / "golden"
RELEASE = "0.33.0"
SGLANG_RELEASE = "0.5.23"
FURTHER = ("further.jsonl", "further-refused.jsonl")
SGLANG_FURTHER = f"sglang-{SGLANG_RELEASE}-further.jsonl"
"""Points asked one by one later, of other models and flags: kept as they are."""
VARIANT = "variant__"
"""Configs of such points that are no published ones but changed by hand: kept too."""

_REQUEST_NAMES = {"available": "kv_cache_memory_bytes", "usage": "usage_context"}
_FIELD_NAMES = frozenset(field.name for field in REQUEST_FIELDS)
_RESOLVED = (
    "dtype", "cache_dtype", "quantization", "max_model_len", "max_num_batched_tokens", "max_num_seqs", "async_scheduling",
    "max_in_flight_tokens", "enable_prefix_caching", "mamba_cache_mode", "attention_backends", "kv_cache_dtype_skip_layers",
)  # fmt: skip
_REASON_CHARACTERS = 160
# Errors of the machine the points were asked on (a config class, tokenizer or kernel it lacks), not rules of the engine.
_ENVIRONMENT_ERRORS = (
    "AttributeError: 'Generic_",
    "AttributeError: 'NoneType'",
    "AttributeError: 'dict'",
    "OSError",
    "RuntimeError: Engram",
)

Point = dict[str, Any]


def main(folder: Path) -> None:
    """Writes every file of the target folder anew."""
    source = folder / "golden"
    used: set[str] = set()
    for path in (TARGET / "configs").glob("*.json"):
        if not path.name.startswith(VARIANT):
            path.unlink()
    release = TARGET / f"vllm-{RELEASE}"
    used |= _write(release / "hopper.jsonl", _vllm_points(source / "vllm", "H100"))
    used |= _write(release / "blackwell.jsonl", _vllm_points(source / "vllm-blackwell", "B200"))
    used |= _write(release / "refused.jsonl", _refused_points(source / "vllm-refused"))
    for older in sorted((source / "vllm-versions").iterdir()):
        used |= _write(TARGET / "vllm-versions" / f"{older.name}.jsonl", _older_points(older))
    used |= _write(TARGET / f"sglang-{SGLANG_RELEASE}.jsonl", _sglang_points(source / "sglang"))
    for kept in (*(release / name for name in FURTHER), TARGET / SGLANG_FURTHER):
        used |= {json.loads(line)["config"] for line in kept.read_text("utf-8").splitlines()}
    for name in sorted(used):
        if not name.startswith(VARIANT):
            _write_config(folder / "configs", name)


def _write(path: Path, points: Iterable[Point]) -> set[str]:
    """Writes points as JSON Lines and returns the names of their configs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = list(points)
    lines = (json.dumps(point, ensure_ascii=False, separators=(",", ":")) + "\n" for point in written)
    path.write_text("".join(lines), "utf-8")
    return {point["config"] for point in written}


def _write_config(folder: Path, name: str) -> None:
    path = next(path for path in (folder / f"{name}.json", folder / "synthetic" / f"{name}.json") if path.exists())
    target = TARGET / "configs" / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(compact(facts(parse_config(path.read_text("utf-8")))), "utf-8")


def _files(folder: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(folder.glob("*.json")):
        yield path.stem, json.loads(path.read_text("utf-8"))


def _vllm_points(folder: Path, gpu: str) -> Iterator[Point]:
    for name, vectors in _files(folder):
        for vector in vectors:
            stages, outputs = vector["outputs"]["per_stage"], vector["outputs"]
            lengths = [stage["estimated_max_model_len"] for stage in stages if "estimated_max_model_len" in stage]
            yield {
                "config": name,
                "request": _request(vector["args"], gpu),
                "expected": {
                    **_figures(outputs),
                    "max_model_len_that_fits": min((length for length in lengths if length is not None), default=None),
                    "stage_page_size_bytes": [stage["bytes_per_block"] for stage in stages],
                    "kv_cache_layout": outputs["kv_cache_layout"],
                },
                "resolved": {key: vector["resolved"][key] for key in _RESOLVED},
                "weights": _weights(vector),
            }


def _older_points(folder: Path) -> Iterator[Point]:
    for name, file in _files(folder):
        for vector in file["vectors"]:
            outputs = vector["outputs"]
            numbers = outputs.get("error_numbers") or {}
            if not outputs["fits"] and "estimated_max_model_len" not in numbers:
                expected = {"refused": outputs["error"][:_REASON_CHARACTERS]}
            else:
                expected = {**_figures(outputs), "max_model_len_that_fits": numbers.get("estimated_max_model_len")}
            yield {
                "config": name,
                "request": {"engine_version": file["vllm"], **_request(vector["args"], "H100")},
                "expected": expected,
                "resolved": {key: vector["resolved"][key] for key in _RESOLVED if key in vector["resolved"]},
            }


def _refused_points(folder: Path) -> Iterator[Point]:
    for name, vectors in _files(folder):
        for vector in vectors:
            error = str(vector["error"])
            reason = " ".join(
                error.split("[type=", maxsplit=1)[0].removeprefix("ValidationError: 1 validation error for ").split()
            )
            yield {
                "config": name,
                "request": _request(vector["args"], "B200" if vector.get("gpu") == "blackwell" else "H100"),
                "reason": reason[:_REASON_CHARACTERS],
                "cause": "environment" if error.startswith(_ENVIRONMENT_ERRORS) else "engine",
            }


def _sglang_points(folder: Path) -> Iterator[Point]:
    for name, file in _files(folder):
        for point in file["points"]:
            outputs = point.get("outputs") or {}
            arguments = point["args"]
            others = {key: value for key, value in arguments.items() if key not in _FIELD_NAMES}
            yield {
                "config": name,
                "request": {
                    "engine": "sglang",
                    "gpu": point["gpu"],
                    "available_before_load_gib": point["pre_gib"],
                    "available_after_load_gib": point["post_gib"],
                    **{key: value for key, value in arguments.items() if key in _FIELD_NAMES},
                    **({"sglang_args": others} if others else {}),
                },
                "expected": {
                    "result": _present(outputs.get("result")),
                    "configurator": _present(outputs.get("configurator")),
                    "refused": point.get("error"),
                },
                "resolved": _present(outputs.get("resolved")),
            }


def _present(mapping: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if mapping is None else {key: value for key, value in mapping.items() if value not in (None, [], {})}


def _request(arguments: Mapping[str, Any], gpu: str) -> dict[str, Any]:
    return {"gpu": gpu, **{_REQUEST_NAMES.get(key, key): value for key, value in arguments.items()}}


def _figures(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's figures; groups as (layers, block size, blocks of one request), in the engine's order."""
    if not outputs["fits"]:
        return {"fits": False}
    blocks = outputs.get("blocks_per_request") or []
    return {
        "fits": True,
        "num_gpu_blocks": outputs["num_gpu_blocks"],
        "tokens": outputs.get("kv_cache_size_tokens"),
        "concurrency": outputs.get("max_concurrency"),
        "block_size": outputs.get("block_size"),
        "max_model_len": outputs["max_model_len_after"],
        "groups": [
            [group["num_layers"], group["spec"]["block_size"], blocks[number]]
            for number, group in enumerate(outputs["groups"])
        ]
        if blocks
        else [],
    }


def _weights(vector: Mapping[str, Any]) -> dict[str, Any]:
    """Parameter bytes of one tensor-parallel rank, per pipeline stage."""
    stages = vector["params_per_rank"]
    weights = {"stage_bytes": [stage["bytes"] for stage in stages], "by_dtype": [stage["by_dtype"] for stage in stages]}
    if "draft_params_last_stage" in vector:
        weights["draft_last_stage"] = vector["draft_params_last_stage"]
    return weights


if __name__ == "__main__":
    main(Path(sys.argv[1]))
