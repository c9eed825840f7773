"""The row of buttons under a model's headline: change, copy, take away. Without script every button is a link."""

from collections.abc import Mapping
from html import escape

from kvcore.report.figures import kibibytes
from kvcore.report.report import Report
from kvcore.report.sections.wording import engine_name
from site_plugins.pages.badge import Badge, badge_markdown
from site_plugins.pages.deployments import Deployment, deployment_words
from site_plugins.pages.facts import short_length
from site_plugins.pages.requests import calculator_link
from site_plugins.published.places import model_data


def actions(model: str, request: Mapping[str, object], badge: Badge, site_url: str, root: str) -> str:
    """Returns the buttons as HTML.

    Args:
        model: Catalogue id.
        request: The question that the page opens with.
        badge: What the model's badge says.
        site_url: Where the site will be published; what is copied leads there.
        root: The site's root, relative to the page.
    """
    page = page_address(site_url, model)
    data = f"{root}{model_data(model)}"
    change = calculator_link(f"{root}calculator/", request)
    buttons = (
        f'<a class="md-button md-button--primary" href="{escape(change)}">Change something</a>',
        _copying("#model", "Copy link", page),
        '<a class="md-button" href="review.txt" data-kv-copy>Copy for a design review</a>',
        _copying("badge.svg", "Copy badge Markdown", badge_markdown(badge, page)),
        '<a class="md-button" href="report.csv" download>CSV</a>',
        f'<a class="md-button" href="{escape(data)}/report.json">JSON</a>',
        f'<a class="md-button" href="{escape(data)}/layout.json">Layout alone</a>',
    )
    return f'<p class="kv-actions">{" ".join(buttons)} <span class="kv-copied" role="status"></span></p>\n'


def page_address(site_url: str, model: str) -> str:
    """Returns where a model's page will be published."""
    return f"{site_url.rstrip('/')}/models/{model}/"


def badge_of(model: str, report: Report, quoted: Deployment | None) -> Badge:
    """Returns a model's badge: the requests of the deployment its page quotes, else what a token costs.

    Args:
        model: Catalogue id.
        report: The report the page opens with.
        quoted: The deployment the page quotes, if any.
    """
    capacity = quoted.report.capacity if quoted else None
    request = quoted.report.request if quoted else None
    if quoted and capacity and request and capacity.concurrency.engine_log is not None:
        figure = f"{capacity.concurrency.engine_log:,.2f} × {short_length(request.max_model_len)} tokens"
        name = f"KV cache of {model} on {deployment_words((quoted,))} under {engine_name(quoted.report)}"
        return Badge(f"KV cache on {quoted.name}", figure, name)
    per_token = report.layout.bytes_per_token if report.layout else None
    if per_token:
        figure = f"{kibibytes('layout.bytes_per_token', per_token).plain} per token"
        return Badge("KV cache", figure, f"KV cache of {model}: {figure} and GPU under {engine_name(report)}")
    refused = "refused" if report.layout is None else "none kept"
    return Badge("KV cache", refused, f"KV cache of {model}: {refused} under {engine_name(report)}")


def _copying(href: str, label: str, text: str) -> str:
    return f'<a class="md-button" href="{escape(href)}" data-kv-copy="{escape(text)}">{escape(label)}</a>'
