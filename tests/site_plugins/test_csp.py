"""The policy of every page: what it allows, and where it stands."""

import base64
import hashlib
from pathlib import Path

import pytest

from site_plugins.csp import PolicyError, inline_scripts, policy, protect, source_hash, style_attributes, with_policy

PAGE = '<!doctype html>\n<html><head><meta charset="utf-8"><title>t</title></head><body></body></html>'


def test_the_hash_of_a_script_is_the_base64_of_its_sha256() -> None:
    digest = base64.b64encode(hashlib.sha256(b"go()").digest()).decode()
    assert source_hash("go()") == f"'sha256-{digest}'"


def test_a_script_with_a_source_needs_no_hash() -> None:
    assert list(inline_scripts('<script src="a.js"></script><script>go()</script>')) == ["go()"]


def test_a_data_block_is_not_a_script() -> None:
    html = '<script id="__config" type="application/json">{}</script><script type="module">import "x"</script>'
    assert list(inline_scripts(html)) == ['import "x"']


def test_an_entity_in_a_style_attribute_is_hashed_as_the_browser_reads_it() -> None:
    assert list(style_attributes('<p class=x style="content: &quot;a&quot;">')) == ['content: "a"']


def test_the_policy_allows_no_inline_script_and_no_evaluation() -> None:
    text = policy(["go()"], ["p{}"], ["color: red"])
    assert "unsafe-inline" not in text
    assert "'unsafe-eval'" not in text
    assert "'wasm-unsafe-eval'" in text
    assert "default-src 'none'" in text


def test_unsafe_hashes_stands_only_where_style_attributes_need_it() -> None:
    assert "unsafe-hashes" not in policy(["go()"], ["p{}"], [])


def test_only_the_character_set_stands_before_the_policy() -> None:
    page = with_policy(PAGE, "default-src 'none'", "index.html")
    head = page[page.index("<head>") + len("<head>") :]
    assert head.startswith('<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy"')
    assert page.count("charset") == 1


def test_a_second_build_replaces_the_policy() -> None:
    page = with_policy(with_policy(PAGE, "default-src 'none'", "a"), "default-src 'self'", "a")
    assert page.count("Content-Security-Policy") == 1
    assert "default-src 'self'" in page


def test_a_page_without_a_head_stops_the_build_and_is_named() -> None:
    with pytest.raises(PolicyError, match=r"404\.html"):
        with_policy("<p>bare</p>", "default-src 'none'", "404.html")


def test_pages_of_one_site_share_one_policy(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text(PAGE.replace("<body>", "<body><script>one()</script>"))
    (tmp_path / "a" / "index.html").write_text(PAGE.replace("<body>", "<body><script>two()</script>"))
    content = protect(tmp_path)
    assert source_hash("one()") in content
    assert source_hash("two()") in content
    assert all(content in path.read_text() for path in tmp_path.rglob("*.html"))
