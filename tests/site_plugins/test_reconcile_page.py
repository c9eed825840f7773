from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.reconcile import reconcile
from site_plugins.bundle.reconcile import EXAMPLE


def test_the_example_on_the_page_is_a_log_that_agrees() -> None:
    found = reconcile(read_log_text(EXAMPLE), {})

    assert found.verdict == "equal"
    assert [item.field for item in found.implied.questions] == ["gpu"]
