"""Which profile answers for which release."""

from kvcore.engines.vllm.profile import V0_33_0, Profile
from kvcore.errors import input_error

PROFILES: tuple[Profile, ...] = (V0_33_0,)
"""Known profiles, oldest first."""


def find_profile(version: str | None) -> Profile:
    """The profile of a release; the newest where none is asked for.

    Raises:
        InputError: No profile answers for the release.
    """
    if version is None:
        return PROFILES[-1]
    for profile in PROFILES:
        if profile.version == version.removeprefix("v"):
            return profile
    known = ", ".join(profile.version for profile in PROFILES)
    raise input_error("engine_version", version, f"vLLM profiles exist for {known}", "Choose one of these.")
