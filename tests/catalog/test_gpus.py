"""GPUs of the catalogue: names, and memory in units that are never mixed."""

import pytest

from kvcore.arithmetic import GB, GIB, MIB
from kvcore.catalog.gpus import Gpu, find_gpu, load_gpus
from kvcore.errors import InputError

GPUS = load_gpus()
WITH_FIGURE = [gpu for gpu in GPUS if gpu.usable_bytes is not None]


def named(gpus: list[Gpu] | tuple[Gpu, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("gpu", gpus, ids=lambda gpu: gpu.name)


def test_there_are_at_least_thirty() -> None:
    assert len(GPUS) >= 30


@named(GPUS)
def test_every_name_and_alias_finds_its_own_gpu(gpu: Gpu) -> None:
    assert {find_gpu(name).name for name in (gpu.name, *gpu.aliases)} == {gpu.name}


@named(WITH_FIGURE)
def test_usable_bytes_are_what_logs_print_in_gib(gpu: Gpu) -> None:
    assert any(abs((gpu.usable_bytes or 0) / GIB - seen) < 0.11 for seen in gpu.seen_gib)


@named(WITH_FIGURE)
def test_the_data_sheet_counts_gb_and_the_driver_gib(gpu: Gpu) -> None:
    """A card sold with so many GB never has as many GiB left; where it has more bytes, its memory was counted in GiB."""
    assert gpu.marketing_gb is not None
    usable = gpu.usable_bytes or 0

    assert usable < gpu.marketing_gb * GIB
    assert usable > 0.9 * gpu.marketing_gb * GB


@named([gpu for gpu in WITH_FIGURE if gpu.nvidia_smi_mib is not None])
def test_the_driver_lists_more_than_programs_may_use(gpu: Gpu) -> None:
    assert (gpu.nvidia_smi_mib or 0) * MIB > (gpu.usable_bytes or 0)


@pytest.mark.parametrize("name", ["Gaudi 3", "Trainium2"])
def test_cards_without_a_log_have_no_figure(name: str) -> None:
    assert find_gpu(name).usable_bytes is None


@named(GPUS)
def test_a_figure_has_sources(gpu: Gpu) -> None:
    assert bool(gpu.sources) == (gpu.usable_bytes is not None)


@pytest.mark.parametrize(
    ("bare", "meant"), [("A100", "NVIDIA A100-SXM4-80GB"), ("H100", "NVIDIA H100 80GB HBM3"), ("H200", "NVIDIA H200")]
)
def test_a_bare_name_means_the_common_card(bare: str, meant: str) -> None:
    assert find_gpu(bare) == find_gpu(meant)


def test_an_unknown_gpu_is_refused_with_the_way_to_type_it() -> None:
    with pytest.raises(InputError) as caught:
        find_gpu("H999")

    assert "gpu_memory_gib" in caught.value.errors[0].remedy
