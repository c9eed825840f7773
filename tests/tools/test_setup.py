"""The set-up scripts find what the machine has and leave alone what is already right."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def run(script: str, *arguments: str, **variables: str) -> str:
    """What a set-up script prints, with more environment variables than there are."""
    command = [str(ROOT / "tools" / script), *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def stand_in(folder: Path, name: str, script: str) -> str:
    """Writes a small shell program and returns its path."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_a_python_that_is_named_is_taken() -> None:
    assert run("python.sh", PYTHON=sys.executable) == sys.executable


def test_a_python_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    too_old = stand_in(tmp_path, "python", "exit 1")

    found = run("python.sh", PYTHON=too_old, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")

    assert found != too_old
    assert (
        subprocess.run([found, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"], check=False).returncode == 0
    )


def test_a_chromium_that_is_named_is_taken() -> None:
    assert run("chromium.sh", KV_CHROMIUM="/opt/browser/chromium") == "/opt/browser/chromium"


def test_a_chromium_that_does_not_start_is_passed_over(tmp_path: Path) -> None:
    stand_in(tmp_path, "chromium", "echo 'this needs a snap' >&2; exit 1")
    works = stand_in(tmp_path, "google-chrome", "echo 'Chromium 150'")

    # Nothing else may be found, so the PATH holds only these and what the script itself needs.
    assert run("chromium.sh", KV_CHROMIUM="", PATH=f"{tmp_path}:{only(tmp_path, 'bash', 'dirname')}") == works


@pytest.mark.parametrize(("sudo", "asked"), [("exit 0", "--with-deps chromium"), ("exit 1", "chromium")])
def test_the_downloaded_browser_comes_with_its_libraries_where_the_user_may_become_root(
    tmp_path: Path, sudo: str, asked: str
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    script = shutil.copy(ROOT / "tools/chromium.sh", tmp_path / "tools")
    stand_in(tmp_path / ".venv/bin", "python", 'echo "$*" >"$0.asked"')
    stand_in(tmp_path, "id", "echo 1000")
    stand_in(tmp_path, "sudo", sudo)
    path = f"{tmp_path}:{only(tmp_path / 'tools', 'bash', 'dirname')}"
    subprocess.run([script], env={"PATH": path}, check=True, capture_output=True)
    assert (tmp_path / ".venv/bin/python.asked").read_text().split(" install ")[1].strip() == asked


def only(folder: Path, *names: str) -> str:
    """A folder that holds the named system programs and no others."""
    tools = folder / "tools"
    tools.mkdir()
    for name in names:
        (tools / name).symlink_to(f"/usr/bin/{name}")
    return str(tools)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what an environment is made from, whose Python only writes down what it was asked."""
    for name in ("tools/environment.sh", "requirements/site.txt", "requirements/dev.txt", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for folder in ("kvcore", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "kvcore/__init__.py").write_text('__version__ = "1"')
    stand_in(tmp_path / ".venv/bin", "python", 'case "$*" in *pip*) echo "$*" >>"$0.asked" ;; esac')
    return tmp_path


def installs(checkout: Path, wanted: str) -> list[str]:
    """The requirement files that preparing an environment installs."""
    asked = checkout / ".venv/bin/python.asked"
    asked.unlink(missing_ok=True)
    subprocess.run([checkout / "tools/environment.sh", wanted], check=True, capture_output=True)
    return re.findall(r"-r requirements/(\w+)\.txt", asked.read_text()) if asked.exists() else []


def test_an_environment_is_installed_once(checkout: Path) -> None:
    assert installs(checkout, "site") == ["site"]
    assert installs(checkout, "site") == []


def test_an_environment_follows_its_lock(checkout: Path) -> None:
    installs(checkout, "site")
    (checkout / "requirements/site.txt").write_text("mkdocs==1.6.2")

    assert installs(checkout, "site") == ["site"]


def test_the_tests_environment_holds_the_site_s(checkout: Path) -> None:
    assert installs(checkout, "dev") == ["dev"]
    assert installs(checkout, "site") == []
