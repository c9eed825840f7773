"""GPUs by name: memory as the driver reports it and the compute capability that decides the engine's defaults."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvcore.errors import input_error

# Beside this module rather than through importlib.resources, whose import alone costs the browser more than all the data.
_FOLDER = Path(__file__).parent / "data" / "gpus"

TURING, AMPERE, HOPPER, BLACKWELL, BLACKWELL_THOR, BLACKWELL_WORKSTATION = 7, 8, 9, 10, 11, 12
"""Major compute capabilities, which pick kernels: T4; A100 and, with a minor of its own, Ada; H100 and H200; B200 and B300;
Jetson Thor; RTX 50 and RTX PRO 6000."""

ADA = (8, 9)
"""Compute capability from which cards compute in 8-bit floats: L4, L40S and RTX 40."""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU model.

    Attributes:
        name: Name as people write it, for example H100.
        aliases: Other names of the same card, the driver's included.
        vendor: ``nvidia``, ``amd``, ``intel`` or ``aws``.
        compute_capability: CUDA compute capability such as ``9.0``; empty for other vendors.
        marketing_gb: Memory on the data sheet, in GB of 10**9 bytes.
        usable_bytes: Total memory as PyTorch reports it: the base of ``gpu_memory_utilization``; None: not known.
        nvidia_smi_mib: ``memory.total`` of nvidia-smi, in MiB.
        seen_gib: Every total seen in public logs, in GiB.
        sources: Where the figures come from.
        note: What to know, for example ECC or driver dependence.
    """

    name: str
    aliases: tuple[str, ...] = ()
    vendor: str = "nvidia"
    compute_capability: str = ""
    marketing_gb: float | None = None
    usable_bytes: int | None = None
    nvidia_smi_mib: int | None = None
    seen_gib: tuple[float, ...] = ()
    sources: tuple[str, ...] = ()
    note: str = ""

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability as numbers, (0, 0) where there is none."""
        major, _, minor = self.compute_capability.partition(".")
        return (int(major), int(minor or 0)) if major else (0, 0)


@functools.cache
def load_gpus() -> tuple[Gpu, ...]:
    """All GPUs of the catalogue, by name."""
    entries = (json.loads(file.read_text("utf-8")) for file in _FOLDER.iterdir() if file.suffix == ".json")
    return tuple(sorted((_gpu(entry) for entry in entries), key=lambda gpu: gpu.name))


def _gpu(entry: Mapping[str, Any]) -> Gpu:
    known = {**entry}
    for key in ("aliases", "seen_gib", "sources"):
        known[key] = tuple(known.get(key, ()))
    return Gpu(**known)


def find_gpu(name: str) -> Gpu:
    """Returns the GPU of a name or alias, upper and lower case alike.

    Raises:
        InputError: No GPU of the catalogue has this name.
    """
    gpu = _by_name().get(_normalized(name))
    if gpu is not None:
        return gpu
    names = ", ".join(gpu.name for gpu in load_gpus())
    rule = f"the catalogue knows {names}"
    raise input_error("gpu", name, rule, "Choose one of these, or give gpu_memory_gib for an unknown GPU.")


@functools.cache
def _by_name() -> Mapping[str, Gpu]:
    return {_normalized(known): gpu for gpu in reversed(load_gpus()) for known in (*gpu.aliases, gpu.name)}


def _normalized(name: str) -> str:
    text = name.lower().replace("nvidia", "").replace("tesla", "").replace("geforce", "")
    return "".join(character for character in text if character.isalnum())
