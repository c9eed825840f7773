"""Mamba-2: a convolution window over inputs and groups, and a matrix state per head."""

from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.errors import config_error, refusal
from kvcore.layout.cache import StateCache, StateTensor, per_rank
from kvcore.layout.state_dtype import state_dtype


@dataclass(frozen=True, kw_only=True)
class Mamba2Cache(StateCache):
    """The state of one Mamba-2 mixer (vLLM 0.33.0 `MambaStateShapeCalculator.mamba2_state_shape`).

    Attributes:
        intermediate_size: Channels of the inner width.
        n_groups: Groups that share the projections B and C.
        num_heads: Heads of the recurrent state.
        head_dim: Channels per head.
        state_size: State elements per channel.
        conv_kernel: Inputs the convolution sees, the current one included.
    """

    intermediate_size: int
    n_groups: int
    num_heads: int
    head_dim: int
    state_size: int
    conv_kernel: int

    def tensors(self, tensor_parallel_size: int, draft_columns: int) -> tuple[StateTensor, ...]:
        """The convolution window and the recurrent state; a single group is copied to every rank."""
        heads = per_rank(self.num_heads, tensor_parallel_size, "the heads of the Mamba-2 mixer")
        groups = self.groups_over(tensor_parallel_size)
        width = self.intermediate_size + 2 * groups * self.state_size
        channels = per_rank(width, tensor_parallel_size, "the convolution width of the Mamba-2 mixer")
        return (
            StateTensor(
                "conv",
                (self.conv_kernel - 1 + draft_columns, channels),
                "(conv_kernel − 1 + draft tokens) × (intermediate_size + 2 × n_groups × state_size) / tp",
                f"({self.conv_kernel} − 1 + {draft_columns}) × ({self.intermediate_size} + 2 × {groups} × "
                f"{self.state_size}) / {tensor_parallel_size}",
            ),
            StateTensor(
                "temporal",
                (heads, self.head_dim, self.state_size),
                "num_heads / tp × head_dim × state_size",
                f"{self.num_heads} / {tensor_parallel_size} × {self.head_dim} × {self.state_size}",
            ),
        )

    def groups_over(self, tensor_parallel_size: int) -> int:
        """Groups over all ranks: one group is copied so that each rank has it (`extra_groups_for_head_shards`).

        Raises:
            EngineRefusal: Several groups that the ranks do not divide (vLLM 0.33.0 `MambaMixer2.__init__`).
        """
        if self.n_groups % tensor_parallel_size == 0:
            return self.n_groups
        if self.n_groups == 1:
            return tensor_parallel_size
        rule = (
            f"vLLM needs the {self.n_groups} groups of the Mamba-2 mixer to divide evenly over the ranks, or one group"
        )
        raise refusal("tensor_parallel_size", tensor_parallel_size, rule, f"Use a divisor of {self.n_groups}.")


def mamba2(config: ModelConfig, layer_index: int) -> Mamba2Cache:
    """The state of a pure Mamba-2 layer.

    Raises:
        ConfigError: A dimension is absent, or heads and width disagree.
    """
    expanded = config.integer("expand") * config.hidden_size
    num_heads, head_dim = config.integer("num_heads"), config.integer("head_dim")
    if num_heads * head_dim != expanded:
        rule = f"num_heads × head_dim must equal expand × hidden_size, that is {expanded:,}"
        raise config_error(config.path("num_heads"), num_heads, rule, "Give the config.json unchanged.")
    return Mamba2Cache(
        name="mamba2",
        intermediate_size=config.integer("intermediate_size", expanded),
        n_groups=config.integer("n_groups"),
        num_heads=num_heads,
        head_dim=head_dim,
        state_size=config.integer("state_size"),
        conv_kernel=config.integer("conv_kernel"),
    )


def nemotron_mamba2(config: ModelConfig, layer_index: int) -> Mamba2Cache:
    """The state of a Nemotron-H Mamba layer; its recurrent state is float32 unless the config says otherwise.

    Source: vLLM 0.33.0 `NemotronHForCausalLMConfig.update_mamba_ssm_cache_dtype`.

    Raises:
        ConfigError: A dimension is absent or not a positive number.
    """
    num_heads, head_dim = config.integer("mamba_num_heads"), config.integer("mamba_head_dim")
    return Mamba2Cache(
        name="mamba2",
        temporal_dtype=state_dtype(config, "mamba_ssm_cache_dtype", "float32"),
        intermediate_size=num_heads * head_dim,
        n_groups=config.integer("mamba_n_groups", config.integer("n_groups")),
        num_heads=num_heads,
        head_dim=head_dim,
        state_size=config.integer("ssm_state_size"),
        conv_kernel=config.integer("mamba_d_conv", config.integer("conv_kernel")),
    )


def zamba2_mamba2(config: ModelConfig, layer_index: int) -> Mamba2Cache:
    """The state of a Zamba2 Mamba layer.

    Raises:
        ConfigError: A dimension is absent or not a positive number.
    """
    intermediate_size = config.integer("mamba_expand") * config.hidden_size
    num_heads = config.integer("n_mamba_heads")
    return Mamba2Cache(
        name="mamba2",
        intermediate_size=intermediate_size,
        n_groups=config.integer("mamba_ngroups"),
        num_heads=num_heads,
        head_dim=intermediate_size // num_heads,
        state_size=config.integer("mamba_d_state"),
        conv_kernel=config.integer("mamba_d_conv"),
    )


def granite_mamba2(config: ModelConfig, layer_index: int) -> Mamba2Cache:
    """The state of a Granite 4 hybrid Mamba layer.

    Raises:
        ConfigError: A dimension is absent, or heads and width disagree.
    """
    return _mamba_d_keys(config, config.integer("mamba_expand") * config.hidden_size)


def falcon_h1_mamba2(config: ModelConfig, layer_index: int) -> Mamba2Cache:
    """The state of a Falcon-H1 layer's Mamba branch.

    Raises:
        ConfigError: A dimension is absent, or heads and width disagree.
    """
    if config.text.get("mamba_d_ssm", 0) is None:  # a null is stated and differs from the class default
        return _mamba_d_keys(config, config.integer("mamba_expand") * config.hidden_size)
    return _mamba_d_keys(config, config.integer("mamba_d_ssm"))


def _mamba_d_keys(config: ModelConfig, intermediate_size: int) -> Mamba2Cache:
    """Granite and Falcon-H1 name their dimensions alike; ``mamba_d_head: "auto"`` follows from the width."""
    num_heads = config.integer("mamba_n_heads")
    is_auto = config.get("mamba_d_head", "auto") == "auto"
    head_dim = intermediate_size // num_heads if is_auto else config.integer("mamba_d_head")
    if head_dim * num_heads != intermediate_size:
        rule = f"mamba_n_heads × mamba_d_head must equal the inner width {intermediate_size:,}"
        raise config_error(config.path("mamba_d_head"), head_dim, rule, "Give the config.json unchanged.")
    return Mamba2Cache(
        name="mamba2",
        intermediate_size=intermediate_size,
        n_groups=config.integer("mamba_n_groups"),
        num_heads=num_heads,
        head_dim=head_dim,
        state_size=config.integer("mamba_d_state"),
        conv_kernel=config.integer("mamba_d_conv"),
    )
