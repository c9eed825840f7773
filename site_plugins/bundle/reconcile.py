"""The page that reads a log: a box, a file, and the few things a log does not say."""

import json
from collections.abc import Mapping, Sequence
from html import escape

from site_plugins.bundle.bundle import Bundle

PLACEHOLDER = "<!-- kv:reconcile -->"
"""Comment in a Markdown page that the box takes the place of."""

_FIELDS = (
    ("model", "Model", "from the log"),
    ("gpu", "GPU", "from the log"),
    ("engine_version", "Engine version", "from the log"),
    ("kv_cache_dtype", "KV cache dtype", "from the log"),
    ("tensor_parallel_size", "Tensor parallel size", "from the log"),
    ("mem_fraction_static", "Static fraction (SGLang)", "from the log"),
    ("reported_tokens", "Reported tokens", "if not in the log"),
)
"""Name, label, and what stands in the empty field."""

EXAMPLE = """\
(APIServer pid=1) INFO [utils.py:233] non-default args: {'model': 'Qwen/Qwen3.6-35B-A3B', 'max_model_len': 131072, \
'gpu_memory_utilization': 0.95, 'enable_prefix_caching': False}
(EngineCore pid=153) INFO [core.py:105] Initializing a V1 LLM engine (v0.19.2rc1.dev134+gfe9c3d6c5) with config: \
dtype=torch.bfloat16, max_seq_len=131072, tensor_parallel_size=1, kv_cache_dtype=auto
(EngineCore pid=153) INFO [interface.py:606] Setting attention block size to 1056 tokens to ensure that attention page size is \
>= mamba page size.
(EngineCore pid=153) INFO [gpu_worker.py:440] Available KV cache memory: 47.55 GiB
(EngineCore pid=153) INFO [kv_cache_utils.py:1337] GPU KV cache size: 623,040 tokens
(EngineCore pid=153) INFO [kv_cache_utils.py:1342] Maximum concurrency for 131,072 tokens per request: 18.44x
"""
"""Lines of a public log (djangodevreng/dgx-spark-benchmarks) of a hybrid model, whose token line is the one most misread."""


def reconcile_html(bundle: Bundle, base: str, suggestions: Mapping[str, Sequence[str]]) -> str:
    """Writes the box.

    Args:
        bundle: Where the worker and its files are.
        base: Address of ``assets/kv/`` as seen from the page, ending in a slash.
        suggestions: What the fields offer while typing, by name.
    """
    fields = "\n".join(_field(name, label, hint, suggestions.get(name, ())) for name, label, hint in _FIELDS)
    return f"""<div class="kv-reconcile" data-kv-reconcile data-kv-bundle="{escape(json.dumps(bundle.address(base)))}">
<noscript><p class="kv-note">Without scripts, run <code>kvcore reconcile server.log</code>.</p></noscript>
<form class="kv-form" data-kv-part="form" autocomplete="off" novalidate>
<div class="kv-field">
<label for="kv-log">Start-up log</label>
<div class="kv-field__control"><textarea id="kv-log" name="log" data-kv-part="log" rows="10" spellcheck="false"
aria-describedby="kv-log-help" placeholder="Paste the log here"></textarea></div>
<p class="kv-field__file"><label for="kv-log-file">or choose a file of up to 200 MB, or drop it on the box</label>
<input type="file" id="kv-log-file" name="file" data-kv-part="file"></p>
<p class="kv-field__help" id="kv-log-help">The log is read in this page by kvcore and sent nowhere. Names, paths and hosts in it
are not shown again.</p>
</div>
<details class="kv-fold"><summary>State what the log does not say</summary>
<fieldset class="kv-group">
<legend>Stated by you, before the log</legend>
{fields}
<div class="kv-field"><label for="kv-log-config">config.json</label>
<div class="kv-field__control"><textarea id="kv-log-config" name="config" rows="4" spellcheck="false"
placeholder="of a model that is not in the catalogue"></textarea></div></div>
</fieldset>
</details>
<p class="kv-form__end"><button type="submit" class="kv-button">Read the log</button>
<button type="button" class="kv-button" data-kv-part="example" data-kv-example="{escape(EXAMPLE)}">Read an example</button></p>
</form>
<div class="kv-progress" data-kv-part="status" data-kv-phase="idle">
<p role="status">Python starts when you turn to the box.</p>
<progress hidden max="1" value="0" aria-label="Loading Python"></progress>
<button type="button" class="kv-button" hidden>Try again</button>
</div>
<div class="kv-answer" data-kv-part="answer"></div>
</div>"""


def _field(name: str, label: str, hint: str, offered: Sequence[str]) -> str:
    control = f"kv-log-{name}"
    options = "".join(f'<option value="{escape(value)}"></option>' for value in offered)
    offer = f' list="{control}-list"' if offered else ""
    choices = f'\n<datalist id="{control}-list">{options}</datalist>' if offered else ""
    return (
        f'<div class="kv-field"><label for="{control}">{escape(label)}</label>\n<div class="kv-field__control">'
        f'<input type="text" id="{control}" name="{name}"{offer} placeholder="{escape(hint)}" spellcheck="false">'
        f"</div>{choices}</div>"
    )
