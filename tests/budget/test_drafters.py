"""Weights of drafters, worked out by hand."""

from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.budget.weights import ModelWeights, weigh
from kvcore.budget.weights.families.drafters import own_drafter
from kvcore.budget.weights.ranks import Ranks
from kvcore.config import read_config

HIDDEN, INTERMEDIATE, HEADS, KV_HEADS, HEAD, LAYERS = 64, 256, 8, 2, 8, 2
PADDED_VOCABULARY = 128
HALF = 2
MIMO: dict[str, Any] = {
    "architectures": ["MiMoForCausalLM"],
    "model_type": "mimo",
    "hidden_size": HIDDEN,
    "intermediate_size": INTERMEDIATE,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "num_hidden_layers": LAYERS,
    "num_nextn_predict_layers": 1,
    "vocab_size": PADDED_VOCABULARY,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}
QKV = HEAD * (HEADS + 2 * KV_HEADS)
ATTENTION = HIDDEN * QKV + QKV + HEADS * HEAD * HIDDEN  # queries, keys and values have biases
FEED_FORWARD = 3 * HIDDEN * INTERMEDIATE
NORMS = 5 * HIDDEN  # of the embedding, of the model's output, two in the layer, one behind it
FUSION = 2 * HIDDEN * HIDDEN
DRAFTER = (ATTENTION + FEED_FORWARD + NORMS + FUSION) * HALF
TABLE = PADDED_VOCABULARY * HIDDEN * HALF
LLAMA = {**MIMO, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}
MTP = {"method": "mtp", "num_speculative_tokens": 1}
WARNING = "The drafter's weights are not taken off: add them to weights_gib."


def weights(*, stages: tuple[int, ...] = (LAYERS,), drafts: bool = True) -> ModelWeights:
    config = read_config(MIMO)
    return weigh(config, Ranks(), stages, "bfloat16", drafter=own_drafter(config) if drafts else None)


def report(config: dict[str, Any], **given: Any) -> Any:
    found = answer({"config": config, "gpu": "H100", "max_model_len": 512, **given})
    assert found.errors == ()
    return found


def drafter_group(config: dict[str, Any], **given: Any) -> int | None:
    return report(config, **given).weights.drafter_bytes


def test_a_drafter_on_one_stage_uses_the_model_s_embedding_and_head() -> None:
    assert weights().drafter_bytes == DRAFTER


def test_a_drafter_adds_to_the_model_s_own_weights() -> None:
    assert weights().bytes_per_gpu == weights(drafts=False).bytes_per_gpu + DRAFTER


def test_a_drafter_stands_on_the_last_stage_with_an_embedding_of_its_own() -> None:
    with_drafter, without = weights(stages=(1, 1)), weights(stages=(1, 1), drafts=False)

    assert [stage.bytes for stage in with_drafter.stages] == [
        without.stages[0].bytes,
        without.stages[1].bytes + DRAFTER + TABLE,
    ]


def test_a_report_names_the_drafter_s_weights() -> None:
    assert drafter_group(MIMO, speculative_config=MTP) == DRAFTER


def test_weights_without_speculation_have_no_drafter() -> None:
    assert drafter_group(MIMO) is None


def test_a_small_model_that_drafts_keeps_an_embedding_and_a_head_of_its_own() -> None:
    layer = HIDDEN * QKV + HEADS * HEAD * HIDDEN + FEED_FORWARD + 2 * HIDDEN
    final_norm = HIDDEN
    drafts = {"method": "draft_model", "num_speculative_tokens": 1, "config": LLAMA}

    assert drafter_group(MIMO, speculative_config=drafts) == (LAYERS * layer + final_norm) * HALF + 2 * TABLE


def test_a_budget_takes_the_drafter_off() -> None:
    def taken(**given: Any) -> Any:
        reserves = report(MIMO, **given).budget.reserves
        return next(reserve.bytes for reserve in reserves if reserve.name == "weights")

    assert taken(speculative_config=MTP) > taken()


def test_a_drafter_that_is_weighed_needs_no_warning() -> None:
    assert WARNING not in report(MIMO, speculative_config=MTP).warnings


@pytest.mark.parametrize(
    "given",
    [
        {"engine_version": "0.32.0", "speculative_config": MTP},
        {"weights_gib": 1.0, "speculative_config": MTP},
        {"speculative_config": {"method": "eagle", "num_speculative_tokens": 1,
                                "config": {**LLAMA, "architectures": ["LlamaForCausalLM"]}}},
    ],
    ids=["a release that was not read", "weights as given", "a head that may bring tables"],
)  # fmt: skip
def test_a_drafter_that_is_not_weighed_is_said_to_be_missing(given: dict[str, Any]) -> None:
    assert WARNING in report(MIMO, **given).warnings
