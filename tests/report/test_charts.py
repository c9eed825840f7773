from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kvcore.arithmetic import MIB
from kvcore.report.charts import COLOURS, bytes_by_part, concurrency, concurrency_on, explorable
from kvcore.report.document import plain
from kvcore.report.report import Report
from tests.report.reports import REPORT

SHORT, LONG = 1024, 4096


def at_length(length: int, factor: int = 1, requests: float = 2.0) -> Report:
    """The sample report at another length, its parts and its concurrency stated."""
    assert REPORT.request is not None
    assert REPORT.capacity is not None
    parts = tuple(replace(part, bytes_estimate=factor * length * MIB) for part in REPORT.request.parts)
    request = replace(
        REPORT.request, max_model_len=length, parts=parts, bytes_estimate=len(parts) * factor * length * MIB
    )
    found = replace(REPORT.capacity.concurrency, engine_log=requests)
    return replace(REPORT, request=request, capacity=replace(REPORT.capacity, concurrency=found))


def values(spec: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    return [(item["line"], item["across"], item["up"]) for item in spec["data"]["values"]]


def labels(spec: Mapping[str, Any]) -> list[str]:
    return [item["line"] for item in spec["layer"][2]["data"]["values"]]


def test_one_request_is_drawn_by_part_in_mebibytes() -> None:
    chart = bytes_by_part([at_length(SHORT), at_length(LONG)])
    assert chart is not None
    assert REPORT.request is not None
    first = REPORT.request.parts[0].name
    assert (first, SHORT, float(SHORT)) in values(chart.spec)
    assert (first, LONG, float(LONG)) in values(chart.spec)


def test_the_table_of_a_chart_keeps_whole_bytes() -> None:
    chart = bytes_by_part([at_length(SHORT), at_length(LONG)])
    assert chart is not None
    assert plain(chart.table.rows[0].cells[0]) == "1,024"
    assert plain(chart.table.rows[0].cells[1]) == f"{SHORT * MIB:,}"


def test_one_length_makes_no_chart() -> None:
    assert bytes_by_part([at_length(SHORT), at_length(SHORT)]) is None
    assert concurrency({"tp 1": [at_length(SHORT)]}) is None


def test_every_line_has_a_dash_of_its_own_and_its_name_at_its_end() -> None:
    series = {
        f"tp {size} · 40 GiB": [at_length(SHORT, requests=8.0 * size), at_length(LONG, requests=2.0 * size)]
        for size in (1, 2, 4)
    }
    chart = concurrency(series)
    assert chart is not None
    encoding: Any = chart.spec["layer"]
    dashes = encoding[0]["encoding"]["strokeDash"]["scale"]["range"]
    assert len({tuple(dash) for dash in dashes}) == len(series)
    assert sorted(labels(chart.spec)) == sorted(series)


def test_deployments_with_the_same_figures_share_a_line() -> None:
    same = [at_length(SHORT, requests=8.0), at_length(LONG, requests=2.0)]
    chart = concurrency({"tp 1 · 40 GiB": same, "tp 8 · 40 GiB": same})
    assert chart is not None
    assert labels(chart.spec) == ["tp 1, 8 · 40 GiB"]
    assert len(chart.table.rows) == 2


def test_names_at_the_ends_of_close_lines_are_pushed_apart() -> None:
    close = {
        "a · 40 GiB": [at_length(SHORT, requests=8.0), at_length(LONG, requests=2.0)],
        "b · 80 GiB": [at_length(SHORT, requests=8.0), at_length(LONG, requests=2.001)],
    }
    chart = concurrency(close)
    assert chart is not None
    encoding: Any = chart.spec["layer"]
    low, high = sorted(item["up"] for item in encoding[2]["data"]["values"])
    assert high / low > 1.05


def test_no_two_kinds_share_a_colour() -> None:
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_names_of_lines_that_end_apart_stay_at_their_ends() -> None:
    ends = {
        "short · 40 GiB": [at_length(SHORT, requests=8.0), at_length(2048, requests=4.0)],
        "long · 80 GiB": [at_length(SHORT, requests=8.0), at_length(LONG, requests=4.0)],
    }
    chart = concurrency(ends)
    assert chart is not None
    encoding: Any = chart.spec["layer"]
    assert [item["up"] for item in encoding[2]["data"]["values"]] == [4.0, 4.0]


def test_an_explored_chart_answers_the_pointer_and_names_the_sites_variables() -> None:
    chart = concurrency({"tp 1": [at_length(SHORT, requests=8.0), at_length(LONG)]})
    assert chart is not None
    explored: Any = explorable(chart.spec)
    assert [layer["params"][0]["select"]["nearest"] for layer in explored["layer"] if "params" in layer] == [True]
    assert explored["usermeta"]["variables"][COLOURS["token"]] == "--kv-tone-token"
    assert explored["usermeta"]["variables"][COLOURS["ink"]] == "--kv-ink"


def test_a_printed_chart_carries_nothing_for_the_pointer() -> None:
    chart = concurrency({"tp 1": [at_length(SHORT, requests=8.0), at_length(LONG)]})
    assert chart is not None
    layers: Any = chart.spec["layer"]
    assert not any("params" in layer for layer in layers)
    assert "usermeta" not in chart.spec


def test_a_short_axis_of_lengths_steps_by_a_power_of_two() -> None:
    chart = concurrency({"tp 1": [at_length(2048, requests=4.0), at_length(4096)]})
    assert chart is not None
    layers: Any = chart.spec["layer"]
    assert layers[0]["encoding"]["x"]["axis"]["values"] == [2048, 2560, 3072, 3584, 4096]


def test_figures_alone_make_the_same_chart_as_reports() -> None:
    reports = [at_length(SHORT, requests=8.0), at_length(LONG, requests=2.0)]
    assert concurrency({"tp 1": reports}) == concurrency_on({"tp 1": [(SHORT, 8.0), (LONG, 2.0)]}, "vLLM 0.33.0")


def test_a_length_that_does_not_fit_ends_the_line_and_says_so_in_the_table() -> None:
    chart = concurrency_on({"1 × H100": [(SHORT, 8.0), (2048, 4.0), (LONG, None)]}, "vLLM 0.33.0")
    assert chart is not None
    assert [across for _, across, _ in values(chart.spec)] == [SHORT, 2048]
    assert plain(chart.table.rows[0].cells[3]) == "does not fit"
