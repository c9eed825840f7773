"""Splits of a node: what the engine refuses stands last with its reason, and replicas multiply."""

from kvcore.questions import best_split, fewest_gpus, splits

GIB = 1 << 30
LATENT_MODEL = {"model": "deepseek-ai/DeepSeek-V2-Lite", "kv_cache_memory_bytes": 20 * GIB, "max_model_len": 32_768}
NODE = 8


def test_replicas_beat_tensor_parallelism_where_the_latent_is_not_divided() -> None:
    best = splits(LATENT_MODEL, NODE)[0]
    assert best.tensor_parallel_size == 1


def test_every_split_uses_the_whole_node() -> None:
    assert {split.num_gpus for split in splits(LATENT_MODEL, NODE)} == {NODE}


def test_what_the_engine_refuses_stands_last_with_its_reason() -> None:
    heads_16 = splits(LATENT_MODEL, 3)
    refused = [split for split in heads_16 if split.concurrency is None]
    assert refused
    assert heads_16[-1] in refused
    assert any("attention heads" in split.refused for split in refused)


def test_replicas_that_cannot_share_the_experts_are_refused_like_ranks() -> None:
    three_replicas = next(split for split in splits(LATENT_MODEL, 3) if split.data_parallel_size == 3)
    assert "experts" in three_replicas.refused


def test_the_fewest_gpus_serve_the_wish_over_all_replicas() -> None:
    one = splits(LATENT_MODEL, 1)[0].concurrency
    assert one is not None
    wish = int(one) * 2 + 1
    solution = fewest_gpus(LATENT_MODEL, wish)
    assert solution.value is not None
    previous = splits(LATENT_MODEL, int(solution.value) - 1)[0].concurrency
    assert previous is not None
    assert previous < wish


def test_the_best_split_says_which_command_realises_it() -> None:
    solution = best_split(LATENT_MODEL, NODE)
    assert solution.request["data_parallel_size"] * solution.request["tensor_parallel_size"] == NODE
