"""Numbers read off the page are kvcore's in this Python, for requests drawn at random over the catalogue."""

import random
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.catalog import load_models
from kvcore.report.json import to_json
from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

REQUESTS = 200
SEED = 20_261_129
PATHS = (
    "capacity.concurrency.engine_log",
    "capacity.tokens.engine_log",
    "layout.bytes_per_token",
    "layout.bytes_per_request",
    "request.bytes_estimate",
)
FILL_AND_READ = """async ([requests, paths]) => {
    const form = document.querySelector("[data-kv-part=form]");
    const answer = document.querySelector("[data-kv-part=answer]");
    const controls = [...form.querySelectorAll("[data-kv-initial]")];
    const input = form.querySelector("[name=max_model_len]");
    const read = [];
    for (const fields of requests) {
        const before = answer.dataset.kvAnswered ?? "0";
        for (const control of controls) control.value = fields[control.name] ?? "";
        form.dataset.kvSource = "catalogue";
        input.dispatchEvent(new Event("input", {bubbles: true}));
        while ((answer.dataset.kvAnswered ?? "0") === before) await new Promise((wait) => setTimeout(wait, 2));
        read.push(paths.map((path) => answer.querySelector(`[data-kv="${path}"]`)?.getAttribute("value") ?? null));
    }
    return read;
}"""
"""Types each request into the form at once and reads the figures of its answer off the page."""


def drawn_requests() -> list[dict[str, Any]]:
    draw = random.Random(SEED)  # noqa: S311 - nothing secret: the same requests every time
    models = [entry.id for entry in load_models()]
    return [
        {
            "model": draw.choice(models),
            "tensor_parallel_size": draw.choice((1, 2, 4, 8)),
            "max_model_len": draw.choice((2048, 8192, 32768, 100_000)),
            "available_kv_cache_gib": draw.choice((4, 12.5, 40, 110)),
            **draw.choice(({}, {"kv_cache_dtype": "fp8"}, {"enable_prefix_caching": False}, {"block_size": 64})),
        }
        for _ in range(REQUESTS)
    ]


def texts(request: dict[str, Any]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in request.items()}


def figure(report: Any, path: str) -> Any:
    for step in path.split("."):
        report = None if report is None else report.get(step)
    return report


def test_numbers_read_off_the_page_are_the_command_lines_for_random_requests(calculator: Calculator) -> None:
    calculator.open()
    calculator.page.set_default_timeout(START_TIMEOUT)
    calculator.set(tensor_parallel_size="2")
    requests = drawn_requests()
    pages = calculator.page.evaluate(FILL_AND_READ, [[texts(request) for request in requests], PATHS])
    compared = 0
    for request, read in zip(requests, pages, strict=True):
        report = to_json(answer(request))
        shown = dict(zip(PATHS, read, strict=True))
        for path, text in shown.items():
            value = figure(report, path)
            if text:
                assert float(text) == value, (request, path)
                compared += 1
            elif text == "":  # shown as unknown
                assert value is None, (request, path)
        if report["errors"]:
            assert not any(shown.values()), request
    assert compared > 2 * REQUESTS
