"""The command people post beside their log: it names the model and the flags where the log's own list of them is missing."""

import re
from collections.abc import Sequence

from kvcore.commandline.read import CommandRead, read_command
from kvcore.errors import KvcoreError
from kvcore.reconcile.lines import plain_lines

_STARTS = re.compile(r"\bvllm serve\b|-m (?:vllm\.entrypoints|sglang\.launch_server)|\bsglang serve\b")
_PROMPT = re.compile(r"^(?:\W*\$|\s*[>#])?\s*")
_CONTINUED = "\\"


def posted_command(line: str, below: Sequence[bytes]) -> CommandRead | None:
    """Reads a command that starts on a line and may go on below it.

    Args:
        line: The line.
        below: The lines below it, of which those belong that follow a backslash.

    Returns:
        What it says; None where the line holds no command, or one that names neither a model nor a flag.
    """
    if not _STARTS.search(line):
        return None
    text = line.rstrip()
    for further in below:
        if not text.endswith(_CONTINUED):
            break
        text = f"{text[:-1]} {_PROMPT.sub('', plain_lines(further)[0]).rstrip()}"
    try:
        read = read_command(_PROMPT.sub("", text).removesuffix(_CONTINUED))
    except KvcoreError:
        return None
    names_model = "/" in str(read.request.get("model", ""))
    return read if names_model or len(read.request) > 1 else None
