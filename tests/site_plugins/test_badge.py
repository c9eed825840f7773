import xml.etree.ElementTree as ET

from site_plugins.pages.actions import actions, badge_of
from site_plugins.pages.badge import Badge, badge_markdown, badge_svg
from tests.report.reports import REPORT
from tests.site_plugins.test_deployments import deployment
from tests.site_plugins.test_pages_model import ENTRY, SITE_URL, beside, refuse

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = Badge('<b>"&', "]] figure", "[a] <name> & more")
PAGE = f"{SITE_URL}models/{ENTRY.id}/"


def test_a_badge_is_one_named_picture() -> None:
    root = ET.fromstring(badge_svg(HOSTILE))  # noqa: S314 - our own text
    assert (root.get("role"), root.get("aria-label")) == ("img", HOSTILE.name)
    assert root.findtext(f"{SVG}title") == HOSTILE.name
    assert [text.text for text in root.iter(f"{SVG}text")] == [HOSTILE.label, HOSTILE.figure]


def test_a_badge_asks_nothing_of_another_host() -> None:
    assert "href" not in beside("badge.svg")
    assert "url(#c)" in beside("badge.svg")


def test_a_badges_name_cannot_end_its_markdown() -> None:
    assert badge_markdown(HOSTILE, PAGE) == f"[![(a) <name> & more]({PAGE}badge.svg)]({PAGE})"


def test_a_badge_says_the_deployment_the_page_quotes() -> None:
    badge = badge_of(ENTRY.id, REPORT, deployment(8, 8.0))
    assert (badge.label, badge.figure) == ("KV cache on 8 × H200", "8.00 × 8k tokens")
    assert "8.00 requests of 8,192 tokens (estimated)" in badge.name


def test_without_a_deployment_a_badge_says_what_a_token_costs() -> None:
    assert badge_of(ENTRY.id, REPORT, None).figure == "128.00 KiB per token"


def test_a_refused_model_has_a_badge_that_says_so() -> None:
    assert badge_of(ENTRY.id, refuse({}), None).figure == "refused"


def test_every_button_is_a_link_that_works_without_script() -> None:
    request = {"model": ENTRY.id}
    written = actions(ENTRY.id, request, badge_of(ENTRY.id, REPORT, None), SITE_URL, "../../../")
    assert f'href="#model" data-kv-copy="{PAGE}"' in written
    assert 'href="badge.svg" data-kv-copy="[![' in written
    assert 'href="review.txt" data-kv-copy>' in written
    assert 'href="report.csv" download' in written
    assert f'href="../../../data/v1/models/{ENTRY.id}/report.json"' in written
