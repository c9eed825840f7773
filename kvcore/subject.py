"""Subject: what a request asks about: a catalogue model, a pasted config.json, or a layout given by hand.

People ask about one model again and again, so the subjects asked about last are kept with their layouts.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kvcore.catalog.models import find_model
from kvcore.config import ModelConfig, read_config
from kvcore.errors import input_error
from kvcore.layout import Layout, architecture_of, lay_out
from kvcore.layout.by_hand import GivenPerRequest, read_layout
from kvcore.layout.drafters import NOTHING_CACHED
from kvcore.layout.traits import Traits
from kvcore.report.report import Source
from kvcore.request import Request, SpeculativeConfig

MOST_MODELS = 16
"""Catalogue models kept."""

MOST_LAYOUTS = 8
"""Layouts kept of one model: with and without some drafters."""

MOST_PASTED = 4
"""Pasted configs kept: one may be megabytes long."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The model or layout a request asks about.

    Attributes:
        name: Catalogue id, architecture of a pasted config, or the layout's name.
        config: The checkpoint's configuration; None for a layout given by hand.
        traits: What the architecture means to engines.
        sources: Evidence from the catalogue entry.
        notes: What the reader should know about the entry.
        given_layout: A layout given by hand instead of a model.
        published_weights: Published sizes of the catalogue entry.
        laid_out: Layouts made so far, by the speculative decoding they are for.
    """

    name: str
    config: ModelConfig | None
    traits: Traits
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    given_layout: Layout | None = None
    published_weights: Mapping[str, Any] = field(default_factory=dict)
    laid_out: dict[SpeculativeConfig | None, Layout] = field(default_factory=dict, repr=False, compare=False)

    @property
    def num_attention_heads(self) -> int | None:
        """Query heads, which tensor parallelism must divide; None where the model states none."""
        return None if self.config is None else self.config.optional_integer("num_attention_heads")

    def lay_out(self, speculative: SpeculativeConfig | None) -> Layout:
        """The subject's layout, drafter included.

        Raises:
            ConfigError: The config lacks a fact or uses an unknown mechanism.
        """
        if self.given_layout is not None:
            return self.given_layout
        if self.config is None:
            raise input_error("config", None, "a model, config or layout is expected", "Give one of them.")
        if speculative is not None and speculative.config is not None:
            return _lay_out(self.config, speculative)
        if speculative not in self.laid_out:
            if len(self.laid_out) >= MOST_LAYOUTS:
                self.laid_out.clear()
            self.laid_out[speculative] = _lay_out(self.config, speculative)
        return self.laid_out[speculative]


def _lay_out(config: ModelConfig, speculative: SpeculativeConfig | None) -> Layout:
    if speculative is None:
        return lay_out(config)
    return lay_out(
        config,
        speculative_method=speculative.method,
        num_speculative_tokens=speculative.num_speculative_tokens,
        drafter=drafter_config(speculative),
    )


def drafter_config(speculative: SpeculativeConfig) -> ModelConfig | None:
    """The drafter's own checkpoint: its config.json, or a catalogue model of its name."""
    if speculative.config is not None:
        return read_config(speculative.config)
    if speculative.model is None or speculative.method in NOTHING_CACHED:
        return None
    return read_config(find_model(speculative.model).config)


def subject_of(request: Request) -> Subject:
    """Reads the subject of a request.

    Raises:
        InputError: The catalogue does not know the model.
        ConfigError: The config lacks a fact or its architecture is unknown.
    """
    if request.model is not None:
        return _of_catalogue(request.model)
    if request.config is not None:
        text = _json_text(request.config)
        return _of_pasted(request.config) if text is None else _of_text(text)
    if request.layout is None:
        raise input_error("model", None, "a model, config or layout is expected", "Give one of them.")
    given = read_layout(request.layout)
    keeps_state = any(isinstance(layer.cache, GivenPerRequest) for layer in given.layout.layers)
    return Subject(name=given.name, config=None, traits=Traits(keeps_state=keeps_state), given_layout=given.layout)


@functools.lru_cache(maxsize=MOST_MODELS)
def _of_catalogue(model: str) -> Subject:
    entry = find_model(model)
    sources = tuple(
        Source(id=f"model-{number}", kind=source.kind, ref=f"{source.what}: {source.reference}", checked=source.checked)
        for number, source in enumerate(entry.sources, start=1)
    )
    return replace(_of_config(entry.config, entry.id, sources, entry.notes), published_weights=entry.weights)


def forget() -> None:
    """Forgets the subjects kept: for whoever changes the table of architectures while Python runs."""
    _of_catalogue.cache_clear()
    _of_text.cache_clear()


def _json_text(config: Mapping[str, Any]) -> str | None:
    """A config as JSON, by which it is known again even if its object has changed since; None where it is not JSON."""
    try:
        return json.dumps(config)
    except (TypeError, ValueError, RecursionError):
        return None


@functools.lru_cache(maxsize=MOST_PASTED)
def _of_text(text: str) -> Subject:
    return _of_pasted(json.loads(text))


def _of_pasted(config: Mapping[str, Any]) -> Subject:
    name = config.get("_name_or_path")
    return _of_config(config, name if isinstance(name, str) and name else "config.json", (), ())


def _of_config(root: Mapping[str, Any], name: str, sources: tuple[Source, ...], notes: tuple[str, ...]) -> Subject:
    config = read_config(root)
    return Subject(
        name=name, config=config, traits=architecture_of(config).traits_of(config), sources=sources, notes=notes
    )
