"""A command line in: the request it stands for, the flags that do not matter, and those nobody knows."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.commandline.environment import LAYERS_PER_STAGE, WITHOUT_WEIGHT, assigned
from kvcore.commandline.flags import (
    FIELD_OF_FLAG,
    IGNORED,
    INTEGER_FIELDS,
    LIST_FIELDS,
    MODEL_FLAGS,
    OBJECT_FIELDS,
    SWITCH_FIELDS,
    SWITCHES,
    UNMODELLED,
    canonical_flag,
)
from kvcore.commandline.sizes import bytes_of
from kvcore.commandline.words import is_engine_word, split_words
from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.errors import input_error

MOST_KEYS = 8
_RELEASE_TAG = re.compile(r"v?(\d{1,3}\.\d{1,3}\.\d{1,3})(?:[-.+].*)?")
_VERBS = frozenset({"serve", "launch_server"})


@dataclass(frozen=True, kw_only=True)
class CommandRead:
    """What a command line says.

    Attributes:
        request: Request fields the command sets.
        ignored: Flags and environment variables that do not matter to memory.
        unmodelled: Flags that change memory in ways kvcore does not compute.
        unknown: Words, flags and variables neither kvcore nor its tables know, with the nearest known one where there is one.
    """

    request: Mapping[str, Any]
    ignored: tuple[str, ...]
    unmodelled: tuple[str, ...]
    unknown: tuple[str, ...]


def read_command(text: str) -> CommandRead:
    """Reads ``vllm serve …``, ``python -m vllm.entrypoints…`` or ``python -m sglang.launch_server …``.

    A container runtime or a shell in front is skipped, but for the image's release and the engine's environment variables;
    a bare list of flags (the ``args:`` of a manifest) is read as vLLM's.

    Raises:
        InputError: The text is no command of a known engine, or a quotation is not closed.
    """
    words = split_words(text)
    engine, rest, before = _engine_words(words)
    fields, positional, ignored, unmodelled, unknown = _read_flags(engine, rest)
    model = fields.pop("model", None) or (positional.pop(0)[0] if positional else None)
    unknown += [word for word, is_value in positional if not is_value]
    request: dict[str, Any] = {"engine": "sglang"} if engine == "sglang" else {}
    if model is not None:
        request["model"] = model
    request.update(fields)
    for variable in assigned(before):
        name, _, value = variable.partition("=")
        if name == LAYERS_PER_STAGE:
            request["pipeline_layer_partition"] = value
        else:
            (ignored if name in WITHOUT_WEIGHT else unknown).append(name)
    image, release = _image_of(before)
    if release and engine == "vllm":
        request["engine_version"] = release
    elif release:
        unmodelled.append(image)
    return CommandRead(request=request, ignored=tuple(ignored), unmodelled=tuple(unmodelled), unknown=tuple(unknown))


def _image_of(words: Sequence[str]) -> tuple[str, str]:
    """A container's image and its release; none where the image names none, or the release that is answered for anyway."""
    # Read when it is asked for: a page that answers for vLLM only starts sooner.
    from kvcore.engines.sglang.answer import VERSION  # noqa: PLC0415

    for word in words:
        match = _RELEASE_TAG.fullmatch(word.rpartition(":")[2])
        if match and ":" in word and _is_image(word) and match[1] not in {PROFILES[-1].version, VERSION}:
            return word, match[1]
    return "", ""


