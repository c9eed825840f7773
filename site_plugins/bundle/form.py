"""The calculator's form, written from the request's own table of fields."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from kvcore.questions.names import SAME
from kvcore.request_fields import REQUEST_FIELDS, RequestField

GROUPS = (
    ("model", "Model", False),
    ("hardware", "Hardware", False),
    ("parallelism", "Parallelism", False),
    ("lengths", "Lengths and batching", False),
    ("budget", "Memory for the cache", False),
    ("cache", "Cache", False),
    ("advanced", "Advanced", True),
)
"""Group of the request table, its title, and whether it is folded until wanted."""

_NEEDS = {
    "mamba_cache_mode": "per_request",
    "mamba_cache_dtype": "per_request",
    "mamba_ssm_cache_dtype": "per_request",
    "mamba_full_memory_ratio": "per_request",
    "max_mamba_cache_size": "per_request",
    "mamba_ssm_dtype": "per_request",
    "mamba_radix_cache_strategy": "per_request",
    "disable_hybrid_kv_cache_manager": "sliding_window chunked",
    "swa_full_tokens_ratio": "sliding_window chunked",
    "disable_hybrid_swa_memory": "sliding_window chunked",
    "enable_expert_parallel": "experts",
}
"""Fields that matter only where some part of the layout grows in one of these ways, or where there are experts."""

_NEED_A_MODEL = frozenset({
    "gpu_memory_utilization", "gpu_memory_gib", "weights_gib", "activation_gib", "cuda_graph_gib", "non_torch_gib",
    "enable_expert_parallel", "dtype", "kv_cache_dtype", "kv_cache_dtype_skip_layers", "mamba_cache_dtype",
    "mamba_ssm_cache_dtype", "attention_backend", "speculative_config",
})  # fmt: skip
"""Fields that matter only where a config says what there is: a layout by hand states its bytes."""

_SAME = {**SAME, **{theirs: ours for ours, theirs in SAME.items()}}
"""Fields that mean the same in the other engine, by either name."""

_TEXT_TYPES = frozenset({"object", "speculative"})
_INPUT_MODE = {"integer": "numeric", "number": "decimal", "budget": "numeric"}
_ENGINE_DEFAULT = "default"


@dataclass(frozen=True)
class Suggestions:
    """What the form offers.

    Attributes:
        values: Values offered while typing, by field: catalogue models and GPUs.
        defaults: What a field left empty means in the built answer, by field, and why.
    """

    values: Mapping[str, Sequence[str]]
    defaults: Mapping[str, tuple[str, str]] = dataclasses.field(default_factory=dict)

    def list_id(self, field: RequestField) -> str:
        """Id of the field's list, empty without one."""
        return f"kv-list-{field.name}" if self.values.get(field.name) else ""


def form_html(initial: Mapping[str, str], suggestions: Suggestions) -> str:
    """Writes the form.

    Args:
        initial: The question the built page answers: field name to text.
        suggestions: What the model and GPU fields offer.

    Returns:
        A ``<form>`` whose every control is named like its request field and carries ``data-kv-initial``. Fields of one
        engine only are marked ``data-kv-engine``.
    """
    groups = "\n".join(_group(group, title, initial, suggestions, folded=folded) for group, title, folded in GROUPS)
    lists = "\n".join(_datalist(name, values) for name, values in suggestions.values.items() if values)
    return (
        '<form class="kv-form" data-kv-part="form" data-kv-source="catalogue" data-kv-chosen-engine="vllm" '
        f'autocomplete="off" novalidate>\n{groups}\n{lists}\n'
        '<p class="kv-form__end"><button type="reset" class="kv-button">Start over</button></p>\n</form>'
    )


def _group(group: str, title: str, initial: Mapping[str, str], suggestions: Suggestions, *, folded: bool) -> str:
    fields = [field for field in REQUEST_FIELDS if field.group == group]
    rare = [field for field in fields if field.type in _TEXT_TYPES and field.name != "config"]
    usual = [field for field in fields if field not in rare or folded]
    body = "\n".join(_field(field, initial.get(field.name, ""), suggestions) for field in usual)
    if not folded:
        body += _more(rare, initial, suggestions)
    fieldset = f'<fieldset class="kv-group">\n<legend>{escape(title)}</legend>\n{body}\n</fieldset>'
    if not folded:
        return fieldset
    engines = {field.engine for field in fields}
    mark = f' data-kv-engine="{engines.pop()}"' if len(engines) == 1 else ""
    return f'<details class="kv-fold"{mark}><summary>{escape(title)}</summary>\n{fieldset}\n</details>'


