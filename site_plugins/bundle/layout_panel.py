"""The calculator's editor of layouts: a table of parts, which the page's script fills with rows."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Column:
    """One thing to change of a part.

    Attributes:
        name: The request's own name of it.
        label: Heading, and the label read out with the number of the part.
        unit: Unit of the numbers.
        width: Class for the width of the field.
        usual: What counts where nothing is stated.
    """

    name: str
    label: str
    unit: str = ""
    width: str = "number"
    usual: str = ""


GROWTHS = (
    ("per_token", "with every token"),
    ("sliding_window", "within a window"),
    ("chunked", "within a chunk"),
    ("per_request", "not: one state a request"),
    ("per_encoder_token", "with the encoder's tokens"),
)
"""How a part grows, as the request names it and in words."""

COLUMNS = (
    Column("name", "Part", width="text"),
    Column("growth", "Grows", width="text"),
    Column("layers", "Layers", width="short"),
    Column("entry_bytes", "Entry or state", "bytes per layer and GPU"),
    Column("tokens_per_entry", "Tokens an entry", width="short", usual="1"),
    Column("window", "Window", "tokens"),
    Column("copies", "Copies", "per request", width="short", usual="1"),
)


def layout_panel() -> str:
    """The folded editor: an offer to start from the model, and the table once there is a layout by hand."""
    heads = "".join(_head(column) for column in COLUMNS)
    cells = "".join(_cell(column) for column in COLUMNS)
    return f"""<details class="kv-fold kv-panel kv-layout-editor" data-kv-part="layout" data-kv-editing="false" hidden>
<summary>Edit the layout</summary>
<form autocomplete="off" novalidate>
<div class="kv-layout-editor__offer">
<p>What does the cache hold if a part were smaller, gone, or there were another one? Start from the layout of the model above;
every change is answered at once. The answer is vLLM’s: SGLang sizes its pools by what its code reads from a config.json, which a
layout does not hold.</p>
<p class="kv-takeaway__buttons"><button type="button" class="kv-button kv-button--ask" data-kv-do="layout-start">Edit this
model’s layout</button></p>
</div>
<div class="kv-layout-editor__table">
<p class="kv-field__help">Sizes are bytes on one GPU; tensor parallelism divides them no further. Block sizes and padding follow
by vLLM’s rules.</p>
<table class="kv-entry kv-parts" data-kv-part="layout-rows"><thead><tr>{heads}<th scope="col"><span
class="kv-hidden">Drop</span></th></tr></thead></table>
<template><tbody data-kv-row=""><tr>{cells}<td class="kv-parts__drop"><button type="button" class="kv-button">Drop</button></td></tr>
<tr class="kv-parts__wrong" hidden><td colspan="{len(COLUMNS) + 1}" role="alert"></td></tr></tbody></template>
<p class="kv-takeaway__buttons"><button type="button" class="kv-button kv-button--ask" data-kv-do="layout-add">Add a part</button>
<button type="button" class="kv-button" data-kv-do="layout-reset" hidden>As it was</button>
<button type="button" class="kv-button" data-kv-do="layout-back" hidden>Back to the model</button>
<button type="button" class="kv-button" data-kv-do="layout-save">Save layout.json</button></p>
</div>
<p class="kv-field__error" role="alert" data-kv-part="layout-problem" hidden></p>
</form>
<p class="kv-hidden" data-kv-part="layout-note" role="status"></p>
</details>"""


def _head(column: Column) -> str:
    unit = f' <span class="kv-unit">{escape(column.unit)}</span>' if column.unit else ""
    return f'<th scope="col">{escape(column.label)}{unit}</th>'


def _cell(column: Column) -> str:
    common = f'data-kv-column="{column.name}" data-kv-label="{escape(column.label)}" class="kv-parts__{column.width}"'
    label = f'<span class="kv-parts__label" aria-hidden="true">{escape(column.label)}</span>'
    if column.name == "growth":
        options = "".join(f'<option value="{value}">{escape(words)}</option>' for value, words in GROWTHS)
        return f"<td>{label}<select {common}>{options}</select></td>"
    mode = "text" if column.width == "text" else "numeric"
    return f'<td>{label}<input type="text" inputmode="{mode}" spellcheck="false" placeholder="{column.usual}" {common}></td>'
