"""A logged budget is said not to hold under another start, with the terms that move."""

from kvcore.answer import answer
from kvcore.report.document import Details, Note, Table, plain
from kvcore.report.sections.memory import memory

DENSE = {"model": "meta-llama/Llama-3.1-8B-Instruct", "max_model_len": 32768}
LATENT = {"model": "deepseek-ai/DeepSeek-V3", "max_model_len": 32768, "tensor_parallel_size": 8}


def terms(**request: object) -> dict[str, list[str]]:
    """Cells of the table of moving terms by what changes; empty where there is none."""
    folds = [block for block in memory(answer(request)) if isinstance(block, Details)]
    tables = [block for fold in folds for block in fold.blocks if isinstance(block, Table)]
    return {plain(row.cells[0]): [plain(cell) for cell in row.cells[1:]] for table in tables for row in table.rows}


def test_a_logged_budget_is_said_not_to_hold_under_another_start() -> None:
    notes = [block for block in memory(answer({**DENSE, "available_kv_cache_gib": 40})) if isinstance(block, Note)]
    assert any("does not hold under another" in plain(note.content) for note in notes)


def test_each_term_stands_beside_what_moves_it_and_the_value_it_was_logged_under() -> None:
    found = terms(**DENSE, available_kv_cache_gib=40)
    assert found["max_num_batched_tokens"][:2] == ["8,192", "activation peak"]
    assert found["max_num_seqs"][:2] == ["1,024", "activation peak, CUDA graphs"]
    assert found["engine version"][0] == "0.33.0"


def test_the_context_moves_the_workspace_of_latent_attention_itself() -> None:
    assert "65,536 tokens" in terms(**LATENT, available_kv_cache_gib=40)["max_model_len"][2]
    assert "through the two above" in terms(**DENSE, available_kv_cache_gib=40)["max_model_len"][1]


def test_a_setting_and_an_estimate_move_nothing() -> None:
    assert terms(**DENSE, kv_cache_memory_bytes=1 << 35) == {}
    assert terms(**DENSE, gpu="H100") == {}
