"""A layout given by hand: parts of stated size, as `kvcore layout --json` exports them and people edit them.

Sizes are bytes on one GPU, so tensor parallelism divides nothing again. What only an engine knows (block sizes, padded
pages, groups, the width of a block) may be stated too; its own rules fill in the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kvcore.errors import FieldError, InputError, input_error, shown
from kvcore.layout.cache import Cache, Growth
from kvcore.layout.fields import Fields
from kvcore.layout.layout import LayerCache, Layout
from kvcore.layout.paging import GivenGroup, GivenPaging


@dataclass(frozen=True, kw_only=True)
class GivenCache(Cache):
    """One part of stated size. Subclasses fix the growth.

    Attributes:
        entry_bytes: Bytes of one entry in one layer on one GPU; of a per-request part, the whole state.
        tokens_per_entry: Tokens one entry stands for.
        copies: Copies of a per-request part one request keeps.
        checkpoint_copies: Further copies an engine charges while it keeps states at block boundaries.
        split: How ranks share the part: ``heads``, ``replicated_heads``, ``whole`` or ``state``.
        dtype: What the entries hold, for the reader.
        kind: The engine's own kind of storage, where it matters beyond growth and split.
        block_size: Tokens of one block, where the engine does not choose.
        page_size_bytes: Bytes of one block in one layer after padding.
        row_alignment: Bytes to which blocks are aligned where layers share them.
        kernel_block_size: Tokens of which blocks are a multiple, where the engine chooses the block size.
        checkpoint_grain: The same for a per-request part that is kept at block boundaries.
        stated_window: Tokens of the window or chunk.
        number: Which part of the layout it is, for errors; parts that differ in nothing else are one.
    """

    entry_bytes: int
    tokens_per_entry: int = 1
    copies: int = 1
    checkpoint_copies: int = 0
    split: str = "heads"
    dtype: str = ""
    kind: str = ""
    block_size: int | None = None
    page_size_bytes: int | None = None
    row_alignment: int | None = None
    kernel_block_size: int | None = None
    checkpoint_grain: int | None = None
    stated_window: int | None = None
    number: int = field(default=0, compare=False)

    @property
    def place(self) -> str:
        """Path of the part in the request."""
        return f"layout.parts.{self.number}"

    @property
    def window(self) -> int | None:
        """The window or chunk in tokens."""
        return self.stated_window


@dataclass(frozen=True, kw_only=True)
class GivenPerToken(GivenCache):
    """Entries of every token stay."""

    growth: ClassVar[Growth] = "per_token"


@dataclass(frozen=True, kw_only=True)
class GivenWindow(GivenCache):
    """Entries of the last tokens stay."""

    growth: ClassVar[Growth] = "sliding_window"


@dataclass(frozen=True, kw_only=True)
class GivenChunk(GivenCache):
    """Entries of the current chunk stay."""

    growth: ClassVar[Growth] = "chunked"


@dataclass(frozen=True, kw_only=True)
class GivenPerRequest(GivenCache):
    """A state of fixed size."""

    growth: ClassVar[Growth] = "per_request"


@dataclass(frozen=True, kw_only=True)
class GivenPerEncoderToken(GivenCache):
    """Entries of the encoder's output."""

    growth: ClassVar[Growth] = "per_encoder_token"


GROWTHS: Mapping[str, type[GivenCache]] = {
    cache.growth: cache for cache in (GivenPerToken, GivenWindow, GivenChunk, GivenPerRequest, GivenPerEncoderToken)
}
MOST_LAYERS = 10_000
"""Deepest layer, and most layers of all parts together, that are read: far beyond any model, and soon worked out."""
SPLITS = ("heads", "replicated_heads", "whole", "state")
WINDOWED = frozenset({"sliding_window", "chunked"})


@dataclass(frozen=True, kw_only=True)
class GivenLayout:
    """A layout given by hand and its name."""

    name: str
    layout: Layout


def read_layout(given: Mapping[str, Any]) -> GivenLayout:
    """Reads a layout object.

    Raises:
        InputError: One error per field that is unknown, of the wrong type or out of range.
    """
    fields = Fields(given, "layout")
    name = fields.text("name", "") or fields.text("model", "") or "layout by hand"
    parts = _parts(fields)
    stated_layers = fields.whole("num_hidden_layers", None, maximum=MOST_LAYERS)
    paging, retained = _paging(fields, {cache.name for cache, _, _ in parts})
    kind = fields.text("attention_kind", "given by hand")
    for exported in EXPORTED_SUMS:
        fields.skip(exported)
    fields.finish()
    layers = tuple(
        LayerCache(layer_index=index, cache=cache, draft=draft) for cache, indices, draft in parts for index in indices
    )
    deepest = max(layer.layer_index for layer in layers if not layer.draft or stated_layers is None) + 1
    layout = Layout(
        attention_kind=kind,
        num_hidden_layers=stated_layers or deepest,
        layers=layers,
        notes=("The layout is given by hand: sizes are bytes on one GPU and are not divided again.",),
        paging=paging,
        extra_retained_tokens=retained,
    )
    return GivenLayout(name=name, layout=layout)


