"""The derivation puts in the values the figures were worked out of."""

from collections.abc import Mapping

from kvcore.answer import answer
from kvcore.report.report import Step

ENTRY_BYTES = 1024
BLOCK_TOKENS = 16
PAGE = BLOCK_TOKENS * ENTRY_BYTES
LAYERS_OF_A_STAGE = 2
SOME, MORE = 100 * PAGE, 1000 * PAGE


def steps(**fields: object) -> Mapping[str, Step]:
    """The steps of a model of three stages, the first of which keeps nothing and the last half of what the second keeps."""
    part = {"name": "entries", "growth": "per_token", "layer_indices": [2, 3, 4], "entry_bytes": ENTRY_BYTES}
    layout = {"num_hidden_layers": 3 * LAYERS_OF_A_STAGE, "parts": [part], "engine": {"block_size": BLOCK_TOKENS}}
    report = answer({"layout": layout, "pipeline_parallel_size": 3, "max_model_len": BLOCK_TOKENS, **fields})
    assert not report.errors
    return {step.path: step for step in report.derivation}


def test_the_blocks_are_those_of_the_stage_that_binds_though_one_before_it_keeps_nothing() -> None:
    step = steps(kv_cache_memory_bytes=[MORE, SOME, MORE])["capacity.num_gpu_blocks"]

    assert step.substituted == f"floor({SOME:,} / {LAYERS_OF_A_STAGE * PAGE:,})"
    assert step.result == SOME // (LAYERS_OF_A_STAGE * PAGE)


def test_blocks_asked_for_by_number_are_not_derived_from_the_budget() -> None:
    blocks = 40
    step = steps(kv_cache_memory_bytes=[MORE, SOME, MORE], num_gpu_blocks_override=blocks)["capacity.num_gpu_blocks"]

    assert (step.formula, step.substituted, step.result) == ("num_gpu_blocks_override", f"{blocks:,}", blocks)
