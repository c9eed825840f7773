"""Without a budget nothing is said to fit or not to fit."""

from kvcore.answer import answer
from kvcore.report.render import render
from kvcore.report.writers import text

QUESTION = {"model": "openai/gpt-oss-20b"}


def test_fits_is_unknown_without_a_budget() -> None:
    report = answer(QUESTION)
    assert report.capacity is not None
    assert report.capacity.fits is None


def test_the_headline_asks_for_a_budget() -> None:
    shown = text.write(render(answer(QUESTION)))
    assert "give a cache budget to see how many fit" in shown
    assert "does not fit" not in shown