EXPORTED_SUMS = (
    "bytes_per_token", "bytes_per_request", "bytes_per_token_partition", "bytes_per_request_partition",
    "attention_shards",
)  # fmt: skip
"""Sums an exported layout carries; they follow from the parts and are not read back."""


def _parts(fields: Fields) -> list[tuple[GivenCache, Sequence[int], bool]]:
    parts, layers = [], 0
    for index, item in enumerate(fields.items("parts", required=True)):
        parts.append(_part(item, index))
        layers += len(parts[-1][1])
        if layers > MOST_LAYERS:
            rule = f"all parts together may have {MOST_LAYERS:,} layers"
            raise input_error(f"layout.parts.{index}.layers", layers, rule, "Drop parts or layers.")
    return parts


def _part(item: Mapping[str, Any], index: int) -> tuple[GivenCache, Sequence[int], bool]:
    fields = Fields(item, f"layout.parts.{index}")
    growth = fields.choice("growth", tuple(GROWTHS))
    window = fields.whole("window", None)
    if growth in WINDOWED and window is None:
        raise input_error(f"layout.parts.{index}.window", None, f"growth {growth} needs a window in tokens", "Add it.")
    engine = Fields(fields.mapping("engine"), f"layout.parts.{index}.engine")
    cache = GROWTHS[growth](
        name=fields.text("name"),
        entry_bytes=fields.required_whole("entry_bytes"),
        tokens_per_entry=fields.whole("tokens_per_entry", 1) or 1,
        copies=fields.whole("copies", 1) or 1,
        split=fields.choice("split", SPLITS, default="state" if growth == "per_request" else "heads"),
        dtype=fields.text("dtype", ""),
        stated_window=window,
        number=index,
        kind=engine.text("kind", ""),
        checkpoint_copies=engine.whole("checkpoint_copies", 0, minimum=0) or 0,
        block_size=engine.whole("block_size", None),
        page_size_bytes=engine.whole("page_size_bytes", None),
        row_alignment=engine.whole("row_alignment", None),
        kernel_block_size=engine.whole("kernel_block_size", None),
        checkpoint_grain=engine.whole("checkpoint_grain", None),
    )
    engine.finish()
    draft = fields.flag("draft")
    indices = fields.indices("layer_indices", maximum=MOST_LAYERS - 1)
    count = fields.whole("layers", None, maximum=MOST_LAYERS)
    if indices is None:
        if count is None:
            raise input_error(f"layout.parts.{index}.layers", None, "layers or layer_indices is expected", "Add one.")
        indices = tuple(range(count))
    elif count is not None and count != len(indices):
        rule = f"layer_indices lists {len(indices)} layers"
        raise input_error(f"layout.parts.{index}.layers", count, rule, "Let them agree, or leave one out.")
    for explanation in ("formula", "substituted", "source", "entry_bytes_partition"):
        fields.skip(explanation)
    fields.finish()
    return cache, indices, draft


def _paging(fields: Fields, names: set[str]) -> tuple[GivenPaging, int]:
    engine = Fields(fields.mapping("engine"), "layout.engine")
    groups = tuple(_group(item, index, names) for index, item in enumerate(engine.items("groups")))
    paging = GivenPaging(
        block_size=engine.whole("block_size", None),
        groups=groups,
        pool_bytes_per_block=engine.wholes("pool_bytes_per_block"),
        block_outermost=engine.flag("block_outermost"),
    )
    retained = engine.whole("extra_retained_tokens", 0, minimum=0) or 0
    engine.finish()
    if groups:
        grouped = [name for group in groups for name in group.parts]
        if sorted(grouped) != sorted(names):
            rule = f"every part must be in one group: {', '.join(sorted(names))}"
            raise InputError([FieldError("layout.engine.groups", shown(grouped), rule, "Name each part once.")])
    return paging, retained


def _group(item: Mapping[str, Any], index: int, names: set[str]) -> GivenGroup:
    fields = Fields(item, f"layout.engine.groups.{index}")
    parts = fields.texts("parts")
    unknown = [name for name in parts if name not in names]
    if unknown or not parts:
        rule = f"the layout's parts are {', '.join(sorted(names))}"
        raise input_error(f"layout.engine.groups.{index}.parts", list(parts), rule, "Name at least one of them.")
    group = GivenGroup(
        parts=parts,
        count=fields.whole("count", 1) or 1,
        block_size=fields.whole("block_size", None),
        fixed_blocks=fields.whole("fixed_blocks", None),
        held_blocks=fields.whole("held_blocks", None, minimum=0),
    )
    fields.finish()
    return group
