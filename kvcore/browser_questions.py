"""More doors of the browser: inverse questions, comparisons, sweeps, commands and links, JSON text in and out.

Every door answers ``{"errors": […]}`` where the question is wrong, and never raises. Values of a request may be texts, as
a form or an address holds them. Replies for the page carry ``html`` beside their values.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kvcore.answer import answer
from kvcore.commandline import engine_command, read_command
from kvcore.commands import kvcore_command
from kvcore.config.nesting import nested_too_deeply
from kvcore.errors import FieldError, InputError, KvcoreError, input_error
from kvcore.layout.edited import edited, rows_of
from kvcore.permalink import read_link, then_and_now, write_link
from kvcore.permalink.then_and_now import as_json
from kvcore.questions import best_split, compare, pages, request_mix, splits, sweep, to_csv
from kvcore.questions.axes import axis
from kvcore.questions.changes import changes
from kvcore.questions.charts import memory_of
from kvcore.questions.compare import comparison_csv, comparison_json
from kvcore.questions.curves import curves_csv, iso_curves
from kvcore.questions.layout_by_hand import layout_by_hand
from kvcore.questions.solve import BEST_SPLIT, solution_json, solve
from kvcore.report.charts import explorable
from kvcore.report.document import Chart, Code, Document, Paragraph
from kvcore.report.json import to_json
from kvcore.report.writers.html import write
from kvcore.request_fields import REQUEST_FIELDS
from kvcore.request_text import value_of_text

Values = Mapping[str, Any]

_KINDS: Mapping[str, str] = {field.name: field.type for field in REQUEST_FIELDS}


def solve_json(text: str) -> str:
    """Answers ``{question, request, requests, gpus, basis}``; the solution, and the ranked splits for best-split."""
    return _door(text, _solve)


def compare_json(text: str) -> str:
    """Answers ``{requests: [request, …]}``: inputs and figures side by side."""
    return _door(text, _compare)


def sweep_json(text: str) -> str:
    """Answers ``{request, axes: {field: [values]}, figures?}``: the points and their CSV."""
    return _door(text, _sweep)


def iso_json(text: str) -> str:
    """Answers ``{request, requests: [n, …], over?, over_values?}``: the longest context for each number of requests."""
    return _door(text, _iso)


def mix_json(text: str) -> str:
    """Answers ``{request, lengths: [{prompt_tokens, output_tokens, weight}]}``: requests at once under a mix."""
    return _door(text, _mix)


def command_json(text: str) -> str:
    """Answers ``{command}`` with the request it stands for, or ``{request}`` with the engine command it makes."""
    return _door(text, _command)


def link_json(text: str) -> str:
    """Answers ``{request}`` with its link, or ``{address}`` with what the link said and what is true now."""
    return _door(text, _link)


def changes_json(text: str) -> str:
    """Answers ``{request, layout_before?}``: requests at once without each changed input in turn, and with all."""
    return _door(text, _changes)


def layout_json(text: str) -> str:
    """Answers ``{request}`` as a request by hand, ``{layout}`` as rows, ``{layout, rows}`` as the layout they make."""
    return _door(text, _layout)


def _changes(values: Values) -> Mapping[str, Any]:
    before = values.get("layout_before")
    layout = _object("layout", before) if isinstance(before, str) and before.strip() else None
    return {"changes": to_json(changes(_request(values), layout_before=layout))}


def _layout(values: Values) -> Mapping[str, Any]:
    if "request" in values:
        by_hand = layout_by_hand(_request(values))
        return {"request": {**by_hand, "layout": _compact(by_hand["layout"])}}
    layout = _object("layout", values.get("layout"))
    if "rows" in values:
        layout = edited(layout, _list(values, "rows"))
    rows = [{name: _cell(value) for name, value in row.items()} for row in rows_of(layout)]
    return {"layout": _compact(layout), "rows": rows}


def _object(name: str, text: Any) -> Mapping[str, Any]:
    """The object a text holds."""
    value = value_of_text(name, text) if isinstance(text, str) else text
    if not isinstance(value, Mapping):
        raise input_error(name, value, "a JSON object is expected", "Export one from a model.")
    return value


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cell(value: Any) -> Any:
    """What a table's field shows: texts and numbers as they are, nothing where nothing is stated."""
    if value is None or isinstance(value, str):
        return value or ""
    return value if isinstance(value, int) and abs(value) < 1 << 53 else _compact(value)


