"""The kvcore wheel, built by its own build backend and byte for byte the same every time."""

import os
import subprocess
import sys
from pathlib import Path

SOURCE_DATE_EPOCH = "315532800"
"""1980-01-01, the first date a zip archive can hold."""


class WheelError(RuntimeError):
    """The build backend failed; the message carries its own words."""


def build_wheel(project: Path, folder: Path) -> Path:
    """Builds the wheel with what is installed here: no network, no build environment of its own.

    Args:
        project: Folder of ``pyproject.toml``.
        folder: Where the wheel goes.

    Returns:
        Path of the wheel.

    Raises:
        WheelError: The build failed or gave no pure wheel.
    """
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    wheels = sorted(folder.glob("kvcore-*-py3-none-any.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        message = f"building the kvcore wheel failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        raise WheelError(message)
    return wheels[0]
