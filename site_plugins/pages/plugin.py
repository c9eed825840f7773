"""The MkDocs plugin ``kv_pages``: a thin shell that hands the catalogue to the page builders."""

from pathlib import Path

from mkdocs.config import base
from mkdocs.config.config_options import Type
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from kvcore.catalog import load_models
from site_plugins.accuracy.build import measured
from site_plugins.accuracy.page import accuracy_files
from site_plugins.charts.figure import SOURCE, chart_figure, chart_file
from site_plugins.charts.library import LIBRARIES, LibraryError, chart_library
from site_plugins.pages.ahead import Places, make_ahead
from site_plugins.pages.answers import Answers
from site_plugins.pages.build import catalogue_files
from site_plugins.pages.generated import GeneratedFile, Html, reachable_tables, whole
from site_plugins.pages.gpu_chart import PLACE, gpu_chart
from site_plugins.pages.home_table import home_table
from site_plugins.pages.placeholders import PlaceholderError, Tables, fill
from site_plugins.pages.tables import architecture_table, calculator_table, gpu_source_table, gpu_table
from site_plugins.published.build import published_files
from site_plugins.published.places import CALCULATORS, CHANGES
from site_plugins.reference.cli_page import cli_files
from site_plugins.versions.switch_tables import change_table, meaning_table, release_table


class PagesConfig(base.Config):
    """Options of ``kv_pages`` in ``mkdocs.yml``."""

    models = Type(list, default=[])
    """Catalogue ids to build pages for. Empty, the default, builds every model; a few speed up work on one page."""

    cache = Type(str, default=".cache/kv_pages")
    """Where pages of earlier builds are kept, relative to ``mkdocs.yml``."""

    packages = Type(str, default="node_modules")
    """Where npm's packages are, relative to ``mkdocs.yml``; the library that draws charts is among them."""

    golden = Type(str, default="tests/golden")
    """The engines' own figures that the accuracy page is made from, relative to ``mkdocs.yml``."""


class PagesPlugin(BasePlugin[PagesConfig]):
    """Adds the generated pages and fills figures into written ones.

    - ``on_config`` finds the library that draws charts in the browser.
    - ``on_files`` adds it, and the pages and data files made from the catalogue.
    - ``on_page_markdown`` fills the figures of written pages.
    - ``on_post_page`` puts the HTML of generated pages in.
    """

    def __init__(self) -> None:
        self._answers = Answers()
        # Tables that written pages name; the models are known from on_files on.
        self._tables: Tables = {}
        # HTML of the generated pages by their place, from on_files until each page is complete.
        self._fragments: dict[str, tuple[str, ...]] = {}

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Names the folder of the chart library to the theme, for the scripts to find it.

        Args:
            config: MkDocs' configuration.

        Returns:
            The configuration.

        Raises:
            PluginError: The library is not installed.
        """
        try:
            self._library = chart_library(Path(config.config_file_path).parent / self.config.packages)
        except LibraryError as error:
            message = f"kv_pages: {error}"
            raise PluginError(message) from error
        config.extra["kv_vega"] = self._library.folder
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Adds a page with data files for every model, the models index and the overview of cache kinds.

        Args:
            files: The written files.
            config: MkDocs' configuration.

        Returns:
            The files with the generated ones added.
        """
        wanted = frozenset(self.config.models)
        entries = [entry for entry in load_models() if not wanted or entry.id in wanted]
        project = Path(config.config_file_path).parent
        cache = project / self.config.cache
        site_url = config.site_url or ""
        places = Places(project / self.config.golden, cache, site_url)
        make_ahead(entries, places)
        outcomes = measured(places.golden, cache)
        pages, models = catalogue_files(entries, self._answers, site_url, places.pages(), places.drawing())
        changes = Path(config.docs_dir) / CHANGES
        on_gpus = gpu_chart(self._answers)
        drawn = chart_figure(on_gpus, places.drawing()) if on_gpus else ""
        self._tables = {
            "asked-for": lambda: home_table(models),
            "gpus": gpu_table,
            "gpu-sources": gpu_source_table,
            "memory-of-gpus": lambda: Html(drawn),
            "releases": release_table,
            "switches": meaning_table,
            "changes": change_table,
            "architectures": lambda: architecture_table(models),
            "calculators": lambda: calculator_table(Path(config.docs_dir) / CALCULATORS),
        }
        generated = (
            *pages,
            *published_files(models, changes, site_url, config.site_name),
            *accuracy_files(outcomes, {entry.id for entry in entries}),
            *cli_files(),
            *((GeneratedFile(f"{PLACE}/{SOURCE}", chart_file([on_gpus])),) if on_gpus else ()),
        )
        for item in generated:
            files.append(File.generated(config, item.src_uri, content=item.content))
        for name, text in self._library.files.items():
            files.append(File.generated(config, f"{LIBRARIES}/{self._library.folder}/{name}", content=text))
        self._fragments = {item.src_uri: item.fragments for item in generated if item.fragments}
        return files

    def on_page_markdown(self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Fills the figures of a written page. Generated pages hold none, so a model's own text is never read as one.

        Args:
            markdown: The page's Markdown.
            page: The page; its front matter's ``kv`` names the questions.
            config: MkDocs' configuration.
            files: All files.

        Returns:
            The Markdown with figures.

        Raises:
            PluginError: A placeholder cannot be filled.
        """
        if page.file.generated_by is not None:
            return markdown
        try:
            return fill(markdown, page.meta.get("kv", {}), self._answers, self._tables)
        except PlaceholderError as error:
            raise PluginError(f"{page.file.src_uri}: {error}") from error

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Puts the tables of a written page in boxes that scroll and take the focus.

        Args:
            html: The page's content.
            page: The page.
            config: MkDocs' configuration.
            files: All files.

        Returns:
            The content.
        """
        return html if page.file.generated_by is not None else reachable_tables(html)

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Puts a generated page's HTML in place of its marks.

        Args:
            output: The rendered page.
            page: The page.
            config: MkDocs' configuration.

        Returns:
            The complete page.
        """
        return whole(output, self._fragments.get(page.file.src_uri, ()))
