"""More doors of the browser: inverse questions, comparisons, sweeps, commands and links, JSON text in and out.

Every door answers ``{"errors": […]}`` where the question is wrong, and never raises.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from kvcore.answer import answer
from kvcore.commandline import engine_command, read_command
from kvcore.config.nesting import nested_too_deeply
from kvcore.errors import KvcoreError, input_error
from kvcore.permalink import read_link, then_and_now, write_link
from kvcore.permalink.then_and_now import as_json
from kvcore.questions import compare, iso_concurrency, request_mix, splits, sweep, to_csv
from kvcore.report.json import to_json
from kvcore.subcommands.compare import comparison_json
from kvcore.subcommands.solve import solution_json, solve

Values = Mapping[str, Any]


def solve_json(text: str) -> str:
    """Answers ``{question, request, requests, gpus, basis}``; the solution, and the ranked splits for best-split."""
    return _door(text, _solve)


def compare_json(text: str) -> str:
    """Answers ``{requests: [request, …]}``: inputs and figures side by side."""
    return _door(text, lambda values: comparison_json(compare(_list(values, "requests"))))


def sweep_json(text: str) -> str:
    """Answers ``{request, axes: {field: [values]}, figures?}``: the points and their CSV."""
    return _door(text, _sweep)


def iso_json(text: str) -> str:
    """Answers ``{request, requests: [n, …]}``: the longest context for each number of requests."""
    return _door(text, lambda values: {"curve": iso_concurrency(_request(values), _list(values, "requests"))})


def mix_json(text: str) -> str:
    """Answers ``{request, lengths: [{prompt_tokens, output_tokens, weight}]}``: requests at once under a mix."""
    return _door(text, _mix)


def command_json(text: str) -> str:
    """Answers ``{command}`` with the request it stands for, or ``{request}`` with the engine command it makes."""
    return _door(text, _command)


def link_json(text: str) -> str:
    """Answers ``{request}`` with its link, or ``{address}`` with what the link said and what is true now."""
    return _door(text, _link)


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


def _request(values: Values) -> Values:
    request = values.get("request")
    if not isinstance(request, Mapping):
        raise input_error("request", request, "an object of request fields is expected", 'Send {"request": {…}}.')
    return request


def _list(values: Values, name: str) -> list[Any]:
    items = values.get(name)
    if not isinstance(items, list):
        raise input_error(name, items, "a list is expected", f'Send {{"{name}": […]}}.')
    return items


def _solve(values: Values) -> Mapping[str, Any]:
    request, gpus = _request(values), values.get("gpus", 8)
    basis = values.get("basis", "engine_log")
    if basis not in {"engine_log", "held"}:
        raise input_error("basis", basis, "must be engine_log or held", "Choose one of these.")
    question = str(values.get("question"))
    solution = solution_json(solve(question, request, values.get("requests", 1), gpus, basis))
    solution["engine_command"] = engine_command(solution["request"])
    if question == "best-split":
        solution["splits"] = [{**to_json(split), "num_gpus": split.num_gpus} for split in splits(request, gpus, basis)]
    return solution


def _sweep(values: Values) -> Mapping[str, Any]:
    axes = values.get("axes")
    if not isinstance(axes, Mapping):
        raise input_error("axes", axes, "an object of fields and lists is expected", 'Send {"max_model_len": [8192]}.')
    figures = values.get("figures")
    chosen = {"figures": [str(path) for path in figures][:20]} if isinstance(figures, list) else {}
    result = sweep(_request(values), axes, **chosen)
    return {**to_json(result), "csv": to_csv(result)}


def _mix(values: Values) -> Mapping[str, Any]:
    mix = request_mix(_request(values), _list(values, "lengths"))
    return {
        "usable_blocks": mix.usable_blocks,
        "blocks": list(mix.blocks),
        "average": float(mix.average),
        "percentile_tokens": mix.percentile_tokens,
        "percentile": float(mix.percentile),
        "longest": float(mix.longest),
    }


def _command(values: Values) -> Mapping[str, Any]:
    if "command" in values:
        read = read_command(str(values["command"]))
        lists = {name: list(getattr(read, name)) for name in ("ignored", "unmodelled", "unknown")}
        return {"request": dict(read.request), **lists}
    return {"command": engine_command(_request(values))}


def _link(values: Values) -> Mapping[str, Any]:
    if "address" in values:
        link = read_link(str(values["address"]))
        report = answer(link.request)
        return {
            "request": dict(link.request),
            "kvcore_version": link.kvcore_version,
            "said": dict(link.said),
            "now": as_json(then_and_now(link, report)),
            "errors": to_json(report.errors),
        }
    request = _request(values)
    report = answer(request)
    return {"link": write_link(request, report), "errors": to_json(report.errors)}
