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

_EDITION = re.compile(r"v\d")

_STORED = frozenset({
    "awq", "gptq", "autoround", "gguf", "ggml", "mlx", "marlin", "quantized", "quant", "qat", "unquantized",
    "dynamic", "static", "per", "channel", "tensor", "token", "group", "block", "quarot", "mindie", "smoothquant",
    "modelopt", "ct", "compressed", "tensors", "asym", "sym", "hqq", "aqlm", "bnb", "gptqmodel"
})  # fmt: skip
"""How weights are stored, and who did it with what."""
_TAUGHT = frozenset({
    "instruct", "it", "chat", "base", "hf", "sft", "dpo", "abliterated", "uncensored", "heretic", "finetune",
    "finetuned", "lora", "merged"
})  # fmt: skip
"""What a model was taught last."""
_MAKERS = frozenset({"meta", "nvidia", "huihui"})
"""Makers who stand in front of a name."""

SAME_SHAPES = {
    "deepseek-r1-distill-qwen-1.5b": "qwen2.5-1.5b",
    "deepseek-r1-distill-qwen-7b": "qwen2.5-7b",
    "deepseek-r1-distill-qwen-14b": "qwen2.5-14b",
    "deepseek-r1-distill-qwen-32b": "qwen2.5-32b",
    "deepseek-r1-distill-llama-8b": "llama-3.1-8b",
    "deepseek-r1-distill-llama-70b": "llama-3.1-70b",
    "llama-3.3-70b": "llama-3.1-70b",
    "qwen3-coder-30b-a3b": "qwen3-30b-a3b-2507",
}
"""Names without those words whose cache has the shapes of another name, as the cards of the models say."""


def catalogue_kin(name: str) -> str | None:
    """The id of the one catalogue model a name is a variant of; None where there is none, or more than one as near.

    Args:
        name: A name or path as a log has it.
    """
    words = _words(name.strip().rstrip("/").rpartition("/")[2])
    core = _core(words)
    found = _by_core().get(core) or _by_core().get(_named_otherwise(core))
    if not found:
        return None
    distances = sorted((_distance(words, _words(key.rpartition("/")[2])), key) for key in found)
    if len(distances) > 1 and distances[0][0] == distances[1][0]:
        return None
    return find_model(distances[0][1]).id


@functools.cache
def _by_core() -> dict[tuple[str, ...], list[str]]:
    cores: dict[tuple[str, ...], list[str]] = {}
    for key in model_keys():
        words = _words(key.rpartition("/")[2])
        core = _core(words)
        # A quantized checkpoint may declare how its cache is stored, which its variants need not share.
        if core and not any(_is_storage(word) for word in words[1:]):
            cores.setdefault(core, []).append(key)
    return cores


def _named_otherwise(core: tuple[str, ...]) -> tuple[str, ...]:
    other = SAME_SHAPES.get("-".join(core))
    return _core(_words(other)) if other else ()


def _words(name: str) -> list[str]:
    return [word for word in _BETWEEN_WORDS.split(name.lower()) if word]


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
