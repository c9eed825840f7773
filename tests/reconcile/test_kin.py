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
    ("google/gemma-4-26B-A4B-it-qat-q4_0-unquantized", "google/gemma-4-26B-A4B"),
    ("Llama-2-7b-chat-hf.Q4_K_M.gguf", "meta-llama/Llama-2-7b-chat-hf"),
    ("cpatonn/Qwen3-30B-A3B-Thinking-2507-AWQ-4bit", "Qwen/Qwen3-30B-A3B-Instruct-2507"),
    ("Qwen/Qwen3-4B-Thinking-2507", "Qwen/Qwen3-4B"),
    ("deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-V3"),
    ("unsloth/Qwen3.8-27B-NVFP4", "Qwen/Qwen3.6-27B"),
    ("qwen25-3b", "Qwen/Qwen2.5-3B"),
    ("rednote-hilab/dots.ocr", "Qwen/Qwen2.5-1.5B"),
)
STRANGERS = (
    "Qwen3.9-27B",
    "gemma-27b",
    "Qwen/Qwen1.5-14B",
    "DeepSeek-R1-Distill",
    "microsoft/Phi-3-mini-4k-instruct",
    "models/target",
    "poolside/Laguna-S-2.1-INT4",
    "",
    "int4",
    "instruct",
    "Qwen2.5-14B-Coder",
)


@pytest.mark.parametrize(("name", "plain"), VARIANTS)
def test_a_quantized_or_tuned_checkpoint_is_known_by_its_plain_name(name: str, plain: str) -> None:
    assert catalogue_kin(name) == plain


@pytest.mark.parametrize("name", STRANGERS)
def test_a_name_that_differs_in_anything_else_is_not_guessed(name: str) -> None:
    assert catalogue_kin(name) is None


FOLDERS = (
    ("/home/someone/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0a1b2c3d", "Qwen/Qwen3-8B", False),
    ("/kaggle/input/gpt-oss-120b/transformers/default/1", "openai/gpt-oss-120b", False),
    ("/kaggle/input/models/qwen-lm/qwen-3/transformers/8b/1", "Qwen/Qwen3-8B", True),
    ("/home/someone/autodl-tmp/models/qwen/Qwen2___5-3B", "Qwen/Qwen2.5-3B", False),
    ("C:\\\\models\\\\Qwen3-8B", "Qwen/Qwen3-8B", False),
    ("/home/jane/Qwen3-8B/checkpoint-500", "Qwen/Qwen3-8B", True),
    ("RedHatAI/Qwen3.6-35B-A3B-NVFP4", "Qwen/Qwen3.6-35B-A3B", True),
)


@pytest.mark.parametrize(("path", "model", "variant"), FOLDERS)
def test_a_path_names_its_model_by_the_folders_that_hubs_make(path: str, model: str, variant: bool) -> None:
    implied = implied_request(read_log_text(f"non-default args: {{'model': '{path}'}}\n"), {})

    assert (implied.request["model"], implied.variant) == (model, variant)


def test_a_folder_above_a_name_with_a_size_is_not_its_model() -> None:
    log = "non-default args: {'model': '/models/Qwen3-8B/Strange-7B'}\n"

    assert "model" not in implied_request(read_log_text(log), {}).request


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
