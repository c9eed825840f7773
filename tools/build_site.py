"""Builds the site into ``site/``, unless it already stands for the present sources.

MkDocs has no incremental build, so the whole build is skipped when a hash of everything that goes into
the pages is the one left by the last build.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "site"
CACHE = ROOT / ".cache"
STAMP = CACHE / "site.sha256"

PREVIEW = "http://127.0.0.1:8000/"
"""The address a site is built for where ``SITE_URL`` names no other, as in ``mkdocs.yml``."""

SOURCES = (
    "mkdocs.yml",
    "docs",
    "overrides",
    "kvcore",
    "site_plugins",
    "tools/pyc.mjs",
    "tools/snapshot.mjs",
    "tests/golden",
    "CHANGELOG.md",
    "README.md",
    "LICENSE",
    "CONTRIBUTING.md",
    "pyproject.toml",
    "package-lock.json",
    "requirements/site.txt",
)
"""What the pages are made of, as paths below the repository."""

LEFTOVERS = frozenset({"__pycache__", "node_modules", ".DS_Store"})


def source_files() -> Iterator[Path]:
    """Yields every file that the site is made of, in a fixed order."""
    for name in SOURCES:
        source = ROOT / name
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if path.is_file() and LEFTOVERS.isdisjoint(path.relative_to(ROOT).parts):
                yield path


def source_digest() -> str:
    """Returns a hash of the sources' names and contents and of the address the site is built for."""
    digest = hashlib.sha256(os.environ.get("SITE_URL", PREVIEW).encode())
    for path in source_files():
        digest.update(f"\0{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_built(digest: str) -> bool:
    """Tells whether ``site/`` was built from the sources that have this digest."""
    return (SITE / "index.html").is_file() and STAMP.is_file() and STAMP.read_text() == digest


def build() -> bool:
    """Builds the site if its sources changed; one process at a time.

    Returns:
        True if the site was built, False if it already stood.

    Raises:
        subprocess.CalledProcessError: MkDocs refused the sources; it has said why on standard error.
    """
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        digest = source_digest()
        if is_built(digest):
            return False
        STAMP.unlink(missing_ok=True)
        # The banner about the theme's future is for its users' maintainers, not for every build.
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(SITE)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        STAMP.write_text(digest)
        return True


if __name__ == "__main__":
    try:
        built = build()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    print("The site is built in site/" if built else "The site in site/ is up to date")
