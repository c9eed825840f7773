"""The calculator's further questions: the other way round, a mix, a comparison, a sweep, an engine command."""

from collections.abc import Iterable
from html import escape

from kvcore.request_fields import REQUEST_FIELDS

_Choice = tuple[str, str, str]
"""Value, words, and the engine that alone has it: ``vllm``, ``sglang`` or ``both``."""

_QUESTIONS: tuple[_Choice, ...] = (
    ("longest-context", "Longest context for so many requests", "both"),
    ("concurrency", "Most requests of this context", "both"),
    ("smallest-budget", "Smallest cache memory for so many requests", "vllm"),
    ("utilization", "Smallest share of the GPU's memory for so many requests", "both"),
    ("fewest-gpus", "Fewest GPUs for so many requests", "both"),
    ("best-split", "Best split of so many GPUs", "both"),
)
_BASES: tuple[_Choice, ...] = (
    ("engine_log", "as the engine logs them", "vllm"),
    ("held", "as they can be held at once", "both"),
)
_FIGURES: tuple[_Choice, ...] = (
    ("capacity.concurrency.engine_log", "requests at once, as logged", "vllm"),
    ("capacity.concurrency.held", "requests at once, held", "both"),
    ("capacity.tokens.engine_log", "cache size in the log, tokens", "both"),
)
_CONTEXTS = ("max_model_len", "context_length")
"""What the engines call the context length; such inputs stand first."""
_NONE: _Choice = ("", "none", "both")
_SWEPT_TYPES = frozenset({"integer", "number", "choice", "boolean"})
_MIX_ROWS = (("1000", "200", "70"), ("8000", "500", "25"), ("24000", "1000", "5"))
"""A made-up mix to start from: prompt tokens, output tokens, weight."""


def command_panel() -> str:
    """The box that takes a command line of an engine and fills the form."""
    return """<details class="kv-fold kv-panel" data-kv-part="command">
<summary>Paste an engine command</summary>
<div class="kv-field">
<label for="kv-command">vllm serve … or python -m sglang.launch_server …</label>
<div class="kv-field__control"><textarea id="kv-command" rows="4" spellcheck="false"
aria-describedby="kv-command-help kv-command-error"></textarea></div>
<p class="kv-field__help" id="kv-command-help">A shell line, docker run, or the args of a manifest.</p>
<p class="kv-field__error" id="kv-command-error" role="alert" hidden></p>
</div>
<p><button type="button" class="kv-button" data-kv-do="fill">Fill the form</button></p>
<div data-kv-part="command-notes" role="status"></div>
</details>"""


def further_panels() -> str:
    """What can be asked besides, one folded block each, below the answer."""
    return f"""<section class="kv-further" data-kv-part="further" hidden aria-labelledby="further">
<h2 id="further">Ask further</h2>
{_solve_panel()}
{_mix_panel()}
{_compare_panel()}
{_sweep_panel()}
{_iso_panel()}
</section>"""


def _solve_panel() -> str:
    return _panel(
        "solve",
        "Ask the other way round",
        f"""{_select("kv-solve-question", "Question", "question", _QUESTIONS)}
{_text("kv-solve-requests", "Requests at once", "requests", "8", "numeric")}
{_text("kv-solve-gpus", "GPUs, for the best split", "gpus", "8", "numeric")}
{_select("kv-solve-basis", "Requests count", "basis", _BASES)}""",
        "Solve",
        after="""<pre class="kv-takeaway__command no-copy" data-kv-part="solve-command" hidden><code></code></pre>
<p><button type="button" class="kv-button" data-kv-do="use" hidden>Put this into the form</button></p>""",
    )


def _mix_panel() -> str:
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td><input type="text" inputmode="decimal" name="{name}" value="{value}" '
            f'aria-label="{label}, row {number}"></td>'
            for name, label, value in zip(
                ("prompt_tokens", "output_tokens", "weight"), ("Prompt", "Output", "Weight"), row, strict=True
            )
        )
        + "</tr>"
        for number, row in enumerate((*_MIX_ROWS, ("", "", "")), 1)
    )
    table = (
        '<table class="kv-entry"><thead><tr><th scope="col">Prompt tokens</th><th scope="col">Output tokens</th>'
        f'<th scope="col">Weight</th></tr></thead><tbody>{rows}</tbody></table>'
    )
    add = '<button type="button" class="kv-button" data-kv-do="row">Add a row</button>'
    return _panel("mix", "A mix of requests", table, "Count the mix", beside=add)


