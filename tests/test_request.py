"""Requests: every field is checked by name, and every error says what would be right."""

import dataclasses

import pytest

from kvcore.errors import FieldError, InputError
from kvcore.request import Request, SpeculativeConfig, parse_request, request_fields
from kvcore.request_fields import REQUEST_FIELDS, RequestField
from kvcore.request_text import value_of_text

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
TYPES = {"integer", "number", "boolean", "string", "choice", "object", "budget", "integers", "strings", "speculative"}


def parse(**fields: object) -> Request:
    """A request about some model."""
    return parse_request({"model": MODEL, **fields})


def errors_of(**fields: object) -> tuple[FieldError, ...]:
    """The errors of a request that is expected to be refused."""
    with pytest.raises(InputError) as caught:
        parse(**fields)
    return caught.value.errors


def test_the_table_of_fields_and_the_request_name_the_same_fields() -> None:
    declared = {field.name for field in dataclasses.fields(Request)} - {"given"}

    assert {field.name for field in REQUEST_FIELDS} == declared


@pytest.mark.parametrize("field", REQUEST_FIELDS, ids=lambda field: field.name)
def test_every_field_is_explained(field: RequestField) -> None:
    assert field.type in TYPES
    assert field.label
    assert field.help.endswith(".")
    assert bool(field.choices) == (field.type == "choice")


def test_what_is_given_is_remembered() -> None:
    assert parse(tensor_parallel_size=2, max_model_len=None).given == {"model", "tensor_parallel_size"}


def test_a_request_is_read_back_from_its_given_fields() -> None:
    fields = {
        "model": MODEL,
        "tensor_parallel_size": 2,
        "kv_cache_memory_bytes": [10, 20],
        "speculative_config": {"method": "mtp", "num_speculative_tokens": 1},
    }

    assert request_fields(parse_request(fields)) == fields


@pytest.mark.parametrize("number", [8192, 8192.0, "8192", "8,192", "8_192", " 8192 "])
def test_a_whole_number_may_be_typed_in_several_ways(number: object) -> None:
    assert parse(max_model_len=number).max_model_len == 8192


@pytest.mark.parametrize("longest", [-1, "-1", "auto"])
def test_the_longest_context_is_asked_for_as_vllm_does(longest: object) -> None:
    assert parse(max_model_len=longest).max_model_len == -1


@pytest.mark.parametrize(("word", "value"), [("true", True), ("False", False), (True, True)])
def test_a_switch_is_true_or_false(word: object, value: bool) -> None:
    assert parse(enable_prefix_caching=word).enable_prefix_caching is value


def test_a_budget_is_bytes_or_bytes_per_stage() -> None:
    assert parse(kv_cache_memory_bytes="1024").kv_cache_memory_bytes == 1024
    assert parse(kv_cache_memory_bytes=[1024, 2048]).kv_cache_memory_bytes == (1024, 2048)


def test_a_drafter_needs_a_method_and_a_count() -> None:
    drafter = {"method": "ngram", "num_speculative_tokens": 3}

    assert parse(speculative_config=drafter).speculative_config == SpeculativeConfig(
        method="ngram", num_speculative_tokens=3
    )


