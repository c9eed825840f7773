"""The calculator asked through the real page, its answers read off the page."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from kvcore.answer import answer
from tests.browser.pages import Calculator

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"

MODEL = "meta-llama/Llama-3.1-8B-Instruct"

# Llama-3.1-8B as its config.json states it.
LAYERS, KV_HEADS, HEAD_DIM, DTYPE_BYTES = 32, 8, 128, 2
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 32,
    "num_key_value_heads": KV_HEADS,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
TENSOR_PARALLEL, MAX_MODEL_LEN, BLOCK_SIZE = 2, 8192, 16
BUDGET = 20 << 30
BLOCK_BYTES = BLOCK_SIZE * LAYERS * 2 * (KV_HEADS // TENSOR_PARALLEL) * HEAD_DIM * DTYPE_BYTES
NUM_GPU_BLOCKS = BUDGET // BLOCK_BYTES
QUESTION = {
    "tensor_parallel_size": str(TENSOR_PARALLEL),
    "max_model_len": str(MAX_MODEL_LEN),
    "available_kv_cache_gib": "",
    "kv_cache_memory_bytes": str(BUDGET),
}


def assert_engine_figures(calculator: Calculator) -> None:
    assert int(calculator.figure("capacity.tokens.engine_log")) == NUM_GPU_BLOCKS * BLOCK_SIZE
    concurrency = NUM_GPU_BLOCKS * BLOCK_SIZE / MAX_MODEL_LEN
    assert float(calculator.figure("capacity.concurrency.engine_log")) == concurrency


def test_what_an_answer_leaves_as_it_was_is_not_touched(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(**QUESTION)
    parts = calculator.answer.locator("#parts")
    parts.evaluate("table => { table.kept = true; }")
    calculator.set(max_model_len=str(2 * MAX_MODEL_LEN))
    assert (
        float(calculator.figure("capacity.concurrency.engine_log")) == NUM_GPU_BLOCKS * BLOCK_SIZE / MAX_MODEL_LEN / 2
    )
    assert parts.evaluate("table => table.kept")


def test_a_remark_that_comes_with_an_answer_leaves_the_rest_as_it_was(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(**{**QUESTION, "tensor_parallel_size": str(KV_HEADS)})
    sources = calculator.answer.locator("#sources-table")
    sources.evaluate("table => { table.kept = true; }")
    remarks = calculator.answer.locator(":scope > .kv-note")
    before = remarks.count()
    calculator.set(tensor_parallel_size=str(2 * KV_HEADS))
    expect(remarks).to_have_count(before + 1)
    expect(remarks.filter(has_text="heads are stored on several GPUs")).to_have_count(1)
    assert sources.evaluate("table => table.kept")


def test_what_is_folded_holds_no_figure_of_an_earlier_question(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_parallel_size=2").wait()
    folded = calculator.answer.locator(":scope > details")
    expect(folded.locator("[data-kv='layout.bytes_per_token']").first).to_be_attached()
    texts = calculator.page.evaluate(
        """async () => {
            const answer = document.querySelector("[data-kv-part=answer]");
            const control = document.querySelector("[name=tensor_parallel_size]");
            const next = new Promise((resolve) => new MutationObserver(resolve)
                .observe(answer, { attributes: true, attributeFilter: ["data-kv-answered"] }));
            control.value = "4";
            control.dispatchEvent(new Event("input", { bubbles: true }));
            await next;
            return [...answer.querySelectorAll(":scope > details")].map((item) => item.querySelectorAll("data").length);
        }"""
    )
    assert texts
    assert set(texts) == {0}
    # A moment later they are there, without having been asked for.
    bytes_per_token = folded.locator("[data-kv='layout.bytes_per_token']").first
    expect(bytes_per_token).to_have_attribute("value", calculator.figure("layout.bytes_per_token"))


def test_a_calculator_that_was_replaced_asks_nothing_more(calculator: Calculator) -> None:
    """Instant navigation puts another calculator in its place, which asks the same worker on the same channels."""
    calculator.open(f"?model={MODEL}&tensor_parallel_size=2").wait()
    doors = calculator.page.evaluate(
        """async () => {
            const client = globalThis[Symbol.for("kv-atlas.client")];
            const ask = client.ask.bind(client);
            const asked = [];
            client.ask = (channel, door, ...rest) => { asked.push(door); return ask(channel, door, ...rest); };
            const root = document.querySelector("[data-kv-calculator]");
            const answer = root.querySelector("[data-kv-part=answer]");
            const next = new Promise((resolve) => new MutationObserver(resolve)
                .observe(answer, { attributes: true, attributeFilter: ["data-kv-answered"] }));
            const control = root.querySelector("[name=tensor_parallel_size]");
            control.value = "4";
            control.dispatchEvent(new Event("input", { bubbles: true }));
            await next;
            root.remove();
            await new Promise((resolve) => setTimeout(resolve, 500));
            client.ask = ask;
            return asked;
        }"""
    )
    assert doors == ["unfolded_form"]


def test_what_stands_open_is_answered_with_the_rest(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_parallel_size=2").wait()
    calculator.answer.locator("#inputs > summary").click()
    calculator.set(tensor_parallel_size="4")
    given = calculator.answer.locator("#inputs [data-kv='inputs.tensor_parallel_size.value']")
    expect(given).to_be_visible()
    assert given.get_attribute("value") == "4"


def test_a_pasted_config_gives_the_engine_figures_and_its_address_gives_them_again(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(config=json.dumps(CONFIG), **QUESTION)
    assert_engine_figures(calculator)

    calculator.page.reload()
    calculator.wait()
    assert_engine_figures(calculator)
    assert json.loads(calculator.field("config").input_value()) == CONFIG


def test_the_config_in_an_address_is_never_sent_to_the_server(calculator: Calculator) -> None:
    asked: list[str] = []
    calculator.page.on("request", lambda request: asked.append(request.url))
    calculator.open()
    calculator.set(config=json.dumps(CONFIG))
    calculator.page.reload()
    calculator.wait()
    assert "#config=" in calculator.address()
    assert not any("llama" in url.lower() or "config=" in url for url in asked)


def test_the_address_carries_the_question_as_query_parameters(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(tensor_parallel_size="2", kv_cache_dtype="fp8")
    query = parse_qs(urlsplit(calculator.address()).query)
    assert query["model"] == [MODEL]
    assert query["tensor_parallel_size"] == ["2"]
    assert query["kv_cache_dtype"] == ["fp8"]
    assert "pipeline_parallel_size" not in query


def test_an_address_asks_what_the_command_line_asks(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_parallel_size=4&max_model_len=4096&available_kv_cache_gib=12.5").wait()
    report = answer({"model": MODEL, "tensor_parallel_size": 4, "max_model_len": 4096, "available_kv_cache_gib": 12.5})
    assert report.capacity is not None
    assert report.capacity.tokens is not None
    assert int(calculator.figure("capacity.tokens.engine_log")) == report.capacity.tokens.engine_log


def test_starting_over_shows_the_first_question_with_a_clean_address(calculator: Calculator) -> None:
    calculator.open("?model=no/such-model").wait()
    calculator.page.get_by_role("button", name="Start over").click()
    calculator.wait()
    assert calculator.field("model").input_value() == MODEL
    assert urlsplit(calculator.address()).query == ""


def test_the_model_field_searches_the_catalogue(calculator: Calculator) -> None:
    calculator.open()
    listed = calculator.field("model").evaluate("element => [...element.list.options].map((option) => option.value)")
    assert MODEL in listed


def test_a_dropped_file_fills_the_box_and_is_answered(calculator: Calculator, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIG))
    calculator.open()
    calculator.page.locator("#kv-config-file").set_input_files(file)
    calculator.set(**QUESTION)
    assert_engine_figures(calculator)


def test_a_file_dropped_beside_the_box_is_read_and_not_opened_in_place_of_the_page(calculator: Calculator) -> None:
    calculator.open()
    is_taken = calculator.field("max_model_len").evaluate(
        """(control, text) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "config.json"));
            const events = ["dragover", "drop"].map(
                (kind) => new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer}));
            return events.every((event) => !control.dispatchEvent(event));
        }""",
        json.dumps(CONFIG),
    )
    assert is_taken
    expect(calculator.field("config")).to_have_value(json.dumps(CONFIG))
    calculator.set(**QUESTION)
    assert_engine_figures(calculator)


def test_the_model_can_be_taken_again_after_a_config_was_pasted(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(config=json.dumps(CONFIG))
    calculator.page.locator("[data-kv-use=catalogue]").click()
    calculator.wait()
    assert "#config=" not in calculator.address()
    assert json.loads(calculator.field("config").input_value()) == CONFIG


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?model=no/such-model", "model"),
        (f"?model={MODEL}&tensor_parallel_size=two", "tensor_parallel_size"),
        (f"?model={MODEL}&tensor_parallel_size=-1", "tensor_parallel_size"),
        (f"?model={MODEL}&kv_cache_dtype=fp9", "kv_cache_dtype"),
        (f"?model={MODEL}&enable_prefix_caching=perhaps", "enable_prefix_caching"),
        ("?tensor_parallel_size=2", "model"),
        (f"?model={MODEL}#config=not-deflate", "config"),
        (f"?model={MODEL}#config=q1ZKVLIy1FEyqgUA", "config"),
    ],
)
def test_a_bad_address_shows_an_error_beside_its_field(calculator: Calculator, query: str, field: str) -> None:
    calculator.open(query)
    line = calculator.page.locator(f"#kv-field-{field}-error")
    expect(line).to_be_visible(timeout=60_000)
    expect(line).not_to_be_empty()
    expect(calculator.page.get_by_role("heading", name="Calculator")).to_be_visible()


def test_a_bad_value_of_an_address_stays_visible_to_be_corrected(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_parallel_size=two&kv_cache_dtype=fp9").wait()
    assert calculator.field("tensor_parallel_size").input_value() == "two"
    assert calculator.field("kv_cache_dtype").input_value() == "fp9"


def test_an_unknown_field_of_an_address_is_named_with_the_nearest_known_one(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_paralel_size=2").wait()
    expect(calculator.status).to_contain_text("tensor_paralel_size")
    expect(calculator.status).to_contain_text("tensor_parallel_size")


def test_an_error_is_announced_and_tied_to_its_field(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(max_model_len="many")
    control = calculator.field("max_model_len")
    expect(control).to_have_attribute("aria-invalid", "true")
    assert "kv-field-max_model_len-error" in str(control.get_attribute("aria-describedby")).split()
    expect(calculator.status.get_by_role("status")).not_to_be_empty()


def test_correcting_a_field_removes_its_error(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(max_model_len="many")
    calculator.set(max_model_len="4096")
    expect(calculator.page.locator("#kv-field-max_model_len-error")).to_be_hidden()
    expect(calculator.field("max_model_len")).not_to_have_attribute("aria-invalid", "true")


HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>'


@pytest.mark.parametrize("name", ["model", "attention_backend", "engine_version", "kv_cache_dtype_skip_layers"])
def test_hostile_text_in_a_field_is_shown_as_text(calculator: Calculator, name: str) -> None:
    calculator.open()
    calculator.set(**{name: HOSTILE})
    assert_inert(calculator.page)


def test_a_hostile_config_is_inert(calculator: Calculator) -> None:
    config = {**CONFIG, "architectures": [HOSTILE], "model_type": HOSTILE, "torch_dtype": HOSTILE, HOSTILE: HOSTILE}
    calculator.open()
    calculator.set(config=json.dumps(config))
    assert_inert(calculator.page)


def test_a_hostile_address_is_inert(calculator: Calculator) -> None:
    calculator.open(f"?model={HOSTILE}&{HOSTILE}={HOSTILE}").wait()
    assert_inert(calculator.page)


def assert_inert(page: Page) -> None:
    assert page.locator("article img, article script, article [onerror]").count() == 0
    assert page.title() != "1"


def test_the_command_under_the_answer_asks_the_same(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(tensor_parallel_size="2")
    command = calculator.page.locator("[data-kv-part=takeaway] code").first
    expect(command).to_contain_text(re.compile(rf"^kvcore report {MODEL} .*--tensor-parallel-size 2"))


def test_following_a_step_of_the_derivation_keeps_the_pasted_config_in_the_address(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(config=json.dumps(CONFIG), **QUESTION)
    carried = urlsplit(calculator.address()).fragment
    calculator.answer.locator(".kv-step-link").first.evaluate("link => link.click()")
    assert carried.startswith("config=")
    assert urlsplit(calculator.address()).fragment == carried


@pytest.mark.parametrize("query", ["", "?tensor_parallel_size=two&model=no/such-model"])
def test_the_page_has_no_barrier_that_axe_finds(calculator: Calculator, query: str) -> None:
    calculator.open(query)
    if query:
        calculator.wait()
    calculator.page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = calculator.page.evaluate("axe.run().then((found) => found.violations.map((item) => item.id))")
    assert violations == []
