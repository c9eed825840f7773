"""A hook for MkDocs that writes every page's Markdown as MkDocs gets to render it: :mod:`tools.bench_site` builds it alone."""

import os
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from site_plugins.pages.generated import front_matter, whole

FOLDER = "KV_MARKDOWN"
"""Variable of the environment that names the folder to write to."""


@event_priority(-100)
def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Writes a page, after every plugin has changed what it wants to.

    Args:
        markdown: The page's Markdown.
        page: The page.
        config: MkDocs' configuration.
        files: All files.
    """
    fragments = getattr(config.plugins["kv_pages"], "_fragments", {})
    place = Path(os.environ[FOLDER]) / page.file.src_uri
    place.parent.mkdir(parents=True, exist_ok=True)
    meta = front_matter({name: value for name, value in page.meta.items() if name != "kv"})
    place.write_text(meta + whole(markdown, fragments.get(page.file.src_uri, ())), "utf-8")
