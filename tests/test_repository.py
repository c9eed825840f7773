"""What holds for the repository as a whole: what kvcore needs, what is tracked, what the README promises."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from pip._internal.models.index import PyPI

import kvcore

ROOT = Path(__file__).resolve().parent.parent
LONGEST_MODULE = 400
HAND_WRITTEN = (".py", ".mjs", ".sh")


@cache
def tracked_files() -> tuple[Path, ...]:
    """The files of the present commit and of the one being made."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    files = (ROOT / name for name in listed.stdout.split("\0") if name)
    return tuple(path for path in files if path.is_file())


def tracked_files_naming(words: list[str]) -> list[str]:
    """Where a tracked file holds one of the words."""
    found = []
    for path in tracked_files():
        text = path.read_bytes()
        found += [f"{path.relative_to(ROOT)}: {word}" for word in words if word.encode() in text]
    return found


def configured_registry_hosts() -> list[str]:
    """The hosts of the package registries, asked of the clients so that none is written here."""
    hosts = {PyPI.netloc, PyPI.file_storage_domain}
    if npm := shutil.which("npm"):
        asked = subprocess.run([npm, "config", "get", "registry"], cwd=ROOT, check=True, capture_output=True, text=True)
        hosts |= set(re.findall(r"https?://([^/\s]+)", asked.stdout))
    for sources in (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")):
        if sources.is_file():
            hosts |= set(re.findall(r"https?://([^/\s]+)", sources.read_text()))
    return sorted(hosts)


def test_the_calculator_and_its_doors_import_without_any_installed_package() -> None:
    without_site_packages = [sys.executable, "-S", "-c", "import kvcore.cli, kvcore.browser"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    imported = subprocess.run(
        without_site_packages, cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )

    assert imported.stderr == ""


def test_the_installed_version_is_the_one_in_the_source() -> None:
    assert metadata.version("kvcore") == kvcore.__version__


def test_the_changelog_speaks_of_the_present_version() -> None:
    assert f"## {kvcore.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_kvcore_is_installed_without_dependencies() -> None:
    unconditional = [need for need in metadata.requires("kvcore") or [] if "extra ==" not in need]

    assert unconditional == []


def test_no_tracked_file_names_the_host_of_a_package_registry() -> None:
    assert tracked_files_naming(configured_registry_hosts()) == []


def test_no_tracked_file_holds_a_path_of_this_machine() -> None:
    assert tracked_files_naming([f"{ROOT}/", f"{Path.home()}/"]) == []


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda lock: lock.name)
def test_every_locked_python_package_is_pinned_and_hashed(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", lock.read_text(), flags=re.MULTILINE))

    assert [entry for entry in entries if not re.match(r"[\w.-]+==\S+.*\\\n\s+--hash=sha256:", entry)] == []


def test_every_locked_npm_package_is_hashed_and_names_no_address() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    installed = {name: entry for name, entry in packages.items() if name}

    assert [name for name, entry in installed.items() if "integrity" not in entry or "resolved" in entry] == []


def test_the_environments_agree_on_every_version() -> None:
    pins: dict[str, set[str]] = {}
    for lock in ("dev", "site", "test"):
        text = (ROOT / f"requirements/{lock}.txt").read_text()
        for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE):
            pins.setdefault(name, set()).add(version)

    assert {name: versions for name, versions in pins.items() if len(versions) > 1} == {}


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    lengths = {
        str(path.relative_to(ROOT)): path.read_text().count("\n")
        for path in tracked_files()
        if path.suffix in HAND_WRITTEN
    }

    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


@pytest.mark.parametrize("promised", ["make serve", "make test"])
def test_the_readme_s_commands_exist(promised: str) -> None:
    target = promised.removeprefix("make ")

    assert promised in (ROOT / "README.md").read_text()
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_readme_s_example_report_is_answered() -> None:
    example = re.search(r"\$ kvcore (report \w+-?\w*/\S+ .*)", (ROOT / "README.md").read_text())
    assert example

    answered = subprocess.run([sys.executable, "-m", "kvcore", *example[1].split()], cwd=ROOT, check=False)

    assert answered.returncode == 0


def test_ci_runs_what_the_readme_promises() -> None:
    assert "make test" in (ROOT / ".ci/run").read_text()
