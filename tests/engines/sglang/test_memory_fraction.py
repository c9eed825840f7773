"""The default of mem_fraction_static against hand arithmetic."""

import pytest

from kvcore.engines.sglang.memory_fraction import Headroom, decode_max_bs, default_fraction, gpu_class, vision_factor

H100_MIB, B200_MIB = 81_559, 183_359
CONSTANT = 512
PER_TOKEN, PER_RANK, PER_DECODE_REQUEST, PER_PREFILL_GRAPH = 1.5, 128, 2, 8
LEAST_ON_LARGE_GPUS = 10_240


def headroom(**changes: object) -> Headroom:
    """One H100 with SGLang's defaults."""
    values: dict[str, object] = {
        "gpu_mib": H100_MIB,
        "ranks": 1,
        "chunked_prefill_size": 8192,
        "decode_max_bs": 256,
        "attention_dp": 1,
        "latent": False,
        "captures_decode": True,
        "captures_prefill": True,
        "role": "null",
        "decode_tokens": 256,
        "largest_capture": None,
        "fixed_capture": None,
        **changes,
    }
    return Headroom(**values)  # type: ignore[arg-type]


def test_the_reserve_adds_activations_ranks_and_graphs() -> None:
    chunk, ranks, decode_requests, prefill_graphs = 8192, 1, 256, 58

    expected = (
        CONSTANT
        + PER_TOKEN * chunk
        + PER_RANK * ranks
        + PER_DECODE_REQUEST * decode_requests
        + PER_PREFILL_GRAPH * prefill_graphs
    )

    assert headroom().reserved_mib == expected == 13_904


def test_the_share_is_what_the_reserve_leaves_of_the_gpu() -> None:
    assert default_fraction(headroom(), None) == round((H100_MIB - 13_904) / H100_MIB, 3) == 0.83


def test_latents_reserve_a_fixed_amount_for_prefill_graphs() -> None:
    dense, latent = headroom(), headroom(latent=True)

    assert latent.reserved_mib - dense.reserved_mib == 1536 - PER_PREFILL_GRAPH * 58


def test_data_parallel_attention_reserves_for_the_padding_of_every_group() -> None:
    groups, batch = 8, 512
    more = headroom(decode_max_bs=batch, attention_dp=groups).reserved_mib - headroom(decode_max_bs=batch).reserved_mib

    assert more == 3 * batch * groups + 1.5 * batch * groups


def test_large_gpus_keep_at_least_ten_gib_free() -> None:
    small_chunk = headroom(chunked_prefill_size=2048, captures_decode=False, captures_prefill=False)

    assert small_chunk.reserved_mib == LEAST_ON_LARGE_GPUS


def test_a_decode_server_reserves_for_a_step_of_all_its_requests() -> None:
    requests, draft_tokens = 1024, 4

    assert headroom(role="decode", decode_tokens=requests * draft_tokens).activation_tokens == requests * draft_tokens


def test_a_prefill_server_reserves_nothing_for_decode_graphs() -> None:
    assert headroom().reserved_mib - headroom(role="prefill").reserved_mib == PER_DECODE_REQUEST * 256


@pytest.mark.parametrize(
    ("gpu_mib", "chunk", "few_ranks", "many_ranks"),
    [
        (15_360, 2048, 8, 8),
        (24_564, 4096, 48, 160),
        (46_068, 4096, 32, 160),
        (H100_MIB, 8192, 256, 512),
        (143_771, 8192, 256, 512),
        (B200_MIB, 16_384, 512, 512),
    ],
)
def test_chunk_and_graphs_follow_the_memory_of_the_gpu(
    gpu_mib: int, chunk: int, few_ranks: int, many_ranks: int
) -> None:
    assert gpu_class(gpu_mib).chunked_prefill_size == chunk
    assert decode_max_bs(gpu_mib, 1, None) == few_ranks
    assert decode_max_bs(gpu_mib, 4, None) == many_ranks


def test_decode_graphs_go_no_further_than_the_requests_asked_for() -> None:
    assert decode_max_bs(H100_MIB, 1, 16) == 16


def test_a_vision_tower_of_the_base_size_lowers_the_share_by_a_twentieth() -> None:
    assert vision_factor((24, 1024)) == 0.95


def test_a_vision_tower_twice_the_base_size_lowers_it_by_another_tenth() -> None:
    assert vision_factor((48, 1024)) == pytest.approx(0.95 * 0.9)
