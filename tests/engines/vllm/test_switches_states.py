"""What releases charge for states and hybrids, by numbers worked out here."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from tests.engines.vllm.releases import (
    DELTA_NET,
    DENSE,
    ENTRY,
    LENGTH,
    block_size,
    blocks,
    nemotron,
    refused,
    report,
)

CONV_BYTES = (4 - 1) * (16 * 64 + 2 * 2 * 128) * 2
SSM_ELEMENTS = 16 * 64 * 128
STATE_BYTES_HALF, STATE_BYTES_FLOAT = CONV_BYTES + SSM_ELEMENTS * 2, CONV_BYTES + SSM_ELEMENTS * 4


@pytest.mark.parametrize(
    ("release", "declared", "state_bytes"),
    [
        ("0.12.0", "float32", STATE_BYTES_HALF),
        ("0.13.0", "float32", STATE_BYTES_FLOAT),
        ("0.19.1", None, STATE_BYTES_HALF),
        ("0.20.0", None, STATE_BYTES_FLOAT),
    ],
)
def test_nemotron_h_keeps_its_state_as_declared_from_0_13_and_in_float32_by_default_from_0_20(
    release: str, declared: str | None, state_bytes: int
) -> None:
    config = nemotron(mamba_ssm_cache_dtype=declared) if declared else nemotron()

    layout = report(config, release, enable_prefix_caching=False).layout

    assert layout is not None
    assert layout.bytes_per_request == state_bytes


def test_hybrids_keep_prefixes_by_default_from_0_26() -> None:
    assert report(DELTA_NET, "0.25.1").inputs["enable_prefix_caching"].value is False
    assert report(DELTA_NET, "0.26.0").inputs["enable_prefix_caching"].value is True


def test_a_class_that_cannot_keep_states_switches_prefix_caching_off_up_to_0_14() -> None:
    def kept(release: str, config: Mapping[str, Any]) -> object:
        return report(config, release, enable_prefix_caching=True).inputs["enable_prefix_caching"].value

    assert not kept("0.11.0", nemotron())
    assert kept("0.11.2", nemotron())
    assert not kept("0.14.1", DELTA_NET)
    assert kept("0.15.0", DELTA_NET)


def every_block(state_bytes: int) -> int:
    """Blocks of a request where a state is kept for each: as long as whole chunks of 128 tokens that hold one state."""
    tokens = 128 * math.ceil(state_bytes / (128 * ENTRY))
    return math.ceil(LENGTH / tokens)


@pytest.mark.parametrize(
    ("release", "states"),
    [
        ("0.11.0", 1),
        ("0.11.2", every_block(STATE_BYTES_HALF)),
        ("0.16.0", every_block(STATE_BYTES_HALF)),
        ("0.27.0", every_block(STATE_BYTES_FLOAT)),
        ("0.28.0", 2),
        ("0.31.0", 2),
        ("0.32.0", 2 + 1),
    ],
)
def test_a_mamba_class_keeps_a_state_for_every_block_from_0_11_1_to_0_27(release: str, states: int) -> None:
    assert blocks(nemotron(), release, enable_prefix_caching=True)[0] == states


@pytest.mark.parametrize(
    ("release", "states"), [("0.14.1", 1), ("0.15.0", 2), ("0.27.0", 2), ("0.32.0", 2), ("0.33.0", 2 + 1)]
)
def test_a_delta_net_keeps_its_last_states_from_0_15_and_one_more_for_its_prefill_from_0_33(
    release: str, states: int
) -> None:
    assert blocks(DELTA_NET, release, enable_prefix_caching=True)[0] == states


@pytest.mark.parametrize(("release", "drafts"), [("0.14.1", 0), ("0.15.0", 3), ("0.33.0", 3)])
def test_states_for_speculative_tokens_are_charged_from_0_15(release: str, drafts: int) -> None:
    speculative = {"method": "ngram", "num_speculative_tokens": 3}

    charged = blocks(DELTA_NET, release, enable_prefix_caching=False, speculative_config=speculative)

    assert charged[0] == 1 + drafts


def test_the_last_states_and_drafts_do_not_go_together_in_0_15_and_0_16() -> None:
    both = {
        "enable_prefix_caching": True,
        "speculative_config": {"method": "ngram", "num_speculative_tokens": 3},
        "max_model_len": LENGTH,
    }

    assert refused(DELTA_NET, "0.16.0", **both) == "enable_prefix_caching"
    assert blocks(DELTA_NET, "0.17.0", **both)[0] == 2 + 3


def test_the_mode_of_states_can_be_chosen_from_0_15_to_0_31() -> None:
    asked = {"enable_prefix_caching": True, "mamba_cache_mode": "all"}

    assert refused(nemotron(), "0.14.1", **asked) == "mamba_cache_mode"
    assert blocks(nemotron(), "0.31.0", **asked)[0] == every_block(STATE_BYTES_FLOAT)
    assert blocks(nemotron(), "0.32.0", **asked) == blocks(nemotron(), "0.32.0", enable_prefix_caching=True)


KIMI: Mapping[str, Any] = {
    **DENSE, "architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "num_hidden_layers": 2,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mla_use_nope": True,
    "linear_attn_config": {
        "full_attn_layers": [2], "kda_layers": [1], "head_dim": 128, "num_heads": 8, "short_conv_kernel_size": 4,
    },
}  # fmt: skip
KIMI_STATE = 3 * (4 - 1) * 8 * 128 * 2 + 8 * 128 * 128 * 4
LATENT_ENTRY = (512 + 64) * 2


@pytest.mark.parametrize(("release", "multiple"), [("0.19.0", 64), ("0.20.0", 16), ("0.26.0", 16), ("0.27.0", 128)])
def test_blocks_of_hybrids_with_latents_are_raised_in_multiples_of_64_then_16_then_128(
    release: str, multiple: int
) -> None:
    raised = multiple * math.ceil(KIMI_STATE / (multiple * LATENT_ENTRY))

    assert block_size(KIMI, release, enable_prefix_caching=False) == raised


def test_0_16_alone_does_not_schedule_ahead_where_states_are_kept() -> None:
    def ahead(release: str) -> object:
        return report(DELTA_NET, release, enable_prefix_caching=True).inputs["async_scheduling"].value

    assert [ahead(release) for release in ("0.15.0", "0.16.0", "0.17.0")] == [True, False, True]