@pytest.mark.parametrize(
    ("fields", "field", "rule"),
    [
        ({"tensor_parallel_size": 0}, "tensor_parallel_size", "must be at least 1"),
        ({"tensor_parallel_size": -4}, "tensor_parallel_size", "must be at least 1"),
        ({"tensor_parallel_size": 10**9}, "tensor_parallel_size", "must be at most 4,096"),
        ({"tensor_parallel_size": 1.5}, "tensor_parallel_size", "must be a whole number"),
        ({"tensor_parallel_size": True}, "tensor_parallel_size", "must be a whole number"),
        ({"tensor_parallel_size": [1]}, "tensor_parallel_size", "must be a whole number"),
        ({"tensor_parallel_size": "eight"}, "tensor_parallel_size", "must be a number"),
        ({"max_model_len": 0}, "max_model_len", "must be at least 1"),
        ({"max_model_len": -2}, "max_model_len", "must be at least 1"),
        ({"max_model_len": float("inf")}, "max_model_len", "must be a whole number"),
        ({"max_model_len": "9" * 60}, "max_model_len", "must be a number"),
        ({"gpu_memory_utilization": 0}, "gpu_memory_utilization", "must be greater than 0"),
        ({"gpu_memory_utilization": 1.01}, "gpu_memory_utilization", "must be at most 1"),
        ({"gpu_memory_utilization": float("nan")}, "gpu_memory_utilization", "must be a finite number"),
        ({"available_kv_cache_gib": 0}, "available_kv_cache_gib", "must be greater than 0"),
        ({"kv_cache_memory_bytes": []}, "kv_cache_memory_bytes", "must list one value per pipeline stage"),
        ({"kv_cache_memory_bytes": [1024, -1]}, "kv_cache_memory_bytes", "must be at least 1"),
        ({"enable_prefix_caching": "maybe"}, "enable_prefix_caching", "must be true or false"),
        ({"dtype": "bfloat61"}, "dtype", "must be one of"),
        ({"gpu": ""}, "gpu", "must be a non-empty text"),
        ({"gpu": "x" * 301}, "gpu", "must be at most 300 characters long"),
        ({"speculative_config": "mtp"}, "speculative_config", "must be a JSON object"),
        ({"speculative_config": {"method": "mtp"}}, "speculative_config", "needs num_speculative_tokens"),
        ({"speculative_config": {"num_speculative_tokens": 1}}, "speculative_config", "needs method"),
    ],
)
def test_a_bad_value_is_one_error_with_field_value_rule_and_remedy(
    fields: dict[str, object], field: str, rule: str
) -> None:
    (error,) = errors_of(**fields)

    assert error.field == field
    assert error.rule.startswith(rule)
    assert error.value
    assert error.remedy


def test_of_thousands_of_unknown_fields_a_few_are_named_and_the_rest_counted() -> None:
    named, others = 20, 2980
    with pytest.raises(InputError) as refused:
        parse_request({"model": "org/name", **{f"a{number}": "1" for number in range(named + others)}})
    assert len(refused.value.errors) == named + 1
    assert f"{others:,} more" in refused.value.errors[-1].rule


def test_an_unknown_field_is_named_with_the_nearest_known_one() -> None:
    (error,) = errors_of(max_modle_len=8192)

    assert (error.field, error.value) == ("max_modle_len", "8192")
    assert error.remedy == "Did you mean max_model_len?"


def test_a_mistyped_choice_is_named_with_the_nearest_one() -> None:
    (error,) = errors_of(kv_cache_dtype="fp8_e4m")

    assert error.remedy == "Did you mean fp8_e4m3?"


def test_every_bad_field_of_a_request_is_reported() -> None:
    assert {error.field for error in errors_of(tensor_parallel_size=0, max_model_len="x", colour="blue")} == {
        "tensor_parallel_size",
        "max_model_len",
        "colour",
    }


def test_a_long_value_is_shortened_in_its_error() -> None:
    (error,) = errors_of(**{"x" * 1000: "y" * 1000})

    assert len(error.field) <= 80
    assert len(error.value) <= 80


@pytest.mark.parametrize("more", [{"config": {}}, {"layout": {}}])
def test_the_subject_is_given_once(more: dict[str, object]) -> None:
    (error,) = errors_of(**more)

    assert error.field in more
    assert "exactly one of" in error.rule


def test_the_budget_is_given_once() -> None:
    (error,) = errors_of(kv_cache_memory_bytes=1024, available_kv_cache_gib=1)

    assert error.field == "available_kv_cache_gib"


def test_a_text_stands_for_json_where_an_object_is_expected() -> None:
    assert value_of_text("speculative_config", '{"method": "mtp"}') == {"method": "mtp"}
    assert value_of_text("kv_cache_memory_bytes", "[1, 2]") == [1, 2]
    assert value_of_text("max_model_len", "8192") == "8192"


@pytest.mark.parametrize("words", ["{", "[" * 5000])
def test_a_text_that_is_not_json_names_its_field(words: str) -> None:
    with pytest.raises(InputError) as caught:
        value_of_text("speculative_config", words)

    assert caught.value.errors[0].field == "speculative_config"
