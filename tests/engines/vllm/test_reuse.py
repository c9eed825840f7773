"""What prefix caching keeps of a hybrid, and deployments its state blocks cannot bear."""

from collections.abc import Mapping

from kvcore.answer import answer
from kvcore.report.report import Report, Step

LAYERS = 64
QWEN3_5: Mapping[str, object] = {
    "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "num_hidden_layers": LAYERS,
    "hidden_size": 5120, "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256,
    "linear_num_key_heads": 16, "linear_num_value_heads": 48, "linear_key_head_dim": 128,
    "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "mamba_ssm_dtype": "float32",
    "max_position_embeddings": 262_144, "dtype": "bfloat16", "mtp_num_hidden_layers": 1,
}  # fmt: skip
TOKEN = 4 * (256 + 256) * 2
BLOCK_TOKENS = 832  # 13 steps of 64 tokens hold one state of 3,207,168 bytes
GROUP_LAYERS = 16  # 48 states and 16 attention layers in groups of 16
BLOCK = GROUP_LAYERS * BLOCK_TOKENS * TOKEN
STATE_GROUPS = 3


def report(**fields: object) -> Report:
    return answer({"config": QWEN3_5, "gpu": "H100", "kv_cache_memory_bytes": 40 << 30, **fields})


def steps(answered: Report) -> dict[str, Step]:
    return {step.path: step for step in answered.derivation}


def test_a_prefix_resumes_at_block_boundaries_only() -> None:
    found = steps(report(max_model_len=10_000))
    assert found["plan.reuse.quantum_tokens"].result == BLOCK_TOKENS
    assert found["plan.reuse.resume_points"].result == 10_000 // BLOCK_TOKENS
    assert found["plan.reuse.dropped_tail_tokens"].result == 10_000 % BLOCK_TOKENS


def test_each_resume_point_keeps_one_block_per_group_of_states() -> None:
    assert steps(report())["plan.reuse.state_bytes"].result == STATE_GROUPS * BLOCK


def test_without_prefix_caching_nothing_is_kept() -> None:
    assert not any(path.startswith("plan.reuse") for path in steps(report(enable_prefix_caching=False)))


def test_prefix_caching_changes_the_estimate_through_the_align_copies_alone() -> None:
    """At one block size the two modes differ by the copy and the checkpoint of every group of states."""
    with_reuse = report(block_size=1024)
    without = report(block_size=1024, enable_prefix_caching=False)
    block = GROUP_LAYERS * 1024 * TOKEN
    copy_and_checkpoint = 2
    assert with_reuse.request is not None
    assert without.request is not None
    difference = with_reuse.request.bytes_estimate - without.request.bytes_estimate
    assert difference == STATE_GROUPS * copy_and_checkpoint * block
    assert with_reuse.request.bytes_held == without.request.bytes_held


def test_more_sequences_than_blocks_stop_the_engine() -> None:
    blocks = (40 << 30) // BLOCK
    stopping, running = report(), report(max_num_seqs=blocks)
    assert stopping.capacity is not None
    assert running.capacity is not None
    objection = stopping.capacity.objection or ""
    assert f"max_num_seqs of 1,024 needs 1,024 state blocks, the pool has {blocks:,}" in objection
    assert objection in stopping.warnings
    assert running.capacity.objection is None


def test_sequences_whose_drafts_exceed_a_step_are_pointed_out() -> None:
    drafts = {"method": "mtp", "num_speculative_tokens": 3}
    width = 1 + 3
    answered = report(speculative_config=drafts, max_num_batched_tokens=2048, max_num_seqs=600)
    (warning,) = [text for text in answered.warnings if "to verify" in text]
    assert f"{2048 // width:,} of them advance per step" in warning


def test_the_block_size_is_derived_from_state_and_token() -> None:
    found = steps(report())
    state = 3 * (2 * 16 * 128 + 48 * 128) * 2 + 48 * 128 * 128 * 4
    assert found["plan.block_size"].result == BLOCK_TOKENS
    assert found["plan.block_size"].substituted == f"64 × ceil({state:,} / (64 × {TOKEN:,}))"
    assert found["plan.padding_percent"].result == 100 * (BLOCK_TOKENS * TOKEN - state) / state


def test_the_checkpoints_drafter_attends_on_the_last_stage() -> None:
    drafts = {"method": "mtp", "num_speculative_tokens": 1}
    answered = report(speculative_config=drafts)
    assert answered.layout is not None
    (draft,) = [part for part in answered.layout.parts if part.draft]
    assert (draft.layers, draft.layer_indices) == (1, (LAYERS,))
