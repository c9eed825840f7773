"""The MkDocs plugin ``kv_bundle``: a thin shell over the functions of this package."""

from pathlib import Path

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.config.config_options import ExtraScriptValue
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from kvcore.catalog import load_gpus, load_models
from site_plugins.bundle.bundle import Bundle, build_bundle
from site_plugins.bundle.calculator import PLACEHOLDER, calculator_foot, calculator_head, calculator_html
from site_plugins.bundle.form import Suggestions
from site_plugins.bundle.inputs import Inputs, MissingInputError
from site_plugins.bundle.node import NodeError
from site_plugins.bundle.reconcile import PLACEHOLDER as LOG_PLACEHOLDER
from site_plugins.bundle.reconcile import reconcile_html
from site_plugins.bundle.wheel import WheelError
from site_plugins.csp import PolicyError, protect

ASSETS = "assets/kv/"

INITIAL = {"model": "meta-llama/Llama-3.1-8B-Instruct", "max_model_len": 32_768, "available_kv_cache_gib": 40}
"""A model people know, at a length they serve, with the memory an 80 GB card leaves beside its weights."""


class BundleConfig(Config):
    """Options of ``kv_bundle``."""

    pyodide = config_options.Type(str, default="node_modules/pyodide")
    """The unpacked npm package, relative to ``mkdocs.yml``."""

    cache = config_options.Type(str, default=".cache/kv_bundle")
    """Where built archives are kept, relative to ``mkdocs.yml``."""

    initial = config_options.Type(dict, default=dict(INITIAL))
    """The question the calculator answers before any script runs: request fields and their values."""


class BundlePlugin(BasePlugin[BundleConfig]):
    """Builds the browser bundle, serves it, fills in the calculator, and gives every page its policy.

    - ``on_config`` builds the bundle and names its scripts to the theme.
    - ``on_files`` adds its files.
    - ``on_page_content`` puts the calculator in the place of its comment, ``on_post_page`` its script in the head.
    - ``on_post_build`` writes the Content-Security-Policy, after everything else has written its pages.
    """

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Builds the bundle, or takes it from the cache."""
        project = Path(config.config_file_path).parent
        self.scripts = Path(config.docs_dir) / ASSETS
        inputs = Inputs(project=project, pyodide=project / self.config.pyodide, scripts=self.scripts)
        self.models = tuple(entry.id for entry in load_models())
        try:
            self.bundle: Bundle = build_bundle(inputs, self.models, project / self.config.cache)
        except (MissingInputError, NodeError, WheelError) as error:
            message = f"kv_bundle: {error}"
            raise PluginError(message) from error
        script = ExtraScriptValue(f"{ASSETS}{self.bundle.app}/main.mjs")
        script.type = "module"
        config.extra_javascript.append(script)
        config.extra_css.append(f"{ASSETS}{self.bundle.app}/calculator.css")
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Serves the scripts from the folder named by their content, in place of the one they are written in."""
        for file in list(files):
            if file.abs_src_path and Path(file.abs_src_path).parent == self.scripts:
                files.remove(file)
        for name, path in self.bundle.files:
            files.append(File.generated(config, f"{ASSETS}{name}", abs_src_path=str(path)))
        return files

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Writes the calculator, or the box for a log, where a page asks for it."""
        if LOG_PLACEHOLDER in html:
            offered = {"model": self.models, "gpu": tuple(gpu.name for gpu in load_gpus())}
            html = html.replace(LOG_PLACEHOLDER, reconcile_html(self.bundle, _base(page), offered))
        if PLACEHOLDER not in html:
            return html
        page.meta["kv_calculator"] = True
        initial = {name: str(value) for name, value in self.config.initial.items()}
        suggestions = Suggestions({"model": self.models, "gpu": tuple(gpu.name for gpu in load_gpus())})
        hub = str(config.extra.get("hub", ""))
        return html.replace(PLACEHOLDER, calculator_html(self.bundle, _base(page), initial, suggestions, hub))

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Puts the script that starts Python before everything else the calculator's page loads."""
        if "kv_calculator" not in page.meta:
            return output
        base = _base(page)
        output = output.replace("<head>", f"<head>\n{calculator_head(self.bundle, base)}", 1)
        return output.replace("</body>", f"{calculator_foot(self.bundle, base)}\n</body>", 1)

    @event_priority(-100)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Hashes the inline scripts that were really rendered and writes the policy into every page."""
        try:
            protect(Path(config.site_dir))
        except PolicyError as error:
            message = f"kv_bundle: {error}"
            raise PluginError(message) from error


def _base(page: Page) -> str:
    """Address of the bundle's folder as seen from a page."""
    return f"{get_relative_url(ASSETS, page.url).rstrip('/')}/"
