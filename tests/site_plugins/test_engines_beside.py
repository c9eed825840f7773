from collections.abc import Mapping
from dataclasses import replace

from kvcore.errors import FieldError
from kvcore.report.document import Note, Table, plain
from kvcore.report.report import Engine, Report
from site_plugins.pages.engines_beside import engine_blocks, sglang_request
from tests.report.reports import MAX_MODEL_LEN, REPORT
from tests.site_plugins.test_deployments import deployment, estimated
from tests.site_plugins.test_pages_model import ENTRY

FOUND = (deployment(1, 5.0), deployment(8, 60.0))


def sglang(request: Mapping[str, object]) -> Report:
    return replace(estimated(request), engine=Engine(name="sglang", version="0.5.23"))


def table(blocks: tuple[object, ...]) -> Table:
    (found,) = (block for block in blocks if isinstance(block, Table))
    return found


def test_both_engines_stand_beside_each_other_on_the_quoted_and_the_largest_deployment() -> None:
    rows = [[plain(cell) for cell in row.cells] for row in table(engine_blocks(ENTRY.id, FOUND, sglang, "../")).rows]
    assert [row[0] for row in rows] == ["1 × H200", "8 × H200"]
    assert rows[0][1] == "5.00"
    assert rows[0][4] != "refused"


def test_sglang_is_asked_the_same_question_in_its_own_fields() -> None:
    assert sglang_request(ENTRY.id, FOUND[1]) == {
        "engine": "sglang",
        "model": ENTRY.id,
        "gpu": "H200",
        "tp_size": 8,
        "context_length": MAX_MODEL_LEN,
    }


def test_a_refusal_is_said_once_with_its_reason() -> None:
    error = FieldError("architectures", "'X'", "SGLang has no model class of its own", "Ask for engine vllm.")

    def refused(_: Mapping[str, object]) -> Report:
        return Report(inputs={}, kvcore_version="0.1.0", errors=(error,))

    blocks = engine_blocks(ENTRY.id, FOUND, refused, "../")
    assert [plain(row.cells[4]) for row in table(blocks).rows] == ["refused", "refused"]
    notes = [plain(block.content) for block in blocks if isinstance(block, Note)]
    assert sum("has no model class" in note for note in notes) == 1


def test_other_stored_formats_are_named() -> None:
    assert REPORT.layout is not None
    part = replace(REPORT.layout.parts[0], dtype="fp8_e4m3")

    def narrower(request: Mapping[str, object]) -> Report:
        report = sglang(request)
        assert report.layout is not None
        return replace(report, layout=replace(report.layout, parts=(part,)))

    notes = [
        plain(block.content) for block in engine_blocks(ENTRY.id, FOUND, narrower, "../") if isinstance(block, Note)
    ]
    assert any("SGLang as fp8_e4m3" in note for note in notes)


def test_a_model_without_deployments_has_no_table() -> None:
    assert engine_blocks(ENTRY.id, (), sglang, "../") == ()
