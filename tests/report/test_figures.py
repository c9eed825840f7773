from fractions import Fraction

from kvcore.report import figures

KIB = 1024
MIB = 1024 * 1024
GIB = 1024 * 1024 * 1024


def test_whole_numbers_get_thousands_separators() -> None:
    assert figures.grouped(4_901_120) == "4,901,120"


def test_numbers_below_a_thousand_get_none() -> None:
    assert figures.grouped(999) == "999"


def test_an_exact_ratio_is_rounded_once_from_its_exact_value() -> None:
    # 2^53 + 1 has no double; through a float the last digit would be lost.
    assert figures.grouped(Fraction(2**53 + 1), 2) == "9,007,199,254,740,993.00"


def test_a_negative_gap_keeps_its_sign_when_it_rounds_to_a_fraction() -> None:
    assert figures.grouped(Fraction(-1, 4), 2) == "-0.25"


def test_gib_counts_powers_of_1024_and_gb_powers_of_1000() -> None:
    assert figures.scaled(40 * GIB, GIB) == "40.00"
    # 40 × 1.073741824 = 42.94967296
    assert figures.scaled(40 * GIB, 10**9) == "42.95"


def test_bytes_are_shown_in_the_largest_binary_unit_they_reach() -> None:
    assert figures.readable_bytes(KIB - 1) == "1,023 B"
    assert figures.readable_bytes(KIB) == "1.00 KiB"
    assert figures.readable_bytes(3 * MIB // 2) == "1.50 MiB"
    assert figures.readable_bytes(GIB) == "1.00 GiB"


def test_a_scaled_figure_keeps_the_exact_bytes_as_its_value() -> None:
    figure = figures.sized("request.bytes_estimate", GIB + 1)
    assert (figure.value, figure.plain) == (GIB + 1, "1.00 GiB")


def test_an_unknown_value_is_a_dash_without_a_unit() -> None:
    assert figures.count("capacity.tokens.per_token_pool", None, "tokens").plain == "–"
    assert figures.sized("capacity.short_bytes", None).plain == "–"
    assert figures.times("capacity.concurrency.held", None).plain == "–"


def test_concurrency_has_the_two_decimals_of_the_engines_log() -> None:
    assert figures.times("capacity.concurrency.engine_log", 13.15).text == "13.15"
    assert figures.times("capacity.concurrency.engine_log", 1234.5).text == "1,234.50"


def test_a_share_is_a_percentage_with_one_decimal() -> None:
    assert figures.share(1, 3) == "33.3 %"
    assert figures.share(0, 0) == "–"


def test_requests_that_are_promised_are_never_rounded_up() -> None:
    # (40,960 − 1) ÷ 512 = 79.998…: the engine would print 80.00, but 80 requests cannot be held.
    held = (40_960 - 1) / 512
    assert figures.times("capacity.concurrency.held", held).text == "80.00"
    assert figures.times_at_most("capacity.concurrency.held", held).text == "79.99"
