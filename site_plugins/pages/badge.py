"""A small picture of a model's headline figure, for readmes: one static SVG beside the model's page."""

from dataclasses import dataclass
from html import escape

_HEIGHT = 20
_PADDING = 7
_LETTER = 6.3
"""Points a letter of the badge takes on average; ``textLength`` makes every typeface keep to it."""

_LABEL_GROUND, _FIGURE_GROUND = "#3d4350", "#3730a3"


@dataclass(frozen=True)
class Badge:
    """What a badge says.

    Attributes:
        label: The condition, in a few words.
        figure: The figure with its unit.
        name: Both as one sentence, for those who do not see the picture.
    """

    label: str
    figure: str
    name: str


def badge_svg(badge: Badge) -> str:
    """Returns the picture, which carries its own name and needs nothing of the page it stands in."""
    left, right = (round(len(words) * _LETTER) for words in (badge.label, badge.figure))
    first, second = left + 2 * _PADDING, right + 2 * _PADDING
    whole = first + second
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{_HEIGHT}" viewBox="0 0 {whole} {_HEIGHT}" '
        f'role="img" aria-label="{escape(badge.name)}"><title>{escape(badge.name)}</title>'
        f'<clipPath id="c"><rect width="{whole}" height="{_HEIGHT}" rx="4"/></clipPath><g clip-path="url(#c)">'
        f'<rect width="{first}" height="{_HEIGHT}" fill="{_LABEL_GROUND}"/>'
        f'<rect x="{first}" width="{second}" height="{_HEIGHT}" fill="{_FIGURE_GROUND}"/></g>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f"{_words(badge.label, _PADDING, left)}{_words(badge.figure, first + _PADDING, right)}</g></svg>\n"
    )


def badge_markdown(badge: Badge, page: str) -> str:
    """Returns the Markdown that shows the badge and leads to the model's page.

    Args:
        badge: What it says.
        page: Address of the page, with a slash at its end.
    """
    spoken = badge.name.replace("[", "(").replace("]", ")")
    return f"[![{spoken}]({page}badge.svg)]({page})"


def _words(text: str, left: int, length: int) -> str:
    return f'<text x="{left}" y="14" textLength="{length}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
