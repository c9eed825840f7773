"""Inverse questions, comparisons and sweeps: all asked of the same forward answer."""

from kvcore.questions.budget import smallest_budget, smallest_utilization
from kvcore.questions.compare import Comparison, Row, compare
from kvcore.questions.forward import Basis, Check
from kvcore.questions.length import longest_context
from kvcore.questions.mix import MixAnswer, request_mix
from kvcore.questions.parallelism import Split, best_split, fewest_gpus, splits
from kvcore.questions.solution import Solution
from kvcore.questions.sweep import Sweep, iso_concurrency, sweep, to_csv

__all__ = [
    "Basis",
    "Check",
    "Comparison",
    "MixAnswer",
    "Row",
    "Solution",
    "Split",
    "Sweep",
    "best_split",
    "compare",
    "fewest_gpus",
    "iso_concurrency",
    "longest_context",
    "request_mix",
    "smallest_budget",
    "smallest_utilization",
    "splits",
    "sweep",
    "to_csv",
]
