"""A strict Content-Security-Policy in every built page.

The theme's own inline scripts are allowed one by one, by hash; nothing else inline runs. All pages share one policy:
instant navigation swaps pages inside one window, where a second, different policy would add to the first and shut out
what only one of the two allows.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<text>.*?)</script>", re.DOTALL | re.IGNORECASE)
_STYLE = re.compile(r"<style[^>]*>(?P<text>.*?)</style>", re.DOTALL | re.IGNORECASE)
_STYLE_ATTRIBUTE = re.compile(r"<[a-z][^<>]*?\sstyle=(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')", re.IGNORECASE)
_TYPE = re.compile(r"\btype=[\"']?([^\"'\s>]+)", re.IGNORECASE)
_JAVASCRIPT = frozenset({"text/javascript", "module", "application/javascript"})
_META = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?')
_CHARSET = re.compile(r"<meta\s+charset=[^>]*>", re.IGNORECASE)
_HEAD = re.compile(r"<head[^>]*>", re.IGNORECASE)


class PolicyError(RuntimeError):
    """A page cannot carry the policy; the message names it."""


def inline_scripts(html: str) -> Iterator[str]:
    """Yields the text of every inline script that a browser would run."""
    for match in _SCRIPT.finditer(html):
        kind = _TYPE.search(match["attributes"])
        if "src=" not in match["attributes"] and (kind is None or kind[1].lower() in _JAVASCRIPT):
            yield match["text"]


def inline_styles(html: str) -> Iterator[str]:
    """Yields the text of every ``<style>`` element."""
    for match in _STYLE.finditer(html):
        yield match["text"]


def style_attributes(html: str) -> Iterator[str]:
    """Yields the value of every ``style`` attribute."""
    for match in _STYLE_ATTRIBUTE.finditer(html):
        yield unescape(match["double"] if match["double"] is not None else match["single"])


def source_hash(text: str) -> str:
    """Returns the hash source that allows one inline text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy(scripts: Iterable[str], styles: Iterable[str], attributes: Iterable[str]) -> str:
    """Writes the policy for pages that hold these inline texts and nothing else inline.

    Args:
        scripts: Texts of inline scripts.
        styles: Texts of ``<style>`` elements.
        attributes: Values of ``style`` attributes.

    Returns:
        The policy. ``wasm-unsafe-eval`` is what WebAssembly needs; it allows no evaluation of JavaScript.
    """
    script_hashes = sorted({source_hash(text) for text in scripts})
    style_hashes = sorted({source_hash(text) for text in styles})
    attribute_hashes = sorted({source_hash(text) for text in attributes})
    hashed_attributes = ["'unsafe-hashes'", *attribute_hashes] if attribute_hashes else []
    directives = (
        ("default-src", "'none'"),
        ("script-src", "'self'", "'wasm-unsafe-eval'", *script_hashes),
        ("style-src", "'self'", *style_hashes, *hashed_attributes),
        ("img-src", "'self'", "data:"),
        ("font-src", "'self'"),
        ("connect-src", "'self'"),
        ("worker-src", "'self'"),
        ("manifest-src", "'self'"),
        ("base-uri", "'none'"),
        ("form-action", "'self'"),
        ("object-src", "'none'"),
    )
    return "; ".join(" ".join(directive) for directive in directives)


def with_policy(html: str, content: str, name: str) -> str:
    """Puts the policy before anything in the page that loads or runs.

    Only the character set stands in front of it, because browsers look for that in the first 1,024 bytes and hashes
    are long.

    Args:
        html: The page.
        content: The policy.
        name: What to call the page in an error.

    Raises:
        PolicyError: The page has no ``<head>``.
    """
    html = _META.sub("", html)
    head = _HEAD.search(html)
    if head is None:
        message = f"{name} has no <head> to put the Content-Security-Policy in"
        raise PolicyError(message)
    charset = _CHARSET.search(html, head.end())
    mark = charset[0] if charset else '<meta charset="utf-8">'
    rest = html[head.end() :]
    rest = rest.replace(mark, "", 1) if charset else rest
    meta = f'<meta http-equiv="Content-Security-Policy" content="{content}">'
    return f"{html[: head.end()]}{mark}\n{meta}\n{rest.lstrip()}"


def protect(site: Path) -> str:
    """Gives every HTML file below a folder the one policy that fits them all.

    Args:
        site: The built site.

    Returns:
        The policy.
    """
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    texts = pages.values()
    content = policy(
        (text for page in texts for text in inline_scripts(page)),
        (text for page in texts for text in inline_styles(page)),
        (text for page in texts for text in style_attributes(page)),
    )
    for path, page in pages.items():
        path.write_text(with_policy(page, content, str(path.relative_to(site))), encoding="utf-8")
    return content