def _engine_words(words: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The engine, the words behind its entry point, and those before it."""
    starts = [number for number, word in enumerate(words) if is_engine_word(word)]
    if starts:
        # An image or a package may be called like the program.
        verbs = [start for start in starts if "." in words[start] or words[start + 1 : start + 2] == ["serve"]]
        start = (verbs or starts)[0]
        engine = "sglang" if "sglang" in words[start] else "vllm"
        return engine, _without_verb(words[start + 1 :]), list(words[:start])
    words = _without_verb(words)
    flags = [number for number, word in enumerate(words) if word.startswith("-")]
    image = next((number for number, word in enumerate(words) if _is_image(word)), None)
    if image is not None:
        engine = "sglang" if "sglang" in words[image] else "vllm"
        return engine, _without_verb(words[image + 1 :]), list(words[: image + 1])
    if flags and (flags[0] == 0 or (flags[0] == 1 and "/" in words[0])):
        return ("sglang" if "--model-path" in words else "vllm"), list(words), []
    rule = "this is no command of vLLM or SGLang"
    remedy = "Paste a line such as vllm serve ORG/NAME --tensor-parallel-size 8."
    raise input_error("command", " ".join(words)[:80], rule, remedy)


def _is_image(word: str) -> bool:
    """A container image that names its engine; no mounted folder, no flag."""
    return ("vllm" in word or "sglang" in word) and word[0] not in "-/~.$" and ":/" not in word


def _without_verb(words: Sequence[str]) -> list[str]:
    return list(words[1:]) if words and words[0] in _VERBS else list(words)


def _read_flags(
    engine: str, words: Sequence[str]
) -> tuple[dict[str, Any], list[tuple[str, bool]], list[str], list[str], list[str]]:
    """Fields, words without a flag (and whether each may be one more value of a flag), and the flags that set no field."""
    fields: dict[str, Any] = {}
    positional: list[tuple[str, bool]] = []
    takes_more = False
    ignored: list[str] = []
    unmodelled: list[str] = []
    unknown: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--":
            continue
        if not _is_flag(word):
            positional.append((word, takes_more))
            continue
        name, separator, inline = word.partition("=")
        flag = canonical_flag(engine, name)
        following = words[index] if index < len(words) and not _is_flag(words[index]) else None
        value = inline if separator else following
        if "." in flag and separator + (following or "") and _nested(engine, name, value, fields):
            index += not separator
            continue
        flag = flag.partition(".")[0]
        field, negated = _field_of(engine, flag)
        takes_value = flag not in SWITCHES and (field is None or field not in SWITCH_FIELDS)
        if not separator and following is not None and (takes_value or following.lower() in {"true", "false"}):
            index += 1
        elif not separator:
            value = None
        while value is not None and field in LIST_FIELDS and index < len(words) and not _is_flag(words[index]):
            value, index = f"{value},{words[index]}", index + 1
        takes_more = field is None and value is not None
        if field is not None:
            fields[field] = _value(field, value, negated=negated)
        elif flag == MODEL_FLAGS[engine]:
            fields["model"] = value
        elif flag in UNMODELLED:
            unmodelled.append(flag)
        elif flag in IGNORED or flag.removeprefix("--no-") in {item.removeprefix("--") for item in IGNORED}:
            ignored.append(flag)
        else:
            unknown.append(_with_hint(engine, flag))
    return fields, positional, ignored, unmodelled, unknown


def _nested(engine: str, name: str, text: str | None, fields: dict[str, Any]) -> bool:
    """Takes ``--speculative-config.method ngram`` into the object; whether the flag has one that is modelled."""
    flag, _, path = name.partition(".")
    field, _ = _field_of(engine, canonical_flag(engine, flag))
    if field not in OBJECT_FIELDS or text is None:
        return False
    place = fields.setdefault(field, {})
    *outer, last = path.replace("-", "_").split(".")
    if len(outer) > MOST_KEYS:
        raise input_error(field, path[:40], f"keys are nested at most {MOST_KEYS} deep", "Write the object as JSON.")
    for key in outer:
        place = place.setdefault(key, {}) if isinstance(place, dict) else {}
    if isinstance(place, dict):
        place[last] = _scalar(text)
    return True


def _scalar(text: str) -> Any:
    """A value as JSON where it is some, else the text (vLLM 0.33.0 `FlexibleArgumentParser`)."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is_flag(word: str) -> bool:
    """A word that starts with a dash and is not a negative number, nor the mark that no more flags come."""
    return word.startswith("-") and len(word.strip("-")) > 0 and not word[1:].replace(".", "", 1).isdigit()


def _field_of(engine: str, flag: str) -> tuple[str | None, bool]:
    fields = FIELD_OF_FLAG[engine]
    if flag in fields:
        return fields[flag], False
    positive = "--" + flag.removeprefix("--no-")
    if flag.startswith("--no-") and fields.get(positive) in SWITCH_FIELDS:
        return fields[positive], True
    return None, False


def _value(field: str, text: str | None, *, negated: bool) -> Any:
    if field in SWITCH_FIELDS:
        given = text is None or text.lower() not in {"false", "0"}
        return given != negated
    if text is None:
        raise input_error(field, None, "the flag needs a value", "Write --flag value.")
    if field in INTEGER_FIELDS and not text.startswith("["):
        return bytes_of(field, text)
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _with_hint(engine: str, flag: str) -> str:
    near = difflib.get_close_matches(flag, (*FIELD_OF_FLAG[engine], *IGNORED, *UNMODELLED), n=1, cutoff=0.8)
    return f"{flag} (did you mean {near[0]}?)" if near else flag
