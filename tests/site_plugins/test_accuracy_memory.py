"""Weights and budgets on the accuracy page come from the logs, worst first, and say how many were held."""

from site_plugins.accuracy.memory import budget_table, weights_table
from site_plugins.accuracy.memory_page import budget_rows, budget_summary, weights_rows, weights_summary


def test_every_log_with_a_loading_figure_has_a_row() -> None:
    assert len(weights_rows().rows) == len(weights_table())


def test_every_log_with_a_budget_has_a_row() -> None:
    assert len(budget_rows().rows) == len(budget_table())


def test_the_summaries_count_what_the_tables_show() -> None:
    held = sum(row.contained for row in budget_table())
    assert f"holds {held} of them" in budget_summary(budget_table())
    assert weights_summary(weights_table()).startswith(f"{len(weights_table())} logs")
