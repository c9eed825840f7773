"""Which profile answers for which release, and what the reader is told about it."""

import dataclasses

import pytest

from kvcore.answer import answer
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.engines.vllm.profiles import find_profile, parse_release, release_notes
from kvcore.engines.vllm.switches import SWITCHES
from kvcore.errors import InputError

NEWEST = PROFILES[-1]

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 256,
    "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 4096, "torch_dtype": "bfloat16",
}  # fmt: skip


def test_profiles_stand_oldest_first() -> None:
    releases = [parse_release(profile.version) for profile in PROFILES]

    assert releases == sorted(set(releases))


def test_every_field_of_a_profile_but_its_version_is_a_switch() -> None:
    fields = {field.name for field in dataclasses.fields(Profile)} - {"version"}

    assert {switch.field for switch in SWITCHES} == fields
    assert len(SWITCHES) == len(fields)


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        ("0.33.0", "0.33.0"),
        ("v0.11", "0.11.0"),
        ("0.11.2", "0.11.1"),
        ("0.10.1.1", "0.10.0"),
        ("0.19.2rc1.dev134+gfe9c3d6c5", "0.19.0"),
        ("0.13.0+faa43dbf.nv26.01", "0.13.0"),
        ("0.20.0", "0.20.0"),
        ("0.20.1", "0.20.1"),
        ("0.99.0", "0.33.0"),
    ],
)
def test_the_newest_profile_not_newer_than_the_release_answers(asked: str, answers: str) -> None:
    assert find_profile(asked).version == answers


def test_without_a_release_the_newest_answers() -> None:
    assert find_profile(None) is NEWEST


@pytest.mark.parametrize("asked", ["0.8.5", "0.1.dev1+gda1daf40b"])
def test_a_release_older_than_every_profile_is_refused(asked: str) -> None:
    with pytest.raises(InputError, match=r"releases before 0\.9\.0"):
        find_profile(asked)


@pytest.mark.parametrize("asked", ["newest", "0", "0.33.0 or so", "-1.2", "1" * 50])
def test_what_is_no_release_is_refused(asked: str) -> None:
    with pytest.raises(InputError, match="a release number of vLLM is expected"):
        find_profile(asked)


def test_a_newer_release_is_answered_by_the_newest_profile_with_a_warning() -> None:
    report = answer({"config": LLAMA, "engine_version": "0.34.0"})

    assert report.engine is not None
    assert report.engine.version == "0.34.0"
    assert report.warnings[0].startswith("vLLM 0.34.0 is newer than kvcore: the figures are those of vLLM 0.33.0")


def test_a_build_between_releases_says_whose_figures_it_gets() -> None:
    (note,) = release_notes("0.19.2rc1.dev134+gfe9c3d6c5")

    assert note == (
        "vLLM 0.19.2rc1.dev134+gfe9c3d6c5 is a build between releases: the figures are those of vLLM 0.19.0."
    )


def test_a_known_release_needs_no_note() -> None:
    assert release_notes("0.19.1") == ()
    assert release_notes(None) == ()


def test_of_0_9_only_models_that_keep_every_token_are_answered_for() -> None:
    windowed = {**LLAMA, "architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": 1024}

    assert answer({"config": LLAMA, "engine_version": "0.9.2"}).errors == ()
    (error,) = answer({"config": windowed, "engine_version": "0.9.2"}).errors
    assert error.field == "engine_version"


def test_an_architecture_is_refused_before_its_first_release() -> None:
    ministral = {**LLAMA, "architectures": ["Ministral3ForCausalLM"], "model_type": "ministral3"}

    (error,) = answer({"config": ministral, "engine_version": "0.19.1"}).errors
    assert error.rule == "vLLM 0.19.0 has no model class for Ministral3ForCausalLM; the first is in 0.20.0"
    assert answer({"config": ministral, "engine_version": "0.20.0"}).errors == ()
