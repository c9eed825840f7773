"""Which profile answers for which release."""

import functools
import re

from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.errors import input_error

Release = tuple[int, int, int]

_RELEASE = re.compile(
    r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4})(?:\.\d{1,4})?)?(?P<suffix>(?:[.+-]?[a-z][\w.+-]*)?)", re.IGNORECASE
)
_REMEDY = "Give a release from 0.10 on, such as 0.33.0; suffixes such as 0.19.2rc1.dev134 are read."


def find_profile(version: str | None) -> Profile:
    """The newest profile that is not newer than the release asked for; the newest of all where none is asked for.

    Args:
        version: A release of vLLM as it prints itself: ``0.33.0``, ``v0.11``, ``0.19.2rc1.dev134+gfe9c3d6c5``. Pre-releases
            count as the release they lead to.

    Raises:
        InputError: This is no release, or one older than every profile.
    """
    if version is None:
        return PROFILES[-1]
    asked = parse_release(version)
    older = [profile for profile in PROFILES if parse_release(profile.version) <= asked]
    if not older:
        first = PROFILES[0].version
        rule = f"releases before {first} plan their cache by rules this release of kvcore does not know"
        raise input_error("engine_version", version, rule, f"Give {first} or newer.")
    return older[-1]


@functools.lru_cache(maxsize=64)
def parse_release(version: str) -> Release:
    """The three numbers of a release.

    Raises:
        InputError: The text names no release.
    """
    match = _RELEASE.fullmatch(version.strip())
    if match is None:
        raise input_error("engine_version", version, "a release number of vLLM is expected", _REMEDY)
    major, minor, patch = match.group(1, 2, 3)
    return int(major), int(minor), int(patch or 0)


def release_notes(version: str | None) -> tuple[str, ...]:
    """What the reader must know about the profile that answers; nothing for releases that were read."""
    if version is None:
        return ()
    profile, asked = find_profile(version), parse_release(version)
    newest = PROFILES[-1]
    if asked > parse_release(newest.version):
        newest_known = f"the figures are those of vLLM {newest.version}, the newest release whose rules are known"
        return (f"vLLM {version} is newer than kvcore: {newest_known}.",)
    if profile.only_full_attention:
        return (
            f"The code of vLLM {version} was not read: the rules of 0.10 are taken, which three public logs bear out.",
        )
    match = _RELEASE.fullmatch(version.strip())
    if match is not None and match["suffix"]:
        return (f"vLLM {version} is a build between releases: the figures are those of vLLM {profile.version}.",)
    return ()
