"""Checkpoints that are a catalogue's model under another name."""

import pytest

from kvcore.reconcile.implied import implied_request
from kvcore.reconcile.kin import catalogue_kin
from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.reconcile import reconcile
from tests.reconcile.log_lines import vllm_log

VARIANTS = (
    ("Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen2.5-14B"),
    ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "Qwen/Qwen2.5-7B-Instruct"),
    ("Meta-Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
    ("cyankiwi/gemma-4-26B-A4B-it-qat-AWQ-INT4", "google/gemma-4-26B-A4B"),
    ("/data/hub/models/DeepSeek-R1-0528-w4a8-per-channel/", "deepseek-ai/DeepSeek-R1-0528"),
    ("vllm-ascend/Qwen3-Next-80B-A3B-Instruct-W8A8", "Qwen/Qwen3-Next-80B-A3B-Instruct"),
    ("casperhansen/deepseek-r1-distill-qwen-14b-awq", "Qwen/Qwen2.5-14B"),
    ("huihui-ai/Huihui-gpt-oss-20b-mxfp4-abliterated-v2", "openai/gpt-oss-20b"),
    ("Qwen3-Coder-30B-A3B-Instruct-FP8", "Qwen/Qwen3-30B-A3B-Instruct-2507"),
)
STRANGERS = ("Qwen3.9-27B", "models/target", "poolside/Laguna-S-2.1-INT4", "", "int4", "instruct", "Qwen2.5-14B-Coder")


@pytest.mark.parametrize(("name", "plain"), VARIANTS)
def test_a_quantized_or_tuned_checkpoint_is_known_by_its_plain_name(name: str, plain: str) -> None:
    assert catalogue_kin(name) == plain


@pytest.mark.parametrize("name", STRANGERS)
def test_a_name_that_differs_in_anything_else_is_not_guessed(name: str) -> None:
    assert catalogue_kin(name) is None


def test_a_variant_is_named_as_one_and_its_weights_are_not_compared() -> None:
    plain = {"model": "Qwen/Qwen2.5-14B", "gpu": "H100", "max_model_len": 4096}
    names = "non-default args: {'model': '/home/jane/Qwen2.5-14B-Instruct-AWQ', 'max_model_len': 4096}\n"
    loaded = "Model loading took 9.36 GiB memory and 2.0 seconds"

    record = read_log_text(names + vllm_log(plain, extra=loaded))
    found = reconcile(record, {"gpu": "H100"})

    assert implied_request(record, {}).variant
    assert found.implied.request["model"] == "Qwen/Qwen2.5-14B"
    assert "config" in [question.field for question in found.implied.questions]
    assert found.verdict == "equal"
    assert found.prediction is not None
    assert "model_loading_gib" not in [row.name for row in found.prediction.rows]
