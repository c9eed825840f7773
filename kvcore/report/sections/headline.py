"""The answer first: the figures of the headline and the one sentence to paste into a review."""

from kvcore.report.document import Block, Headline, KeyFigure, Strong, Text
from kvcore.report.figures import count, kibibytes, readable_bytes, sized, times, times_at_most
from kvcore.report.report import Capacity, LayoutReport, Report, RequestReport
from kvcore.report.sections.wording import caches_nothing, condition, engine_name


def headline(report: Report) -> tuple[Block, ...]:
    """Returns the headline box of an answer; nothing when the report holds only errors."""
    if report.layout is None:
        return ()
    refused = report.capacity is not None and report.capacity.fits is False
    return (
        Headline(
            condition(report),
            tuple(_key_figures(report)),
            (*_subject(report), *_sentence(report)),
            "refusal" if refused else "answer",
        ),
    )


def _key_figures(report: Report) -> list[KeyFigure]:
    if caches_nothing(report):
        return []
    figures = []
    capacity, layout, request = report.capacity, report.layout, report.request
    engine = engine_name(report)
    if capacity is not None and capacity.fits and capacity.concurrency.engine_log is not None:
        concurrency = times("capacity.concurrency.engine_log", capacity.concurrency.engine_log)
        figures.append(KeyFigure(concurrency, "requests at once", f"as {engine} logs it"))
    elif capacity is not None and capacity.fits and capacity.concurrency.held is not None:
        held = times_at_most("capacity.concurrency.held", capacity.concurrency.held)
        figures.append(KeyFigure(held, "requests at once", "of the longest context"))
    if capacity is not None and capacity.fits and capacity.tokens.engine_log is not None:
        tokens = count("capacity.tokens.engine_log", capacity.tokens.engine_log, "tokens")
        pool = capacity.tokens.per_token_pool is not None
        figures.append(KeyFigure(tokens, "cache size in the log", "a pool" if pool else "not a pool of tokens"))
    if layout is not None and layout.bytes_per_token:
        per_token = kibibytes("layout.bytes_per_token", layout.bytes_per_token)
        figures.append(KeyFigure(per_token, "per token and GPU", _growing_layers(layout)))
    if layout is not None and layout.bytes_per_request:
        state = sized("layout.bytes_per_request", layout.bytes_per_request)
        figures.append(KeyFigure(state, "per request and GPU", "whatever its length"))
    if request is not None:
        one = sized("request.bytes_estimate", request.bytes_estimate)
        figures.append(KeyFigure(one, "one full request", f"as {engine} estimates it"))
    return figures


def _growing_layers(layout: LayoutReport) -> str:
    """Which layers the bytes of a token are summed over: windows and states do not grow with it."""
    growing = all(part.growth == "per_token" for part in layout.parts)
    return "all layers together" if growing else "layers that grow, together"


def _subject(report: Report) -> Text:
    return (Strong(report.model), ": ") if report.model else ()


def _sentence(report: Report) -> Text:
    if caches_nothing(report):
        return ("keeps nothing between steps, so no cache limits how many requests run at once.",)
    capacity, request = report.capacity, report.request
    if capacity is None or request is None:
        return ("the layout alone; give a cache budget to see how many requests fit.",)
    length = count("request.max_model_len", request.max_model_len, "tokens")
    if capacity.fits is False:
        return ("one request of ", length, " does not fit", *_shortfall(capacity))
    if capacity.concurrency.engine_log is None and capacity.concurrency.held is not None:
        held = times_at_most("capacity.concurrency.held", capacity.concurrency.held)
        return (held, " requests of ", length, f" fit at once in {engine_name(report)}'s pools", *_binds(capacity), ".")
    if capacity.concurrency.engine_log is None:
        one = sized("request.bytes_estimate", request.bytes_estimate)
        return ("one request of ", length, " is charged ", one, " per GPU; give a cache budget to see how many fit.")
    return (
        times("capacity.concurrency.engine_log", capacity.concurrency.engine_log),
        " requests of ",
        length,
        " fit at once by ",
        engine_name(report),
        "'s own estimate",
        *_held(capacity, request),
        *_binds(capacity),
        ".",
    )


def _held(capacity: Capacity, request: RequestReport) -> Text:
    if capacity.concurrency.held is None or request.bytes_held == request.bytes_estimate:
        return ()
    return ("; ", times_at_most("capacity.concurrency.held", capacity.concurrency.held), " can be held while running")


def _binds(capacity: Capacity) -> Text:
    return (f"; what binds: {capacity.binds}",) if capacity.binds else ()


def _shortfall(capacity: Capacity) -> Text:
    words: Text = ()
    if capacity.short_bytes is not None:
        words = (
            ": ",
            sized("capacity.short_bytes", capacity.short_bytes),
            f" short per GPU ({readable_bytes(capacity.needed_bytes)} needed)" if capacity.needed_bytes else " short",
        )
    longest = capacity.max_model_len_that_fits
    if longest:
        return (
            *words,
            "; the longest context that fits is ",
            count("capacity.max_model_len_that_fits", longest, "tokens"),
            ".",
        )
    return (*words, ".")
