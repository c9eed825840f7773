"""The report of one answer, and how a person or a program reads it."""

from kvcore.report.json import dumps, to_json
from kvcore.report.report import Report

__all__ = ["Report", "dumps", "to_json"]
