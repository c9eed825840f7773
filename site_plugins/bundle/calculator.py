"""The calculator as built: the form, and beside it the whole answer to the form's first question."""

import json
from collections.abc import Mapping
from html import escape

from kvcore.browser import answer_form
from site_plugins.bundle.bundle import Bundle
from site_plugins.bundle.form import Suggestions, form_html

PLACEHOLDER = "<!-- kv:calculator -->"
"""Comment in a Markdown page that the calculator takes the place of."""

_BUTTONS = (
    ("link", "Copy link", False),
    ("markdown", "Copy for a design review", True),
    ("json", "JSON", True),
    ("command", "Copy command", False),
)
"""Name, label, and whether the button needs an answer computed in this browser."""


def bundle_address(bundle: Bundle, base: str) -> dict[str, object]:
    """Where a page finds the worker and its files.

    Args:
        bundle: The built bundle.
        base: Address of ``assets/kv/`` as seen from the page, ending in a slash.
    """
    return {
        "worker": f"{base}{bundle.app}/worker.mjs",
        "runtime": f"{base}{bundle.runtime}/",
        "packages": f"{base}{bundle.packages}/",
        "bytes": dict(bundle.boot_bytes),
    }


def calculator_head(bundle: Bundle, base: str) -> str:
    """Writes what stands first in the calculator's ``<head>``: the script that starts Python while the page loads."""
    scripts = f"{base}{bundle.app}/"
    preloads = [f'<link rel="modulepreload" href="{scripts}{name}">' for name in bundle.page_modules]
    return "\n".join(
        (
            f'<meta name="kv-bundle" content="{escape(json.dumps(bundle_address(bundle, base)))}">',
            f'<script type="module" async src="{scripts}early.mjs"></script>',
            *preloads,
        )
    )


def calculator_html(bundle: Bundle, base: str, initial: Mapping[str, str], suggestions: Suggestions) -> str:
    """Writes the calculator.

    Args:
        bundle: Where the worker and its files are.
        base: Address of ``assets/kv/`` as seen from the page, ending in a slash.
        initial: The question the page answers before any script runs.
        suggestions: What the form offers while typing.

    Returns:
        HTML without scripts; the answer is the very one kvcore gives in the browser.
    """
    reply = json.loads(answer_form(json.dumps(dict(initial))))
    address = bundle_address(bundle, base)
    buttons = "\n".join(
        f'<button type="button" class="kv-button" data-kv-take="{name}"{" disabled" if waits else ""}>{label}</button>'
        for name, label, waits in _BUTTONS
    )
    return f"""<div class="kv-calculator" data-kv-calculator data-kv-bundle="{escape(json.dumps(address))}">
<div class="kv-calculator__question">
<h2 id="question">The question</h2>
<noscript><p class="kv-note">Without scripts this page shows one worked answer; the <code>kvcore</code> command answers the
others.</p></noscript>
{form_html(initial, suggestions)}
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
<p class="kv-takeaway__buttons">{buttons}</p>
<pre class="kv-takeaway__command no-copy"><code>{escape(reply["command"])}</code></pre>
<p class="kv-takeaway__note" role="status"></p>
</div>
<div class="kv-answer" data-kv-part="answer">
{reply["html"]}
</div>
</div>
</div>"""
