"""Measures the calculator in a browser: the first answer from an empty cache, and an answer once Python runs.

Both are printed beside the least they could cost on the same machine: a page whose worker only starts Pyodide with the
same library, and a message to a worker and back. Wall times say more about the machine than about the code; the ratios
are what to look at.
"""

import json
import re
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page

from tools.build_site import SITE
from tools.chromium import launched
from tools.preview import serving

FIRST_ANSWER_LIMIT = 1.3
"""Largest allowed ratio of the first answer to a bare start of Pyodide."""

WARM_LIMIT = 20.0
"""Milliseconds an answer may take once Python runs."""

ROUNDS = 5
WARM_CALLS = 200
TIMEOUT = 120_000
QUESTION = "?model=meta-llama/Llama-3.1-8B-Instruct&tensor_parallel_size=2&available_kv_cache_gib=40"

BARE_PAGE = """<!doctype html><title>bare</title><script type="module">
const worker = new Worker("/bare-worker.mjs", { type: "module" });
worker.onmessage = ({ data }) => {
  if (data === "ready") globalThis.firstAnswer = performance.now();
  globalThis.heard?.(data);
};
globalThis.echo = () => new Promise((resolve) => { globalThis.heard = resolve; worker.postMessage("echo"); });
</script>"""

BARE_WORKER = """
const { loadPyodide } = await import("%(runtime)spyodide.mjs");
self.onmessage = () => self.postMessage("echo");
await loadPyodide({
  indexURL: "%(runtime)s", stdLibURL: "%(runtime)spython_stdlib.zip",
  lockFileContents: { info: %(info)s, packages: {} }, packageBaseUrl: "%(packages)s",
});
self.postMessage("ready");
"""

WATCH_ANSWER = """new MutationObserver((_, observer) => {
  if (!document.querySelector("[data-kv-answered]")) return;
  globalThis.firstAnswer = performance.now();
  observer.disconnect();
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-kv-answered"] })"""

TIME_CALLS = """async ([calls, text]) => {
  const client = globalThis[Symbol.for("kv-atlas.client")];
  const times = [];
  const inside = [];
  for (let call = 0; call < calls; call += 1) {
    const begun = performance.now();
    await client.ask("bench", "answer_form", text);
    times.push(performance.now() - begun);
    inside.push(client.milliseconds);
  }
  return [times, inside];
}"""

TIME_ECHOES = """async (calls) => {
  const times = [];
  for (let call = 0; call < calls; call += 1) {
    const begun = performance.now();
    await globalThis.echo();
    times.push(performance.now() - begun);
  }
  return times;
}"""


@dataclass(frozen=True)
class Spread:
    """Times of the same thing, in milliseconds."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.times)

    def __str__(self) -> str:
        return f"{self.median:.1f} ms [{min(self.times):.1f}–{max(self.times):.1f}]"


@dataclass(frozen=True)
class Measured:
    """What one run of the benchmark found."""

    first_answer: Spread
    bare_start: Spread
    warm: Spread
    warm_in_python: Spread
    echo: Spread

    @property
    def first_answer_ratio(self) -> float:
        """First answer from an empty cache, in bare starts."""
        return self.first_answer.median / self.bare_start.median

    @property
    def warm_ratio(self) -> float:
        """An answer once Python runs, in messages to a worker and back."""
        return self.warm.median / self.echo.median


def bundle_address(page_file: Path) -> dict[str, str]:
    """Reads from a built page where its bundle lies, as addresses from the site's root."""
    match = re.search(r'data-kv-bundle="([^"]*)"', page_file.read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit(f"{page_file} has no calculator; build the site first")
    found = json.loads(match[1].replace("&quot;", '"'))
    return {name: found[name].removeprefix("..") for name in ("worker", "runtime", "packages")}


@contextmanager
def fresh_page(browser: Browser) -> Iterator[Page]:
    """A page with an empty cache."""
    context = browser.new_context()
    try:
        yield context.new_page()
    finally:
        context.close()


def first_answer(page: Page, address: str) -> float:
    """Opens an address and returns the milliseconds from the start of navigation to the first answer."""
    page.goto(address)
    for _ in range(TIMEOUT // 50):
        found = page.evaluate("globalThis.firstAnswer ?? null")
        if found is not None:
            return float(found)
        page.wait_for_timeout(50)
    raise SystemExit(f"{address} gave no answer within {TIMEOUT} ms")


def serve_bare(page: Page, address: dict[str, str], info: str) -> None:
    """Answers two addresses that the site does not have: a page and a worker that start Pyodide and nothing else."""
    worker = BARE_WORKER % {**address, "info": info}
    page.route("**/bare.html", lambda route: route.fulfill(body=BARE_PAGE, content_type="text/html"))
    page.route("**/bare-worker.mjs", lambda route: route.fulfill(body=worker, content_type="text/javascript"))


def measure(browser: Browser, origin: str, tell: Callable[[str], None]) -> Measured:
    """Takes turns between the calculator and the bare page, so that both meet the same load."""
    address = bundle_address(SITE / "calculator" / "index.html")
    lock = json.loads((SITE / address["packages"].lstrip("/") / "pyodide-lock.json").read_text(encoding="utf-8"))
    answers, starts = [], []
    warm: tuple[list[float], list[float]] = ([], [])
    echoes: list[float] = []
    fields = json.dumps({"model": "meta-llama/Llama-3.1-8B-Instruct", "available_kv_cache_gib": "40"})
    for round_number in range(1, ROUNDS + 1):
        with fresh_page(browser) as page:
            serve_bare(page, address, json.dumps(lock["info"]))
            starts.append(first_answer(page, f"{origin}/bare.html"))
            if round_number == ROUNDS:
                echoes = page.evaluate(TIME_ECHOES, WARM_CALLS)
        with fresh_page(browser) as page:
            page.add_init_script(WATCH_ANSWER)
            answers.append(first_answer(page, f"{origin}/calculator/{QUESTION}"))
            if round_number == ROUNDS:
                page.evaluate(TIME_CALLS, [WARM_CALLS // 4, fields])
                warm = page.evaluate(TIME_CALLS, [WARM_CALLS, fields])
        tell(f"round {round_number}: bare start {starts[-1]:.0f} ms, first answer {answers[-1]:.0f} ms")
    spreads = (Spread(tuple(times)) for times in (answers, starts, *warm, echoes))
    return Measured(*spreads)


def main() -> None:
    """Prints both ratios with what they are made of."""
    with serving(SITE) as server, launched() as browser:
        found = measure(browser, server.origin, print)
    print(
        f"first answer, empty cache:  {found.first_answer}, {found.first_answer_ratio:.2f} × a bare start of Pyodide "
        f"({found.bare_start}); at most {FIRST_ANSWER_LIMIT} ×\n"
        f"answer once Python runs:    {found.warm}, of which Python {found.warm_in_python}; at most {WARM_LIMIT:g} ms; "
        f"{found.warm_ratio:.0f} × a message to a worker and back ({found.echo})"
    )


if __name__ == "__main__":
    main()
