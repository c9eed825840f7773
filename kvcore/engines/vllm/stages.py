"""Pipeline stages: which layers each stage holds (vLLM 0.33.0 `distributed.utils.get_pp_indices`)."""

from collections.abc import Sequence

from kvcore.errors import refusal


def layers_per_stage(num_hidden_layers: int, stages: int, partition: Sequence[int] | None = None) -> tuple[int, ...]:
    """Number of layers of each stage.

    Every stage gets the whole quotient; layers left over go one each to the stages before the last, from the back.

    Args:
        num_hidden_layers: Layers of the model.
        stages: Pipeline stages.
        partition: Layers of each stage as given (``VLLM_PP_LAYER_PARTITION``), or None for the engine's split.

    Raises:
        EngineRefusal: More stages than layers, or a partition that does not add up.
    """
    if partition is not None:
        if len(partition) != stages or sum(partition) != num_hidden_layers:
            rule = f"the partition must list {stages} stages that add up to {num_hidden_layers} layers"
            raise refusal("pipeline_layer_partition", list(partition), rule, "Give one layer count per stage.")
        return tuple(partition)
    if stages > num_hidden_layers:
        rule = f"the model has only {num_hidden_layers} layers to divide over the stages"
        raise refusal("pipeline_parallel_size", stages, rule, f"Use at most {num_hidden_layers} stages.")
    quotient, left_over = divmod(num_hidden_layers, stages)
    counts = [quotient] * stages
    for stage in range(2, left_over + 2):
        counts[-stage] += 1
    return tuple(counts)


def stage_of_layers(counts: Sequence[int]) -> tuple[int, ...]:
    """The stage of each layer, by layer index."""
    return tuple(stage for stage, count in enumerate(counts) for _ in range(count))
