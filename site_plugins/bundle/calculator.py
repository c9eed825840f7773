"""The calculator as built: the form, and beside it the whole answer to the form's first question."""

import dataclasses
import json
from collections.abc import Mapping
from html import escape
from typing import Any

from kvcore.browser import whole_form
from kvcore.commandline import engine_command
from site_plugins.bundle.bundle import Bundle
from site_plugins.bundle.form import Suggestions, form_html
from site_plugins.bundle.layout_panel import layout_panel
from site_plugins.bundle.panels import command_panel, further_panels

PLACEHOLDER = "<!-- kv:calculator -->"
"""Comment in a Markdown page that the calculator takes the place of."""

_BUTTONS = (
    ("link", "Copy link", False),
    ("markdown", "Copy for a design review", True),
    ("json", "JSON", True),
    ("command", "Copy command", False),
    ("add", "Add to comparison", False),
)
"""Name, label, and whether the button needs an answer computed in this browser."""


def calculator_head(bundle: Bundle, base: str) -> str:
    """Writes what stands first in the calculator's ``<head>``: the script that starts Python while the page loads."""
    stated = f'<meta name="kv-bundle" content="{escape(json.dumps(bundle.address(base)))}">'
    return f"{stated}\n<script>{bundle.early_script}</script>"


def calculator_foot(bundle: Bundle, base: str) -> str:
    """Writes what stands last in the calculator's ``<body>``: all its modules at once, but after Python and the styles."""
    return "\n".join(f'<link rel="modulepreload" href="{base}{bundle.app}/{name}">' for name in bundle.page_modules)


def calculator_html(
    bundle: Bundle, base: str, initial: Mapping[str, str], suggestions: Suggestions, hub: str = ""
) -> str:
    """Writes the calculator.

    Args:
        bundle: Where the worker and its files are.
        base: Address of ``assets/kv/`` as seen from the page, ending in a slash.
        initial: The question the page answers before any script runs.
        suggestions: What the form offers while typing.
        hub: Origin of the Hub, or of a mirror of it, that a config.json may be fetched from; empty for none.

    Returns:
        HTML without scripts; the answer is the very one kvcore gives in the browser.
    """
    reply = json.loads(whole_form(json.dumps(dict(initial))))
    address = bundle.address(base)
    buttons = "\n".join(
        f'<button type="button" class="kv-button" data-kv-take="{name}"{" disabled" if waits else ""}>{label}</button>'
        for name, label, waits in _BUTTONS
    )
    return f"""<div class="kv-calculator" data-kv-calculator data-kv-hub="{escape(hub)}"
data-kv-bundle="{escape(json.dumps(address))}">
<div class="kv-calculator__question">
<h2 id="question">The question</h2>
<noscript><p class="kv-note">Without scripts this page shows one worked answer; the <code>kvcore</code> command answers the
others.</p></noscript>
{command_panel()}
{form_html(initial, dataclasses.replace(suggestions, defaults=_defaults(reply["report"]["inputs"])))}
<p class="kv-field__help">Everything is computed in this window, which goes on working without a network until it is
closed; only the first chart needs one, to fetch what draws it. Nothing is installed for later: there is no service worker,
so an old release never answers in place of a new one. Without a network at any time: the <code>kvcore</code> command.</p>
<p class="kv-jump"><a href="#answer">See the answer</a></p>
</div>
<div class="kv-calculator__answer">
<h2 id="answer">The answer</h2>
<div class="kv-progress" data-kv-part="status" data-kv-phase="idle">
<p role="status">Computed when this page was built.</p>
<progress hidden max="1" value="0" aria-label="Loading Python"></progress>
<button type="button" class="kv-button" hidden>Try again</button>
</div>
<div class="kv-takeaway" data-kv-part="takeaway" hidden>
<p class="kv-takeaway__buttons">{buttons} <a href="#further">Ask further</a></p>
<p class="kv-takeaway__note" role="status"></p>
<details class="kv-fold kv-commands"><summary>As a command</summary>
<pre class="kv-takeaway__command no-copy"><code>{escape(reply["command"])}</code></pre>
<div data-kv-part="engine">
<p class="kv-takeaway__note">The engine's own:</p>
<pre class="kv-takeaway__command no-copy"><code>{escape(engine_command(initial))}</code></pre>
<p class="kv-takeaway__buttons"><button type="button" class="kv-button" data-kv-do="copy">Copy the engine's command</button></p>
</div>
</details>
</div>
<p class="kv-embed-link"><a data-kv-part="whole" href=".">KV Atlas: the whole calculator</a></p>
<div data-kv-part="notice" role="status"></div>
{layout_panel()}
<div class="kv-changes" data-kv-part="changes" aria-live="polite" hidden></div>
<div class="kv-answer" data-kv-part="answer">
{reply["html"]}
</div>
{further_panels()}
</div>
</div>"""


def _defaults(inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """What fields left empty mean, in the words the page's script uses for later answers."""
    return {
        name: (f"default: {_words(entry['value'])}", entry["note"])
        for name, entry in inputs.items()
        if entry["origin"] != "given" and isinstance(entry["value"], str | int | float)
    }


def _words(value: str | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:,}"
