"""The calculator's form, generated from the request's table."""

import re
from html.parser import HTMLParser

from kvcore.request_fields import REQUEST_FIELDS
from site_plugins.bundle.form import GROUPS, Suggestions, form_html

HOSTILE = '"><script>alert(1)</script>'


class Elements(HTMLParser):
    """Collects start tags with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]


def form(**initial: str) -> Elements:
    return Elements(form_html(initial, Suggestions({"model": ("org/one", "org/two"), "gpu": ()})))


def controls(elements: Elements) -> list[dict[str, str | None]]:
    return [item for item in elements.all("input", "select", "textarea") if "name" in item]


def test_every_request_field_has_one_control_of_its_name() -> None:
    names = [item["name"] for item in controls(form())]
    assert sorted(map(str, names)) == sorted(field.name for field in REQUEST_FIELDS)


def test_every_group_of_the_request_table_is_shown() -> None:
    assert {field.group for field in REQUEST_FIELDS} == {group for group, _, _ in GROUPS}


def test_every_control_has_a_label_a_help_text_and_a_place_for_its_error() -> None:
    elements = form()
    labels = {item["for"] for item in elements.all("label")}
    ids = {attributes["id"] for _, attributes in elements.found if "id" in attributes}
    for control in controls(elements):
        assert control["id"] in labels
        assert set(str(control["aria-describedby"]).split()) <= ids


def test_a_unit_is_shown_beside_its_field() -> None:
    html = form_html({}, Suggestions({}))
    assert html.count('class="kv-field__unit"') == sum(bool(field.unit) for field in REQUEST_FIELDS)


def test_the_first_question_is_filled_in_and_remembered() -> None:
    model = next(item for item in controls(form(model="org/one")) if item["name"] == "model")
    assert (model["value"], model["data-kv-initial"]) == ("org/one", "org/one")


def test_the_model_field_offers_the_catalogue_while_typing() -> None:
    elements = form()
    model = next(item for item in controls(elements) if item["name"] == "model")
    assert model["list"] in {item["id"] for item in elements.all("datalist")}
    assert [item["value"] for item in elements.all("option") if str(item.get("value", "")).startswith("org/")] == [
        "org/one",
        "org/two",
    ]


def test_a_field_without_suggestions_names_no_list() -> None:
    gpu = next(item for item in controls(form()) if item["name"] == "gpu")
    assert "list" not in gpu


def test_what_the_site_was_configured_with_is_never_markup() -> None:
    html = form_html({"model": HOSTILE}, Suggestions({"model": (HOSTILE,)}))
    assert "<script" not in html


def test_ids_are_unique() -> None:
    ids = [attributes["id"] for _, attributes in form().found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_fields_that_mean_the_same_in_both_engines_name_each_other() -> None:
    html = form_html({}, Suggestions({}))
    fields = dict(re.findall(r'data-kv-field="(\w+)"[^>]* data-kv-same="(\w+)"', html))
    assert fields["max_model_len"] == "context_length"
    assert all(fields[other] == name for name, other in fields.items())


def test_texts_of_any_length_are_shown_on_lines_of_their_own() -> None:
    boxes = re.findall(r"<textarea [^>]*>", form_html({}, Suggestions({})))
    assert boxes
    assert all('wrap="off"' in box for box in boxes)
