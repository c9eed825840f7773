"""Caches: the tensors one layer keeps between decode steps, free of any engine.

Each mechanism is one frozen dataclass derived from :class:`Cache`. It states shapes over the whole model; how an engine
shards, pads and packs them is the engine profile's business.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from kvcore.errors import refusal

Growth = Literal["per_token", "sliding_window", "chunked", "per_request", "per_encoder_token"]


@dataclass(frozen=True, kw_only=True)
class Cache:
    """What one layer keeps. Equal caches of different layers form one part of the layout.

    Attributes:
        name: Name of the part this cache belongs to, as shown to people.
        growth: How the cache grows with the request.
    """

    growth: ClassVar[Growth]
    name: str

    @property
    def window(self) -> int | None:
        """Tokens of the window or chunk, where the cache has one."""
        return None


@dataclass(frozen=True, kw_only=True)
class AttentionCache(Cache):
    """Keys and values of every token (MHA, MQA, GQA).

    Attributes:
        num_kv_heads: Key/value heads of the whole layer.
        head_size: Elements of one key.
        head_size_v: Elements of one value.
        has_sink: Learned attention sinks, which store nothing but decide the kernels that fit.
        in_model_dtype: Stays in the model dtype whatever cache dtype is asked for.
    """

    growth: ClassVar[Growth] = "per_token"
    num_kv_heads: int
    head_size: int
    head_size_v: int
    has_sink: bool = False
    in_model_dtype: bool = False


@dataclass(frozen=True, kw_only=True)
class SlidingWindowCache(AttentionCache):
    """Keys and values of the last ``sliding_window`` tokens."""

    growth: ClassVar[Growth] = "sliding_window"
    sliding_window: int

    @property
    def window(self) -> int | None:
        """The sliding window in tokens."""
        return self.sliding_window


@dataclass(frozen=True, kw_only=True)
class ChunkedLocalCache(AttentionCache):
    """Keys and values of the current chunk of ``attention_chunk_size`` tokens (Llama 4)."""

    growth: ClassVar[Growth] = "chunked"
    attention_chunk_size: int

    @property
    def window(self) -> int | None:
        """The chunk in tokens."""
        return self.attention_chunk_size


@dataclass(frozen=True, kw_only=True)
class CrossAttentionCache(AttentionCache):
    """Keys and values of an encoder's output, once per request."""

    growth: ClassVar[Growth] = "per_encoder_token"


@dataclass(frozen=True, kw_only=True)
class LatentCache(Cache):
    """One compressed latent and one rotary key per token, whole on every tensor-parallel rank (MLA).

    Attributes:
        kv_lora_rank: Elements of the latent.
        qk_rope_head_dim: Elements of the rotary key.
        qk_nope_head_dim: Elements of a query head without position, which decides the kernels that fit; None: not
            stated.
        in_cache_dtype: The class stores it in the cache dtype even where the layer is to keep the model dtype.
    """

    growth: ClassVar[Growth] = "per_token"
    kv_lora_rank: int
    qk_rope_head_dim: int
    qk_nope_head_dim: int | None = None
    in_cache_dtype: bool = False


@dataclass(frozen=True)
class StateTensor:
    """One tensor of a per-request state on one rank; its role says which dtype it is stored in.

    Attributes:
        role: ``conv`` for a window of inputs, ``temporal`` for a recurrent state.
        shape: Elements per dimension on one rank.
        formula: Its elements as a formula of the model's dimensions; ``substituted`` with values.
    """

    role: Literal["conv", "temporal"]
    shape: tuple[int, ...]
    formula: str
    substituted: str


@dataclass(frozen=True, kw_only=True)
class StateCache(Cache):
    """A state of fixed size per request: recurrent, convolution or linear attention. Subclasses give the shapes.

    Attributes:
        temporal_dtype: Element type the checkpoint or its class asks for its recurrent state; None: that of the
            convolution state.
    """

    growth: ClassVar[Growth] = "per_request"
    temporal_dtype: str | None = None

    def tensors(self, tensor_parallel_size: int, draft_columns: int) -> tuple[StateTensor, ...]:
        """The state's tensors on one rank.

        Args:
            tensor_parallel_size: Ranks that divide the state.
            draft_columns: Inputs a convolution window keeps beyond its own, one per speculative token.

        Raises:
            EngineRefusal: The state cannot be divided over that many ranks.
        """
        raise NotImplementedError


def per_rank(amount: int, tensor_parallel_size: int, what: str) -> int:
    """Divides one dimension of a state over the ranks.

    Raises:
        EngineRefusal: The ranks do not divide it (vLLM 0.33.0 `distributed.utils.divide`).
    """
    if amount % tensor_parallel_size:
        rule = f"{what} ({amount:,}) must divide evenly over the ranks"
        raise refusal("tensor_parallel_size", tensor_parallel_size, rule, f"Use a divisor of {amount:,}.")
    return amount // tensor_parallel_size
