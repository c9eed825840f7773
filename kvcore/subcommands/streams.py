"""Where the command line reads and writes: reports to standard output, errors to standard error."""

import io
import sys
from collections.abc import Iterable
from pathlib import Path

from kvcore.config.parse import MAX_CONFIG_CHARACTERS
from kvcore.errors import FieldError, input_error
from kvcore.report.writers.text import printable

ANSWERED = 0
"""Exit code: the question is answered."""

DOES_NOT_FIT = 1
"""Exit code: the answer is that one request does not fit; the report is printed all the same."""

BAD_INPUT = 2
"""Exit code: the question cannot be answered as asked."""

STANDARD_INPUT = "-"


def prepare() -> None:
    """Makes the standard streams UTF-8; what is no text is passed on escaped instead of ending the command."""
    for stream, errors in (
        (sys.stdin, "surrogateescape"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def say(text: str) -> None:
    """Writes a line, or a text that ends with one, to standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def complain(errors: Iterable[FieldError]) -> None:
    """Writes one line per error to standard error."""
    for error in errors:
        sys.stderr.write(f"error: {printable(error.message)}\n")


def read_text(field: str, path: str) -> str:
    """Returns the text of a file, or of standard input for ``-``.

    Args:
        field: Request field the text is for, named in errors.
        path: Path as typed.

    Raises:
        InputError: The file cannot be read, is too large, or is not text.
    """
    remedy = "Give the path of a JSON file, or - to read standard input."
    try:
        if path == STANDARD_INPUT:
            text = sys.stdin.read(MAX_CONFIG_CHARACTERS + 1)
            if len(text) > MAX_CONFIG_CHARACTERS:
                rule = f"at most {MAX_CONFIG_CHARACTERS:,} characters are read from standard input"
                raise input_error(field, path, rule, remedy)
            return text
        file = Path(path)
        if file.stat().st_size > MAX_CONFIG_CHARACTERS:
            raise input_error(field, path, f"a file of at most {MAX_CONFIG_CHARACTERS:,} bytes is read", remedy)
        return file.read_text("utf-8")
    except OSError as error:
        raise input_error(field, path, f"the file cannot be read ({error.strerror})", remedy) from None
    except UnicodeDecodeError:
        raise input_error(field, path, "the file is not UTF-8 text", remedy) from None
