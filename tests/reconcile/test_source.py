"""Logs handed out piece by piece, by a file or by a browser."""

import io
import json
import tracemalloc

import pytest

from kvcore.browser import reconcile_json
from kvcore.errors import InputError
from kvcore.reconcile import source
from kvcore.reconcile.source import read_source

PIECE = 1 << 16
FILLER = b'INFO:     127.0.0.1:51234 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
TOKENS = b"INFO [kv_cache_utils.py:1] GPU KV cache size: 163,840 tokens\n"


class Array(bytes):
    """Stands for an array a browser hands over."""

    def to_bytes(self) -> bytes:
        return bytes(self)


class Blocks:
    """A log of many pieces of which each is made when it is asked for."""

    def __init__(self, count: int, last: bytes) -> None:
        self.left = count
        self.last = last

    def read(self, _size: int, /) -> bytes:
        self.left -= 1
        if self.left > 0:
            return FILLER * (PIECE // len(FILLER))
        return self.last if self.left == 0 else b""


def test_a_browser_s_log_is_read_to_its_end_in_pieces() -> None:
    blocks = Blocks(40, TOKENS)

    answered = json.loads(reconcile_json("{}", lambda size: Array(blocks.read(size))))

    figures = answered["reconciliation"]["figures"]
    assert [(item["name"], item["value"]) for item in figures] == [("gpu_kv_cache_tokens", 163_840)]
    assert answered["reconciliation"]["lines"] == 39 * (PIECE // len(FILLER)) + 1


def test_memory_does_not_grow_with_the_log() -> None:
    megabytes = 16
    tracemalloc.start()
    try:
        read_source(Blocks(megabytes * (1 << 20) // PIECE, TOKENS))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < (4 << 20)


def test_a_finished_run_is_told_from_a_log_by_its_beginning() -> None:
    run = json.dumps({"workers": [{"worker_id": 0, "kv_pools": [{"group_id": 0, "capacity_tokens": 777}]}]})

    assert read_source(Blocks(1, run.encode())).engine == "servingstudio"


def test_a_log_of_json_lines_is_no_finished_run() -> None:
    line = json.dumps({"log": TOKENS.decode(), "stream": "stderr"}) + "\n"

    assert read_source(Blocks(1, line.encode())).engine == "vllm"


def test_a_run_too_long_to_be_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LARGEST_RUN", 100)

    with pytest.raises(InputError) as raised:
        read_source(Blocks(3, b"}"), is_run=True)

    assert raised.value.errors[0].field == "run_meta"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_log_that_powershell_redirected_is_read_like_any_other(encoding: str) -> None:
    plain = read_source(io.BytesIO(TOKENS * 3))

    assert read_source(io.BytesIO(("\ufeff" + TOKENS.decode() * 3).encode(encoding))).figures == plain.figures