def chart_json(text: str) -> str:
    """Answers ``{request}``: the specifications of the answer's charts by name, for a page that draws them."""
    return _door(text, _chart)


def _door(text: str, work: Callable[[Values], Mapping[str, Any]]) -> str:
    try:
        reply: Mapping[str, Any] = work(_values(text))
    except KvcoreError as error:
        reply = {"errors": to_json(error.errors)}
    return json.dumps(reply, allow_nan=False, separators=(",", ":"))


def _values(text: str) -> Values:
    if nested_too_deeply(text):
        raise input_error("request", text[:40], "the JSON is nested too deeply", "Send a flat object.")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise input_error("request", text[:40], f"the text is not JSON ({error})", "Send a JSON object.") from None
    if not isinstance(value, dict):
        raise input_error("request", text[:40], "a JSON object is expected", "Send a JSON object.")
    return value


def _request(values: Values, name: str = "request") -> dict[str, Any]:
    request = values.get(name)
    if not isinstance(request, Mapping):
        raise input_error("request", request, "an object of request fields is expected", 'Send {"request": {…}}.')
    return _typed(request)


def _typed(fields: Values) -> dict[str, Any]:
    """Texts as their values; empty ones are absent."""
    typed: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, value in fields.items():
        if isinstance(value, str) and not value.strip():
            continue
        try:
            typed[name] = _value(name, value) if isinstance(value, str) else value
        except KvcoreError as error:
            errors.extend(error.errors)
    if errors:
        raise InputError(tuple(errors))
    return typed


def _value(name: str, text: str) -> Any:
    kind = _KINDS.get(name)
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.strip().lower(), text)
    return _number(text) if kind == "integer" else value_of_text(name, text)


def _list(values: Values, name: str) -> list[Any]:
    items = values.get(name)
    if not isinstance(items, list):
        raise input_error(name, items, "a list is expected", f'Send {{"{name}": […]}}.')
    return items


def _number(value: Any) -> Any:
    """The whole number a text holds; anything else stays as it is, for the question to refuse."""
    text = value.strip().replace(",", "") if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else value