def _more(fields: Iterable[RequestField], initial: Mapping[str, str], suggestions: Suggestions) -> str:
    body = "\n".join(_field(field, initial.get(field.name, ""), suggestions) for field in fields)
    return f'\n<details class="kv-fold"><summary>More</summary>\n{body}\n</details>' if body else ""


def _field(field: RequestField, value: str, suggestions: Suggestions) -> str:
    control_id = f"kv-field-{field.name}"
    unit = f' <span class="kv-field__unit">{escape(field.unit)}</span>' if field.unit else ""
    flag = f' <code class="kv-field__flag">{escape(field.flag)}</code>' if field.flag else ""
    return (
        f'<div class="kv-field" data-kv-engine="{field.engine}" data-kv-field="{field.name}"{_marks(field.name)}>\n'
        f'<label for="{control_id}">{escape(field.label)}</label>{_use(field.name)}\n'
        f'<div class="kv-field__control">{_control(field, control_id, value, suggestions)}{unit}</div>\n'
        f'{_file(field.name)}{_hub(field.name)}<p class="kv-field__help" id="{control_id}-help">{_prose(field.help)}{flag}</p>\n'
        f'<p class="kv-field__error" id="{control_id}-error" hidden></p>\n</div>'
    )


def _prose(text: str) -> str:
    """A sentence whose commands stand between backticks."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))


def _control(field: RequestField, control_id: str, value: str, suggestions: Suggestions) -> str:
    words, why = suggestions.defaults.get(field.name, (_ENGINE_DEFAULT, ""))
    title = f' title="{escape(why)}"' if why else ""
    common = (
        f'id="{control_id}" name="{field.name}" data-kv-initial="{escape(value)}" '
        f'aria-describedby="{control_id}-help {control_id}-error"{title}'
    )
    if field.type in _TEXT_TYPES:
        rows = 5 if field.name == "config" else 2
        # Lines as they are: megabytes on one line take a browser several times as long to break as to show.
        wrap = 'wrap="off" spellcheck="false"'
        return f'<textarea {common} rows="{rows}" {wrap} placeholder="{{ … }}">{escape(value)}</textarea>'
    if field.type in {"choice", "boolean"}:
        choices = field.choices or ("true", "false")
        options = "".join(
            f'<option value="{escape(choice)}"{" selected" if choice == value else ""}>{escape(choice)}</option>'
            for choice in choices
        )
        return f'<select {common}><option value="">{escape(words)}</option>{options}</select>'
    mode = f' inputmode="{_INPUT_MODE[field.type]}"' if field.type in _INPUT_MODE else ""
    offered = suggestions.list_id(field)
    offer = f' list="{offered}"' if offered else ""
    hint = "type to search the catalogue" if field.name == "model" else escape(words)
    return f'<input type="text" {common}{mode}{offer} value="{escape(value)}" placeholder="{hint}" spellcheck="false">'


def _use(name: str) -> str:
    """The model, the config and the layout say which of them is used, and offer to swap."""
    source = {"model": "catalogue", "config": "config", "layout": "layout"}.get(name)
    if source is None:
        return ""
    return f'<button type="button" class="kv-use" data-kv-use="{source}">Not used. Use this</button>'


def _marks(name: str) -> str:
    """What the page's scripts know of a field: what it needs, and which one of the other engine is the same."""
    growths = f' data-kv-needs="{_NEEDS[name]}"' if name in _NEEDS else ""
    same = f' data-kv-same="{_SAME[name]}"' if name in _SAME else ""
    return growths + same + (" data-kv-needs-model" if name in _NEED_A_MODEL else "")


def _hub(name: str) -> str:
    if name != "model":
        return ""
    return (
        '<p class="kv-field__file"><button type="button" class="kv-button" data-kv-part="hub" hidden></button></p>\n'
        '<p class="kv-field__help" data-kv-part="hub-note" role="status"></p>\n'
        '<details class="kv-mirror" data-kv-part="mirror" hidden><summary>From a mirror</summary>\n'
        '<label for="kv-mirror">Address that stands for the Hub, kept in this browser</label>\n'
        '<div class="kv-field__control"><input type="text" id="kv-mirror" inputmode="url" spellcheck="false" '
        'aria-describedby="kv-mirror-help"></div>\n'
        '<p class="kv-field__help" id="kv-mirror-help">It is asked for /organisation/name/resolve/main/config.json and must '
        "allow other pages to read its answer (CORS).</p></details>\n"
    )


def _file(name: str) -> str:
    if name != "config":
        return ""
    return (
        '<p class="kv-field__file"><label for="kv-config-file">or choose a file, or drop it here</label> '
        '<input type="file" id="kv-config-file" accept=".json,application/json"></p>\n'
    )


def _datalist(name: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(value)}"></option>' for value in values)
    return f'<datalist id="kv-list-{escape(name)}">{options}</datalist>'
