"""The library that draws charts in the browser: Vega and Vega-Lite from their npm packages, served from this site.

Pages fetch it when someone explores a chart. Expressions are interpreted, since the site's policy allows no evaluation of
text as JavaScript.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

FILES: Mapping[str, str] = MappingProxyType(
    {
        "vega.js": "vega/build/vega.min.js",
        "vega-lite.js": "vega-lite/build/vega-lite.min.js",
        "interpreter.mjs": "vega-interpreter/build/vega-interpreter.js",
        "LICENSE.txt": "vega/LICENSE",
    }
)
"""Served names, and where each file lies below ``node_modules``."""

LIBRARIES = "assets/vega"
"""Folder of the site that holds the library's folder, beside the scripts' own ``assets/kv``."""

# Browsers do not know npm's names; vega.js has put the same functions into the window before.
_IMPORT = re.compile(r"^import \{(?P<names>[^}]+)\} from 'vega-util';$", re.MULTILINE)
_SOURCE_MAP = re.compile(r"\n?//# sourceMappingURL=\S+\s*$")


class LibraryError(RuntimeError):
    """A file of the library is missing or not as expected; the message says what to do."""


@dataclass(frozen=True)
class Library:
    """The files to serve by name, and the folder they go into, named by their content."""

    folder: str
    files: Mapping[str, str]


def chart_library(packages: Path) -> Library:
    """Returns the library as the site serves it.

    Args:
        packages: The folder ``node_modules``.

    Raises:
        LibraryError: A package is not installed, or a release has another form than this one knows.
    """
    files = {name: _text(packages / place) for name, place in FILES.items()}
    changed, count = _IMPORT.subn(r"const {\g<names>} = globalThis.vega;", files["interpreter.mjs"])
    if count != 1 or re.search(r"^import ", changed, re.MULTILINE):
        message = "vega-interpreter imports something else than vega-util now; see site_plugins/charts/library.py"
        raise LibraryError(message)
    files["interpreter.mjs"] = changed
    digest = hashlib.sha256("\0".join(f"{name}\0{text}" for name, text in files.items()).encode())
    return Library(folder=digest.hexdigest()[:16], files=files)


def _text(path: Path) -> str:
    try:
        return _SOURCE_MAP.sub("\n", path.read_text("utf-8"))
    except OSError:
        message = f"{path} is missing; `npm ci` gets the library that draws charts"
        raise LibraryError(message) from None