def _weight(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _solve(values: Values) -> Mapping[str, Any]:
    request, gpus = _request(values), _number(values.get("gpus", 8))
    basis = values.get("basis", "engine_log")
    if basis not in {"engine_log", "held"}:
        raise input_error("basis", basis, "must be engine_log or held", "Choose one of these.")
    question = str(values.get("question"))
    ranked = splits(request, gpus, basis) if question == BEST_SPLIT else ()
    if ranked:
        solution = best_split(request, gpus, basis=basis, ranked=ranked)
    else:
        solution = solve(question, request, _number(values.get("requests", 1)), gpus, basis)
    reply = _without_config(solution_json(solution))
    wish = ("--gpus", str(gpus)) if ranked else ("--requests", str(values.get("requests", 1)))
    twin = kvcore_command(request, "solve", question, options=(*wish, "--basis", str(basis)))
    reply["html"] = write(_with_twin(pages.solution_page(solution, ranked), twin))
    if ranked:
        reply["splits"] = [{**to_json(split), "num_gpus": split.num_gpus} for split in ranked]
    return reply


def _without_config(reply: dict[str, Any]) -> dict[str, Any]:
    """Leaves the config out: the page has its text, which may hold ``Infinity`` that JSON has not."""
    return {**reply, "request": {name: value for name, value in reply["request"].items() if name != "config"}}


def _compare(values: Values) -> Mapping[str, Any]:
    requests = [_typed(item) if isinstance(item, Mapping) else item for item in _list(values, "requests")]
    if not all(isinstance(item, Mapping) for item in requests):
        raise input_error("requests", None, "every request is an object of request fields", "Send a list of objects.")
    comparison = compare(requests)
    page = _with_twin(pages.comparison_page(comparison), _compare_twin(requests))
    return {**comparison_json(comparison), "csv": comparison_csv(comparison), **_page(page)}


def _compare_twin(requests: Sequence[Values]) -> str:
    """The command line of a comparison: the first deployment, and in what each of the others differs from it."""
    first, *others = requests
    changes = [
        {name: other.get(name) for name in {**first, **other} if other.get(name) != first.get(name)} for other in others
    ]
    words = [word for change in changes for word in ("--with", json.dumps(change))]
    return kvcore_command(first, "compare", options=words)


def _sweep(values: Values) -> Mapping[str, Any]:
    axes = values.get("axes")
    if not isinstance(axes, Mapping):
        raise input_error("axes", axes, "an object of fields and lists is expected", 'Send {"max_model_len": [8192]}.')
    listed = dict(
        axis(f"{name}={items}") if isinstance(items, str) else (str(name), items) for name, items in axes.items()
    )
    figures = values.get("figures")
    chosen = {"figures": [str(path) for path in figures][:20]} if isinstance(figures, list) else {}
    request = _request(values)
    result = sweep(request, listed, **chosen)
    over = [word for name, items in listed.items() for word in ("--over", f"{name}={_items(items)}")]
    twin = kvcore_command(request, "sweep", options=over)
    return {**to_json(result), "csv": to_csv(result), **_page(_with_twin(pages.sweep_page(result), twin))}


def _items(items: Any) -> str:
    """Values of an axis as the command line lists them."""
    return ",".join(str(item).lower() if isinstance(item, bool) else str(item) for item in items)


def _with_twin(document: Document, command: str) -> Document:
    """An answer and the command line that gives the same."""
    return Document((*document.blocks, Paragraph(("The same by ", Code(command)))))


def _iso(values: Values) -> Mapping[str, Any]:
    numbers = values.get("requests")
    listed = axis(f"requests={numbers}")[1] if isinstance(numbers, str) else _list(values, "requests")
    field, choices = _curves_over(values)
    curves = iso_curves(_request(values), listed, field, choices)
    return {
        "curves": curves,
        "curve": next(iter(curves.values())),
        "csv": curves_csv(curves),
        **_page(pages.iso_page(curves)),
    }


def _curves_over(values: Values) -> tuple[str, Sequence[Any]]:
    """The input that curves are drawn for, and its values; none for a single curve."""
    field, choices = str(values.get("over") or ""), values.get("over_values")
    if not field:
        return "", ()
    return axis(f"{field}={choices}") if isinstance(choices, str) else (field, _list(values, "over_values"))


def _page(document: Document) -> dict[str, Any]:
    """A document as HTML, with the specifications of its charts by name."""
    charts = {item.name: explorable(item.spec) for item in document.blocks if isinstance(item, Chart)}
    return {"html": write(document), **({"charts": charts} if charts else {})}


def _chart(values: Values) -> Mapping[str, Any]:
    chart = memory_of(answer(_request(values)))
    return {"charts": {chart.name: explorable(chart.spec)} if chart else {}}


def _mix(values: Values) -> Mapping[str, Any]:
    lengths = [
        {
            "prompt_tokens": _number(item.get("prompt_tokens")),
            "output_tokens": _number(item.get("output_tokens", 0)),
            "weight": _weight(item.get("weight", 1)),
        }
        if isinstance(item, Mapping)
        else item
        for item in _list(values, "lengths")
    ]
    request = _request(values)
    mix, command = request_mix(request, lengths), engine_command(request)
    written = ", ".join(f"{one['prompt_tokens']}+{one['output_tokens']}:{one['weight']:g}" for one in lengths)
    twin = kvcore_command(request, "solve", "mix", options=("--mix", written))
    return {
        "usable_blocks": mix.usable_blocks,
        "blocks": list(mix.blocks),
        "average": float(mix.average),
        "percentile_tokens": mix.percentile_tokens,
        "percentile": float(mix.percentile),
        "longest": float(mix.longest),
        "engine_command": command,
        "html": write(_with_twin(pages.mix_page(mix, command), twin)),
    }


def _command(values: Values) -> Mapping[str, Any]:
    if "command" in values:
        read = read_command(str(values["command"]))
        lists = {name: list(getattr(read, name)) for name in ("ignored", "unmodelled", "unknown")}
        return {"request": dict(read.request), **lists, "html": write(pages.command_page(**lists))}
    request = _request(values)
    return {"command": engine_command(request), "kvcore_command": kvcore_command(request)}


def _link(values: Values) -> Mapping[str, Any]:
    if "address" in values:
        link = read_link(str(values["address"]))
        report = answer(link.request)
        result = then_and_now(link, report)
        return {
            "request": {name: value for name, value in link.request.items() if name != "config"},
            "kvcore_version": link.kvcore_version,
            "said": dict(link.said),
            "now": as_json(result),
            "html": write(pages.then_and_now_page(result)),
            "errors": to_json(report.errors),
        }
    request = _request(values)
    report = answer(request)
    return {"link": write_link(request, report), "errors": to_json(report.errors)}
