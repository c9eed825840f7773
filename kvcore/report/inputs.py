"""The inputs of a report: what was given and what was filled in, each with its origin."""

from collections.abc import Mapping

from kvcore.report.report import Input
from kvcore.request import Request, request_fields

_OBJECTS = ("config", "layout")


def all_inputs(request: Request, subject: str, resolved: Mapping[str, Input]) -> dict[str, Input]:
    """Every field of a report's inputs: the subject first, then given fields no rule resolves, then resolved ones.

    Args:
        request: The question.
        subject: Name of the model, config or layout; a pasted object is named and not repeated.
        resolved: Fields after the engine's defaults.
    """
    given = request_fields(request)
    inputs: dict[str, Input] = {}
    for name, value in given.items():
        if name in _OBJECTS:
            inputs[name] = Input(value=subject, origin="given", note="as pasted")
        elif name not in resolved:
            inputs[name] = Input(value=value, origin="given")
    return {**inputs, **resolved}
