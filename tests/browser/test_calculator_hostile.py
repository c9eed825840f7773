"""Hostile inputs typed into the real page, the same as on the command line: shown as text, refused by field, kept as typed."""

import time
from pathlib import Path
from typing import Any

import pytest

from kvcore.request_fields import REQUEST_FIELDS
from tests.browser.pages import START_TIMEOUT, Calculator
from tests.hostile.inputs import INPUTS, Hostile

pytestmark = pytest.mark.browser

LONGEST = 5_000_000
"""Characters typed; longer texts are files, which the page refuses by their size before it reads them."""

FIELDS = frozenset(field.name for field in REQUEST_FIELDS)
TYPED = tuple(item for item in INPUTS if item.fields.keys() <= FIELDS and max(map(len, item.fields.values())) < LONGEST)
MOST_MILLISECONDS = 15_000

ASK_AND_READ = """async ([fields, timeout]) => {
    const form = document.querySelector("[data-kv-part=form]");
    const answer = document.querySelector("[data-kv-part=answer]");
    const controls = [...form.querySelectorAll("[data-kv-initial]")];
    const choose = (control, text) => {
        control.value = text;
        if (control.value === text || control.localName !== "select") return;
        control.add(new Option(text, text));
        control.value = text;
    };
    for (const control of controls) choose(control, fields[control.name] ?? "");
    const sources = ["model", "config", "layout"].filter((name) => name in fields);
    form.dataset.kvSource = sources.length > 1 ? "" : { model: "catalogue" }[sources[0]] ?? sources[0];
    const before = answer.dataset.kvAnswered ?? "0";
    const began = performance.now();
    form.querySelector("[name=max_model_len]").dispatchEvent(new Event("input", { bubbles: true }));
    while ((answer.dataset.kvAnswered ?? "0") === before && performance.now() - began < timeout) {
        await new Promise((wait) => setTimeout(wait, 5));
    }
    const status = document.querySelector("[data-kv-part=status] [role=status]").textContent;
    const marked = controls.filter((control) => control.getAttribute("aria-invalid") === "true");
    return {
        answered: answer.dataset.kvAnswered !== before,
        milliseconds: performance.now() - began,
        wrong: marked.map((control) => control.name),
        said: status + " " + answer.textContent.slice(0, 2000),
        lost: controls.filter((control) => control.name in fields && control.value !== fields[control.name]
            && control.value !== fields[control.name].replace(/[\\r\\n]/g, "")).map((control) => control.name),
        inert: document.title !== "1" && !document.querySelector("article :is(img, script, iframe, [onload], [onerror])"),
    };
}"""


def complaint(hostile: Hostile, found: dict[str, Any]) -> str:
    """What is wrong with what the page made of an input; empty where nothing is."""
    if not found["answered"]:
        return f"no answer: {found['said']}"
    if not found["inert"]:
        return "text became markup"
    if found["lost"]:
        return f"typed text is lost: {found['lost']}"
    if not hostile.wrong:
        return f"refused: {found['said']}" if found["wrong"] else ""
    # A key of the config has no field of its own: it is named above the answer.
    named = hostile.wrong in found["wrong"] if hostile.wrong in FIELDS else hostile.wrong in found["said"]
    return "" if named else f"marked {found['wrong']}, said {found['said']}"


def test_hostile_inputs_are_refused_at_their_fields_and_nothing_is_run_or_lost(calculator: Calculator) -> None:
    calculator.open()
    calculator.page.set_default_timeout(START_TIMEOUT)
    calculator.set(tensor_parallel_size="2")
    problems = {}
    for hostile in TYPED:
        found = calculator.page.evaluate(ASK_AND_READ, [dict(hostile.fields), MOST_MILLISECONDS])
        problem = complaint(hostile, found)
        if problem:
            problems[hostile.name] = problem
    assert problems == {}
    assert calculator.started() == 1


def test_a_file_of_fifty_megabytes_is_refused_before_it_is_read(calculator: Calculator, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:  # a hole, which nobody has to write
        file.truncate(50_000_001)
    calculator.open()
    calculator.set(config='{"architectures": ["kept"]}')
    began = time.monotonic()
    calculator.page.locator("#kv-config-file").set_input_files(path)
    note = calculator.page.locator("#kv-field-config-error")
    note.wait_for(state="visible", timeout=START_TIMEOUT)
    assert "50,000,001 bytes" in note.inner_text()
    assert calculator.field("config").input_value() == '{"architectures": ["kept"]}'
    assert time.monotonic() - began < START_TIMEOUT / 1000
