"""Measures what a change of the form costs in a browser, from the input's event to the painted answer, and a sweep.

The what-if is that of the catalogue's heaviest model: the one whose answer takes Python longest. Both are printed beside
a message to a worker and back, the least any answer could cost on the same machine.
"""

import json
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser

from kvcore.browser import answer_form
from kvcore.catalog.models import load_models
from tools.bench_browser import (
    TIME_ECHOES,
    WATCH_ANSWER,
    Spread,
    bundle_address,
    first_answer,
    fresh_page,
    serve_bare,
)
from tools.build_site import SITE
from tools.chromium import launched
from tools.preview import serving

WHAT_IF_LIMIT = 50.0
"""Milliseconds from an input's event to the painted answer that 95 of 100 changes may take."""

SWEEP_LIMIT = 300.0
"""Milliseconds a sweep of so many points may take."""

POINTS = 256
SWEEPS = 7
ECHOES = 200
WARM_UP = 12
ORDINARY = "meta-llama/Llama-3.1-8B-Instruct"
DEPLOYMENT = {"gpu": "B200", "tensor_parallel_size": "8"}

CHANGES: tuple[tuple[str, str], ...] = (
    *(("max_model_len", str(4096 + 512 * step)) for step in range(24)),
    *(("max_num_seqs", str(64 + step)) for step in range(24)),
    *(("available_kv_cache_gib", str(20 + step / 2)) for step in range(24)),
    *(("tensor_parallel_size", size) for size in ("1", "2", "4", "8") * 3),
    *(("kv_cache_dtype", dtype) for dtype in ("fp8", "auto") * 6),
)
"""What is changed, one field after another: most changes turn a number up or down, some lay the cache out anew."""

TIME_CHANGES = """async (changes) => {
  const form = document.querySelector("[data-kv-part=form]");
  const answer = document.querySelector("[data-kv-part=answer]");
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage("");
  }));
  const answered = () => new Promise((resolve) => {
    const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
    observer.observe(answer, { attributes: true, attributeFilter: ["data-kv-answered"] });
  });
  const times = [];
  for (const [name, value] of changes) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    const control = form.querySelector(`[name=${name}]`);
    control.value = value;
    const next = answered();
    const begun = performance.now();
    control.dispatchEvent(new Event("input", { bubbles: true }));
    await next;
    await painted();
    times.push(performance.now() - begun);
  }
  return times;
}"""

TIME_SWEEPS = """async ([sweeps, text]) => {
  const client = globalThis[Symbol.for("kv-atlas.client")];
  const times = [];
  for (let count = 0; count <= sweeps; count += 1) {
    const begun = performance.now();
    const { errors } = JSON.parse(await client.ask("bench", "sweep_json", text));
    if (errors) throw new Error(JSON.stringify(errors));
    times.push(performance.now() - begun);
  }
  return times.slice(1);
}"""


@dataclass(frozen=True)
class Measured:
    """What one run of the benchmark found."""

    what_if: Spread
    sweep: Spread
    heaviest_sweep: Spread
    echo: Spread


def percentile_95(times: Spread) -> float:
    """The time that 95 of 100 stay under."""
    return statistics.quantiles(times.times, n=20, method="inclusive")[-1]


def heaviest_model() -> str:
    """The catalogue model whose answer takes Python longest."""
    return max((entry.id for entry in load_models()), key=_seconds)


def _seconds(model: str) -> float:
    """Least processor time of a few answers that differ in length."""
    return min(_answered({**DEPLOYMENT, "model": model, "max_model_len": str(length)}) for length in (2048, 2049, 2050))


def _answered(fields: Mapping[str, str]) -> float:
    begun = time.process_time()
    answer_form(json.dumps(fields))
    return time.process_time() - begun


def sweep_text(fields: Mapping[str, str]) -> str:
    """A sweep over lengths, as the page asks it."""
    lengths: list[Any] = [256 * step for step in range(1, POINTS + 1)]
    return json.dumps({"request": fields, "axes": {"max_model_len": lengths}})


def measure(browser: Browser, origin: str, heaviest: str) -> Measured:
    """Opens a bare page for the messages, and the calculator for the rest."""
    address = bundle_address(SITE / "calculator" / "index.html")
    lock = json.loads((SITE / address["packages"].lstrip("/") / "pyodide-lock.json").read_text(encoding="utf-8"))
    with fresh_page(browser) as page:
        serve_bare(page, address, json.dumps(lock["info"]))
        first_answer(page, f"{origin}/bare.html")
        echoes = page.evaluate(TIME_ECHOES, ECHOES)
    with fresh_page(browser) as page:
        page.add_init_script(WATCH_ANSWER)
        fields = "&".join(f"{name}={value}" for name, value in DEPLOYMENT.items())
        first_answer(page, f"{origin}/calculator/?model={heaviest}&{fields}")
        page.evaluate(TIME_CHANGES, CHANGES[:WARM_UP])
        what_if = page.evaluate(TIME_CHANGES, CHANGES)
        sweeps = page.evaluate(TIME_SWEEPS, [SWEEPS, sweep_text({"model": ORDINARY, "available_kv_cache_gib": "40"})])
        heavy = page.evaluate(TIME_SWEEPS, [SWEEPS, sweep_text({**DEPLOYMENT, "model": heaviest})])
    spreads = (Spread(tuple(times)) for times in (what_if, sweeps, heavy, echoes))
    return Measured(*spreads)


def main() -> None:
    """Prints both with their limits."""
    heaviest = heaviest_model()
    with serving(SITE) as server, launched() as browser:
        found = measure(browser, server.origin, heaviest)
    print(
        f"change to painted answer:   95 % within {percentile_95(found.what_if):.1f} ms, {found.what_if} for {heaviest}, "
        f"the heaviest of the catalogue; at most {WHAT_IF_LIMIT:g} ms\n"
        f"sweep of {POINTS} points:        {found.sweep} for {ORDINARY}, {found.heaviest_sweep} for {heaviest}; "
        f"at most {SWEEP_LIMIT:g} ms\n"
        f"a message to a worker and back takes {found.echo}"
    )


if __name__ == "__main__":
    main()
