"""Answer: one request in, one report out; the only door both the command line and the browser go through."""

import math
from collections.abc import Collection, Mapping
from typing import Any

from kvcore import __version__
from kvcore.engines.vllm.answer import answer_vllm
from kvcore.errors import FieldError, KvcoreError, shown
from kvcore.report.report import Input, Report
from kvcore.request import Request, parse_request


def answer(fields: Mapping[str, Any], sections: Collection[str] | None = None) -> Report:
    """Answers one request.

    Args:
        fields: Request fields by name, as in JSON.
        sections: Sections that are wanted (``capacity``, ``request`` and so on), where not all are. The others may then be
            left out, as may what costs more than a section's own figures: derivation, warnings, and the capacity's
            interval. What is there is the same as in the whole report.

    Returns:
        The report. Bad input and refusals of the engine stand in ``errors``; this function does not raise for them.
    """
    try:
        request = parse_request(fields)
        return _answer(request, sections)
    except KvcoreError as error:
        return Report(inputs=_given(fields), kvcore_version=__version__, errors=error.errors)
    except RecursionError:
        nested = FieldError("config", "(nested)", "the object is nested too deeply", "Give the model's config.json.")
        return Report(inputs={}, kvcore_version=__version__, errors=(nested,))


def _answer(request: Request, sections: Collection[str] | None) -> Report:
    if request.engine == "vllm":
        return answer_vllm(request, sections)
    # Read when it is asked for: a page that answers for vLLM only starts sooner.
    from kvcore.engines.sglang.answer import answer_sglang  # noqa: PLC0415

    return answer_sglang(request)


def _given(fields: Mapping[str, Any]) -> dict[str, Input]:
    """The request as it came, for a report that could not be worked out; nested values are only named."""
    return {
        str(name)[:80]: Input(value=value if _printable(value) else shown(value), origin="given")
        for name, value in list(fields.items())[:200]
    }


def _printable(value: object) -> bool:
    """A short scalar that JSON can carry: no object, no NaN, no infinity."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int | bool) and len(str(value)) <= 300
