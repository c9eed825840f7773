"""Recorder: every setting with its value, where it came from and why."""

import dataclasses
from typing import Any

from kvcore.report.report import Input
from kvcore.request import Request


class InputRecorder:
    """Takes settings from a request, fills in defaults and keeps what the report says about each."""

    def __init__(self, request: Request) -> None:
        """Starts without any setting."""
        self.request = request
        self.inputs: dict[str, Input] = {}

    def put(self, name: str, value: object, origin: str, note: str) -> None:
        """Records a setting."""
        self.inputs[name] = Input(value=value, origin=origin, note=note)

    def take(self, name: str, default: object, note: str) -> Any:
        """The request's value of a field, or the default, which ``note`` explains."""
        value = getattr(self.request, name)
        if name in self.request.given and value is not None:
            self.put(name, value, "given", "")
            return value
        self.put(name, default, "default", note)
        return default

    def correct(self, name: str, value: object) -> None:
        """Replaces the value of a recorded setting."""
        self.inputs[name] = dataclasses.replace(self.inputs[name], value=value)
