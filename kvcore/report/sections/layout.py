"""The layout: a picture of the layers, the parts they cache, and the arithmetic from the config (features F01, F02)."""

import re
from collections import defaultdict

from kvcore.arithmetic import MIB
from kvcore.report.document import Block, Column, Details, Figure, Layers, Paragraph, Row, Table, Text, Tone
from kvcore.report.figures import byte_count, count, grouped, kibibytes, scaled
from kvcore.report.report import LayoutReport, PartReport, Report
from kvcore.report.sections.wording import GROWTH_WORDS, SPLIT_WORDS, capitalised, engine_name, layer_count, prose, tone

_TOKENS_OF_THOUSAND = 1000
_OPERATORS = re.compile(r"[×+()]|\s/\s")


def layout(report: Report) -> tuple[Block, ...]:
    """Returns the layout section's blocks; nothing when the report has no layout."""
    if report.layout is None:
        return ()
    found = report.layout
    if not found.parts:
        return (Paragraph(("No cache: nothing is kept between steps.",)),)
    return (
        Paragraph((f"{capitalised(found.attention_kind)}. ", *_totals(found))),
        *_picture(found),
        _parts_table(report, found),
        Details("The arithmetic from the config, factor by factor", lambda: (_arithmetic_table(found),), id="factors"),
    )


def _totals(found: LayoutReport) -> Text:
    growing: Text = (
        "One token adds ",
        byte_count("layout.bytes_per_token", found.bytes_per_token),
        " bytes on each GPU",
    )
    if found.attention_shards > 1 and found.bytes_per_token_partition != found.bytes_per_token:
        whole = byte_count("layout.bytes_per_token_partition", found.bytes_per_token_partition)
        growing += (", ", whole, f" over the {grouped(found.attention_shards)} that share it")
    growing += (".",)
    if not found.bytes_per_request:
        return growing
    fixed = byte_count("layout.bytes_per_request", found.bytes_per_request)
    return (*growing, " A request adds ", fixed, " bytes on each GPU whatever its length.")


def _picture(found: LayoutReport) -> tuple[Block, ...]:
    by_layer: dict[int, list[Tone]] = defaultdict(list)
    for part in found.parts:
        for index in part.layer_indices:
            if not part.draft and tone(part) not in by_layer[index]:
                by_layer[index].append(tone(part))
    if not by_layer:
        return ()
    cells = tuple(tuple(by_layer.get(index, ("neutral",))) for index in range(max(by_layer) + 1))
    return (Layers(f"The model's {layer_count(len(cells))}, first to last, by what each caches", cells),)


def _parts_table(report: Report, found: LayoutReport) -> Table:
    columns = (
        Column("Part"),
        Column("Layers", "right"),
        Column("Bytes per entry", "right", "layer and GPU"),
        Column("Tokens per entry", "right"),
        Column("Window", "right", "tokens"),
        Column("Growth"),
        Column("Over tp ranks"),
        Column("Stored as"),
        Column("Rule", wide=True),
    )
    rows = tuple(_part_row(index, part) for index, part in enumerate(found.parts))
    return Table(f"Parts of the cache as {engine_name(report)} stores them", columns, rows, id="parts")


def _part_row(index: int, part: PartReport) -> Row:
    path = f"layout.parts.{index}"
    return Row(
        (
            (part.name,),
            (count(f"{path}.layers", part.layers),),
            (byte_count(f"{path}.entry_bytes", part.entry_bytes),),
            (count(f"{path}.tokens_per_entry", part.tokens_per_entry),),
            (count(f"{path}.window", part.window),),
            (GROWTH_WORDS.get(part.growth, part.growth),),
            (SPLIT_WORDS.get(part.split, part.split),),
            (part.dtype,),
            prose(part.source),
        ),
        tone(part),
    )


def _arithmetic_table(found: LayoutReport) -> Table:
    rows = [Row((("attention kind",), (found.attention_kind,)))]
    for index, part in enumerate(found.parts):
        rows.extend(_factor_rows(index, part))
    per_token = found.bytes_per_token
    thousand = Figure("layout.bytes_per_token", per_token, scaled(per_token * _TOKENS_OF_THOUSAND, MIB), "MiB")
    rows += [
        Row((("bytes per token, all layers",), (byte_count("layout.bytes_per_token", per_token),)), total=True),
        Row((("KiB per token",), (kibibytes("layout.bytes_per_token", per_token),))),
        Row((("MiB per 1,000 tokens",), (thousand,))),
    ]
    if found.bytes_per_request:
        rows.append(Row((("bytes per request",), (byte_count("layout.bytes_per_request", found.bytes_per_request),))))
    caption = "Arithmetic from the config for one GPU, not a measurement"
    return Table(caption, (Column("Quantity"), Column("Value", "right")), tuple(rows), id="arithmetic")


def _factor_rows(index: int, part: PartReport) -> list[Row]:
    path = f"layout.parts.{index}"
    rows = [Row(((f"{part.name}: layers",), (count(f"{path}.layers", part.layers),)), tone(part))]
    rows.extend(
        Row(((f"{part.name}: {name}",), (Figure(f"{path}.substituted", part.substituted, value),)), tone(part))
        for name, value in factors(part)
    )
    entry = byte_count(f"{path}.entry_bytes", part.entry_bytes)
    noun = "state of one layer" if part.growth == "per_request" else "bytes per entry of one layer"
    rows.append(Row(((f"{part.name}: {noun}",), (entry,)), tone(part)))
    return rows


def factors(part: PartReport) -> tuple[tuple[str, str], ...]:
    """Returns the named factors of a part's entry size with their values, in the formula's order.

    Empty when formula and substitution do not match factor by factor, as in a rule with a case distinction.
    """
    names, values = _operands(part.formula), _operands(part.substituted)
    if len(names) != len(values):
        return ()
    named = dict(zip(names, values, strict=True))
    return tuple((name, value) for name, value in named.items() if name != value)


def _operands(formula: str) -> list[str]:
    return [word for word in map(str.strip, _OPERATORS.split(formula)) if word]
