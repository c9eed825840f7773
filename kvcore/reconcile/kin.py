"""Names of checkpoints that are a catalogue's model under another name: quantized, tuned, or given away under a new title.

How weights are stored, and what a model was taught last, changes nothing about its cache. Such words are left out of both
names; what is left must be equal. Nothing of the log's own name goes any further than that comparison.
"""

import functools
import re
from collections.abc import Sequence

from kvcore.catalog import find_model
from kvcore.catalog.models import model_keys

_BETWEEN_WORDS = re.compile(r"[-_\s/]+")
_FORMAT = re.compile(r"(?:(?:u?int|fp|nvfp|mxfp|nf|bf|bnb|exl|i?q|gs?)\d\w*|w\d+a\d+|\d+bits?|\d+bpw)$", re.IGNORECASE)
"""A number format or a group size: ``int4``, ``nvfp4``, ``w8a8``, ``4bit``, ``q4_k``, ``g128``."""

_FILE_FORMAT = re.compile(r"(?<![a-z0-9])i?q\d_(?:\d|k(?:_(?:s|m|l|xl))?)(?![a-z0-9])", re.IGNORECASE)
"""A number format of a GGUF file that has words of its own: ``q4_0``, ``q4_k_m``."""

_EDITION = re.compile(r"v\d")
_DATE = re.compile(r"2[4-9](?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
"""Year and month, or month and day, of a checkpoint: ``2507``, ``0528``."""

_IDENTIFIER = re.compile(r"[\w-]+/[\w.-]+")
_SIZE = re.compile(r"(?<![a-z0-9.])(?:[ae]?\d+(?:\.\d+)?[bm]|\d+x\d+b)(?![a-z0-9])", re.IGNORECASE)
"""A number of parameters: ``8b``, ``0.6B``, ``A3B``, ``E4B``, ``8x7B``."""

_PART = re.compile(r"[a-z]+|\d+(?:\.\d+)*")

_STORED = frozenset({
    "awq", "gptq", "autoround", "gguf", "ggml", "mlx", "marlin", "quantized", "quant", "qat", "unquantized",
    "dynamic", "static", "per", "channel", "tensor", "token", "group", "block", "quarot", "mindie", "smoothquant",
    "modelopt", "ct", "compressed", "tensors", "asym", "sym", "hqq", "aqlm", "bnb", "gptqmodel"
})  # fmt: skip
"""How weights are stored, and who did it with what."""
_TAUGHT = frozenset({
    "instruct", "it", "chat", "base", "hf", "sft", "dpo", "abliterated", "uncensored", "heretic", "finetune",
    "finetuned", "lora", "merged", "thinking", "reasoning"
})  # fmt: skip
"""What a model was taught last."""
_MAKERS = frozenset({"meta", "nvidia", "huihui", "google", "openai", "microsoft", "mistralai", "unsloth", "redhatai"})
"""Makers who stand in front of a name."""

SAME_SHAPES = {
    "deepseek-r1-distill-qwen-1.5b": "qwen2.5-1.5b",
    "deepseek-r1-distill-qwen-7b": "qwen2.5-7b",
    "deepseek-r1-distill-qwen-14b": "qwen2.5-14b",
    "deepseek-r1-distill-qwen-32b": "qwen2.5-32b",
    "deepseek-r1-distill-llama-8b": "llama-3.1-8b",
    "deepseek-r1-distill-llama-70b": "llama-3.1-70b",
    "deepseek-r1-0528-qwen3-8b": "qwen3-8b",
    "deepseek-coder-v2-lite": "deepseek-v2-lite",
    "llama-3.3-70b": "llama-3.1-70b",
    "llama-3.1-nemotron-70b": "llama-3.1-70b",
    "llama-3.1-nemotron-nano-8b": "llama-3.1-8b",
    "llama-3.1-tulu-3-8b": "llama-3.1-8b",
    "hermes-3-llama-3.1-8b": "llama-3.1-8b",
    "hermes-3-llama-3.1-70b": "llama-3.1-70b",
    "codellama-7b": "llama-2-7b",
    "codellama-13b": "llama-2-13b",
    "vicuna-7b-v1.5": "llama-2-7b",
    "vicuna-13b-v1.5": "llama-2-13b",
    "zephyr-7b-alpha": "mistral-7b-v0.1",
    "zephyr-7b-beta": "mistral-7b-v0.1",
    "qwen2.5-coder-0.5b": "qwen2.5-0.5b",
    "qwen2.5-coder-1.5b": "qwen2.5-1.5b",
    "qwen2.5-coder-3b": "qwen2.5-3b",
    "qwen2.5-coder-7b": "qwen2.5-7b",
    "qwen2.5-coder-14b": "qwen2.5-14b",
    "qwen2.5-coder-32b": "qwen2.5-32b",
    "qwen2.5-math-1.5b": "qwen2.5-1.5b",
    "qwen2.5-math-7b": "qwen2.5-7b",
    "qwen2.5-math-72b": "qwen2.5-72b",
    "qwen3-coder-30b-a3b": "qwen3-30b-a3b-2507",
    "qwen3-coder-next": "qwen3-next-80b-a3b",
    "qwen3-embedding-0.6b": "qwen3-0.6b",
    "qwen3-reranker-0.6b": "qwen3-0.6b",
    "qwen3-reranker-4b": "qwen3-4b",
    "qwen3-reranker-8b": "qwen3-8b",
    "qwen3-vl-embedding-2b": "qwen3-vl-2b",
    "qwen3-vl-reranker-2b": "qwen3-vl-2b",
    "qwen3.8-27b": "qwen3.6-27b",
    "phi-4-reasoning-plus": "phi-4",
    "dots.ocr": "qwen2.5-1.5b",
    "dotsocr": "qwen2.5-1.5b",
    "typhoon-ocr-7b": "qwen2.5-vl-7b",
    "glm-4.6": "glm-4.5",
    "glm-4.7": "glm-4.5",
    "mistral-small-24b": "devstral-small-2507",
    "mistral-small-3.1-24b": "devstral-small-2507",
    "mistral-small-3.2-24b": "devstral-small-2507",
    "magistral-small": "devstral-small-2507",
}
"""Names without those words whose cache has the shapes of another name, as the models' cards or logs of them say."""

_FRAMEWORKS = frozenset({"transformers", "pytorch", "other"})
"""Folders of Kaggle's models between a model's name and its variation."""


def named_by(path: str) -> tuple[str, ...]:
    """What a name or path calls its model: itself, a path's last folder, and the name a hub made folders of.

    Args:
        path: ``ORG/NAME``, a folder, or a snapshot below the folders of the Hub's cache, of ModelScope or of Kaggle.
    """
    folders = _folders(path)
    # Of ORG/NAME the first half belongs to the name.
    names = ["/".join(folders)] if _IDENTIFIER.fullmatch(path.strip()) else folders[-1:]
    names += [folder.removeprefix("models--").replace("--", "/") for folder in folders if folder.startswith("models--")]
    for place, folder in enumerate(folders[1:-1], 1):
        if folder.lower() in _FRAMEWORKS:
            names += [f"{folders[place - 1]}-{folders[place + 1]}", folders[place - 1]]
    return tuple(dict.fromkeys(names))


def folders_above(path: str) -> tuple[str, ...]:
    """The folders a path lies in, the nearest first; none above a folder that says a size, and so names its model."""
    folders = _folders(path)
    above = folders[-2::-1]
    named = next((place for place, folder in enumerate(folders[::-1]) if _SIZE.search(folder)), len(folders))
    return tuple(above[:named])


def _folders(path: str) -> list[str]:
    return [folder for folder in path.strip().replace("\\", "/").replace("___", ".").split("/") if folder]


def stores_weights(name: str) -> bool:
    """Whether a name says how its weights are stored, such as ``…-FP8`` or ``…-AWQ``."""
    return any(map(_is_storage, _words(name)[1:]))


def catalogue_kin(name: str) -> str | None:
    """The id of the one catalogue model a name is a variant of; None where there is none, or more than one as near.

    Args:
        name: A name or path as a log has it.
    """
    words = _words(name.strip().rstrip("/").rpartition("/")[2])
    core = _core(words)
    for wanted in (core, _named_otherwise(core), _undated(core), _named_otherwise(_undated(core))):
        if found := _by_core().get(_spelt(wanted)):
            return _nearest(words, found)
    return None


def _nearest(words: Sequence[str], found: Sequence[str]) -> str | None:
    distances = sorted((_distance(words, _words(key.rpartition("/")[2])), key) for key in found)
    if len(distances) > 1 and distances[0][0] == distances[1][0]:
        return None
    return find_model(distances[0][1]).id


@functools.cache
def _by_core() -> dict[tuple[str, ...], list[str]]:
    """Catalogue models by what is left of their names, and by that without its date where no other model has it."""
    cores: dict[tuple[str, ...], list[str]] = {}
    undated: dict[tuple[str, ...], list[str]] = {}
    for key in model_keys():
        words = _words(key.rpartition("/")[2])
        core = _core(words)
        # A quantized checkpoint may declare how its cache is stored, which its variants need not share.
        if core and not stores_weights(key.rpartition("/")[2]):
            cores.setdefault(_spelt(core), []).append(key)
            undated.setdefault(_spelt(_undated(core)), []).append(key)
    return undated | cores


@functools.cache
def _other_names() -> dict[tuple[str, ...], tuple[str, ...]]:
    return {_spelt(_core(_words(name))): _core(_words(other)) for name, other in SAME_SHAPES.items()}


def _named_otherwise(core: tuple[str, ...]) -> tuple[str, ...]:
    return _other_names().get(_spelt(core), ())


def _undated(core: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for place, word in enumerate(core) if not (place and _DATE.fullmatch(word)))


def _spelt(core: tuple[str, ...]) -> tuple[str, ...]:
    """Letters and numbers apart, so that ``qwen-3-8b``, ``qwen3-8b`` and ``qwen25-3b``, ``qwen2.5-3b`` are spelt alike."""
    return tuple(part.replace(".", "") for word in core for part in _PART.findall(word))


def _words(name: str) -> list[str]:
    plain = _FILE_FORMAT.sub("", name.lower().removesuffix(".gguf"))
    return [word for word in (part.strip(".") for part in _BETWEEN_WORDS.split(plain)) if word]


def _core(words: Sequence[str]) -> tuple[str, ...]:
    """What is left of a name; its first word is never a format, and a tuning may have a version of its own."""
    return tuple(
        word
        for place, word in enumerate(words)
        if not (place and _EDITION.fullmatch(word) and words[place - 1] in _TAUGHT)
        if word not in _TAUGHT | _MAKERS | {"bf16"} and not (place and _is_storage(word))
    )


def _is_storage(word: str) -> bool:
    return word in _STORED or (_FORMAT.match(word) is not None and word != "bf16")


def _distance(wanted: Sequence[str], offered: Sequence[str]) -> int:
    """Words that only one of both names has, makers apart."""
    return len((set(wanted) ^ set(offered)) - _MAKERS)
