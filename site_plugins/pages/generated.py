"""What the page builders return: a file's place under ``docs/`` and its content. Nothing here knows MkDocs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

_MARKDOWN_NEVER_ACTS_ON = frozenset(" .,:;/()-+×÷=")


@dataclass(frozen=True)
class GeneratedFile:
    """A page or data file that exists only in the built site."""

    src_uri: str
    content: str


def front_matter(meta: Mapping[str, object]) -> str:
    """Returns a page's meta-data block. JSON is YAML, and quotes every string for us."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in meta.items()]
    return "\n".join(["---", *lines, "---", ""])


def as_text(text: str) -> str:
    """Returns text for a line of Markdown: entities instead of every character that might be acted on."""
    return "".join(char if char.isalnum() or char in _MARKDOWN_NEVER_ACTS_ON else f"&#{ord(char)};" for char in text)