def _compare_panel() -> str:
    intro = """<p class="kv-field__help">Up to four deployments, kept in this window. Change the form and add again.</p>
<ol class="kv-kept" data-kv-part="kept"></ol>"""
    add = '<button type="button" class="kv-button" data-kv-do="add">Add what the form asks</button>'
    return _panel("compare", "Compare deployments", intro, "", beside=add, csv=True)


def _swept() -> list[_Choice]:
    """Inputs that take a list of values, the context first."""
    choices = [
        (field.name, f"{field.label} ({field.name})", field.engine)
        for field in REQUEST_FIELDS
        if field.type in _SWEPT_TYPES or field.type == "budget"
    ]
    return sorted(choices, key=lambda item: item[0] not in _CONTEXTS)


def _sweep_panel() -> str:
    names = _swept()
    return _panel(
        "sweep",
        "Sweep an input",
        f"""{_select("kv-sweep-field", "Input", "field", names)}
{_text("kv-sweep-values", "Values", "values", "4096, 8192, 16384, 32768, 65536, 131072", "text")}
<p class="kv-field__help">A list, or first..last:step.</p>
{_select("kv-sweep-second", "Second input", "second", (_NONE, *names))}
{_text("kv-sweep-second-values", "Its values", "second_values", "", "text")}
{_select("kv-sweep-figure", "Figure drawn", "figure", _FIGURES)}""",
        "Sweep",
        csv=True,
    )


def _iso_panel() -> str:
    return _panel(
        "iso",
        "Requests against context",
        f"""{_text("kv-iso-requests", "Requests at once", "requests", "1, 2, 4, 8, 16, 32, 64", "text")}
<p class="kv-field__help">For each number, the longest context that so many requests can have.</p>
{_select("kv-iso-over", "One curve for each", "over", (_NONE, *(item for item in _swept() if item[0] not in _CONTEXTS)))}
{_text("kv-iso-over-values", "Its values", "over_values", "", "text")}""",
        "Draw the curves",
        csv=True,
    )


def _panel(
    name: str, title: str, body: str, button: str, *, beside: str = "", after: str = "", csv: bool = False
) -> str:
    ask = f'<button type="submit" class="kv-button kv-button--ask">{escape(button)}</button>' if button else ""
    save = '<button type="button" class="kv-button" data-kv-do="csv" hidden>CSV</button>' if csv else ""
    return f"""<details class="kv-fold kv-panel" data-kv-part="{name}">
<summary>{escape(title)}</summary>
<form autocomplete="off" novalidate>
{body}
<p class="kv-takeaway__buttons">{ask}{beside}{save}</p>
<p class="kv-field__error" role="alert" hidden></p>
</form>
<div class="kv-panel__answer" data-kv-part="{name}-answer" aria-live="polite"></div>
{after}</details>"""


def _text(control_id: str, label: str, name: str, value: str, mode: str) -> str:
    return (
        f'<div class="kv-field"><label for="{control_id}">{escape(label)}</label><div class="kv-field__control">'
        f'<input type="text" id="{control_id}" name="{name}" value="{escape(value)}" inputmode="{mode}" '
        'spellcheck="false"></div></div>'
    )


def _select(control_id: str, label: str, name: str, choices: Iterable[_Choice]) -> str:
    options = "".join(
        f'<option value="{escape(value)}"{_only(engine)}>{escape(words)}</option>' for value, words, engine in choices
    )
    return (
        f'<div class="kv-field"><label for="{control_id}">{escape(label)}</label><div class="kv-field__control">'
        f'<select id="{control_id}" name="{name}">{options}</select></div></div>'
    )


def _only(engine: str) -> str:
    """Marks what one engine alone has, so that the page offers it only there."""
    return "" if engine == "both" else f' data-kv-only="{engine}"'
