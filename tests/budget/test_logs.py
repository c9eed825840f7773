"""Public startup logs: weights as loaded, and budgets inside the stated interval."""

from kvcore.budget.fitted import FIT
from site_plugins.accuracy.memory import budget_cases, budget_table, load_cases, weights_table
from tools.fit_budget import left_out_errors


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def test_the_median_error_of_loaded_weights_is_at_most_half_a_percent() -> None:
    assert quantile([abs(row.error) for row in weights_table()], 0.5) <= 0.005


def test_nine_in_ten_loaded_weights_are_within_two_percent() -> None:
    assert quantile([abs(row.error) for row in weights_table()], 0.9) <= 0.02


def test_every_larger_error_has_a_reason() -> None:
    assert [row.case.id for row in weights_table() if abs(row.error) > 0.02 and not row.case.reason] == []


def test_the_interval_of_all_other_logs_contains_four_in_five_budgets() -> None:
    rows = budget_table()

    assert sum(row.contained for row in rows) >= 0.8 * len(rows)


def test_the_stated_interval_contains_four_in_five_budgets() -> None:
    low, high = FIT.interval
    rows = budget_table()
    inside = [low <= (row.logged - row.computed) * 2**30 <= high for row in rows]

    assert sum(inside) >= 0.8 * len(rows)


def test_the_stated_interval_holds_four_in_five_errors_of_logs_left_out_of_the_fit() -> None:
    low, high = (end / 2**30 for end in FIT.interval)
    errors = left_out_errors(budget_cases(), FIT)
    inside = [low <= error <= high for error in errors]

    assert sum(inside) >= 0.8 * len(errors)


def test_the_fit_saw_every_log_that_states_a_budget() -> None:
    assert len(budget_table()) == FIT.logs


def test_every_log_can_be_found() -> None:
    assert [case.id for case in load_cases() if not case.url] == []
