"""Measures the reader of logs over one as long as a server writes in months: speed, memory, and time in a browser."""

import sys
import time
import tracemalloc
from collections.abc import Iterator

from kvcore.reconcile.reader import read_log
from tools.build_site import SITE
from tools.chromium import launched
from tools.preview import serving

IN_BROWSER_MEGABYTES = 10
IN_BROWSER_LIMIT = 3.0
"""Most seconds from a file given to the page to its answer, once Python runs."""

MEGABYTES = 100
SPEED_LIMIT = 50.0
"""Least megabytes per second of processor time."""

MEMORY_LIMIT = 32
"""Most megabytes held while reading, whatever the length."""

START = b"""(APIServer pid=1) INFO [api_utils.py:1] non-default args: {'model': 'org/name', 'max_model_len': 4096}
(EngineCore pid=2) INFO [gpu_worker.py:1] Available KV cache memory: 20.00 GiB
(EngineCore pid=2) INFO [kv_cache_utils.py:1] GPU KV cache size: 163,840 tokens
"""
SERVING = b"""(APIServer pid=1) INFO 05-05 12:30:25 [loggers.py:233] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation \
throughput: 2.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%
(APIServer pid=1) INFO:     127.0.0.1:51234 - "POST /v1/chat/completions HTTP/1.1" 200 OK
"""


class LongLog:
    """A start followed by serving lines, made as it is read."""

    def __init__(self, length: int) -> None:
        self.pieces = self._pieces(length)

    @staticmethod
    def _pieces(length: int) -> Iterator[bytes]:
        yield START
        block = SERVING * ((1 << 20) // len(SERVING))
        for _ in range(length // len(block)):
            yield block

    def read(self, _size: int, /) -> bytes:
        """The next piece, whatever the size asked for."""
        return next(self.pieces, b"")


ASK = """async ([start, serving, length]) => {
  const client = globalThis[Symbol.for("kv-atlas.client")];
  const serve = new TextEncoder().encode(serving);
  const pieces = Array(Math.floor(length / serve.length)).fill(serve);
  const log = new File([start, ...pieces], "server.log");
  await client.ask("bench", "reconcile_json", "{}", new Blob([start]));
  const times = [];
  for (let call = 0; call < 3; call += 1) {
    const begun = performance.now();
    await client.ask("bench", "reconcile_json", "{}", log);
    times.push((performance.now() - begun) / 1000);
  }
  return times;
}"""


def seconds_in_browser() -> list[float]:
    """Seconds a log takes in the page that reads logs, each time."""
    with serving(SITE) as server, launched() as browser:
        page = browser.new_page()
        page.goto(f"{server.origin}/reconcile/")
        page.get_by_label("Start-up log").focus()
        times: list[float] = page.evaluate(ASK, [START.decode(), SERVING.decode(), IN_BROWSER_MEGABYTES * 10**6])
    return times


def main() -> None:
    """Prints speed, memory and time; exits with 1 where one is missed."""
    began = time.process_time()
    record = read_log(LongLog(MEGABYTES * 10**6))
    speed = MEGABYTES / (time.process_time() - began)
    tracemalloc.start()
    read_log(LongLog(MEGABYTES * 10**5))
    peak = tracemalloc.get_traced_memory()[1] / 10**6
    print(
        f"reading a log: {speed:.0f} MB/s (at least {SPEED_LIMIT:.0f}), {record.lines:,} lines, {len(record.figures)} figures"
    )
    print(f"memory while reading: {peak:.1f} MB (at most {MEMORY_LIMIT})")
    times = seconds_in_browser()
    shown = ", ".join(f"{seconds:.2f}" for seconds in times)
    print(f"{IN_BROWSER_MEGABYTES} MB in a browser: {shown} s (at most {IN_BROWSER_LIMIT})")
    sys.exit(0 if speed >= SPEED_LIMIT and peak <= MEMORY_LIMIT and min(times) <= IN_BROWSER_LIMIT else 1)


if __name__ == "__main__":
    main()
