"""The local server stands in for the static host, so it must answer as one does."""

from http.client import HTTPConnection
from pathlib import Path
from urllib.request import urlopen

import pytest

from tools.preview import readdressed, serving


@pytest.mark.parametrize(
    ("name", "kind"),
    [("worker.mjs", "text/javascript"), ("pyodide.asm.wasm", "application/wasm"), ("report.json", "application/json")],
)
def test_a_file_is_served_with_the_type_that_a_browser_insists_on(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).write_bytes(b"content")

    with serving(tmp_path) as server, urlopen(f"{server.origin}/{name}") as answer:
        assert answer.headers["Content-Type"] == kind
        assert answer.read() == b"content"


def test_a_page_that_is_not_there_is_a_404_with_the_site_s_own_page(tmp_path: Path) -> None:
    (tmp_path / "404.html").write_text("<h1>No such page</h1>")

    with serving(tmp_path) as server:
        connection = HTTPConnection(server.origin.removeprefix("http://"))
        connection.request("GET", "/models/unknown/")
        answer = connection.getresponse()

        assert answer.status == 404
        assert answer.read() == b"<h1>No such page</h1>"
        connection.close()


def test_the_sitemap_carries_the_address_it_is_asked_at(tmp_path: Path) -> None:
    (tmp_path / "sitemap.xml").write_text("<urlset><url><loc>https://atlas.example/models/</loc></url></urlset>")

    with serving(tmp_path) as server, urlopen(f"{server.origin}/sitemap.xml") as answer:
        assert answer.read().decode() == f"<urlset><url><loc>{server.origin}/models/</loc></url></urlset>"


def test_a_sitemap_keeps_its_paths_when_it_is_moved_to_another_address() -> None:
    built = b"<loc>http://127.0.0.1:8000/atlas/</loc><loc>http://127.0.0.1:8000/atlas/models/</loc>"

    moved = readdressed(built, "http://localhost:9")

    assert moved == b"<loc>http://localhost:9/atlas/</loc><loc>http://localhost:9/atlas/models/</loc>"
