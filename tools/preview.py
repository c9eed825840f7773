"""Serves the built site on this machine, with the file types a static host gives.

``python -m tools.preview [PORT]``; the tests start the same server on a free port.
"""

import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from tools.build_site import SITE, build

HOST = "127.0.0.1"
PORT = 8000


def readdressed(sitemap: bytes, origin: str) -> bytes:
    """Returns a sitemap with every address moved to another origin.

    Instant navigation compares links with the sitemap, port included, so a site built for one address
    would reload in full on every click when served at another.
    """
    return re.sub(rb"(?<=<loc>)https?://[^/<]+", origin.encode(), sitemap)


class SiteHandler(SimpleHTTPRequestHandler):
    """Answers with a file of the site, or with its 404 page."""

    extensions_map = {  # noqa: RUF012 -- the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".css": "text/css",
        ".js": "text/javascript",
        ".json": "application/json",
        ".mjs": "text/javascript",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",
        ".webp": "image/webp",
        ".woff2": "font/woff2",
        ".xml": "application/xml",
    }
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Serves one file; the sitemap at this server's own address."""
        if urlsplit(self.path).path == "/sitemap.xml" and self.file("sitemap.xml").is_file():
            self.send_sitemap()
        else:
            super().do_GET()

    def send_sitemap(self) -> None:
        """Serves the sitemap as if the site had been built for the address that the browser asked."""
        sitemap = self.file("sitemap.xml").read_bytes()
        self.send_body(HTTPStatus.OK, "application/xml", readdressed(sitemap, f"http://{self.headers['Host']}"))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers with the site's own page where the site has none of that name."""
        page = self.file("404.html")
        if code == HTTPStatus.NOT_FOUND and page.is_file():
            self.send_body(HTTPStatus.NOT_FOUND, "text/html", page.read_bytes())
        else:
            super().send_error(code, message, explain)

    def file(self, name: str) -> Path:
        """Returns where the site keeps a file of its root."""
        return Path(self.directory, name)

    def send_body(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        """Sends a whole answer at once."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps the terminal for the address and for errors."""


class SiteServer(ThreadingHTTPServer):
    """Serves a folder until closed, many requests at once."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__((HOST, port), partial(SiteHandler, directory=str(folder)))

    @property
    def origin(self) -> str:
        """The address without a path, such as ``http://127.0.0.1:8000``."""
        return f"http://{HOST}:{self.server_port}"

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Passes over browsers that hang up early, as they do when a page is left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[SiteServer]:
    """Serves a folder in the background for the length of a ``with`` block; port 0 takes a free one."""
    with SiteServer(folder, port) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def main(port: int) -> None:
    """Builds the site if it is not up to date and serves it until interrupted."""
    build()
    try:
        server = SiteServer(SITE, port)
    except OSError as error:
        sys.exit(f"Port {port} of {HOST} can't be had ({error.strerror}): make serve PORT=8001 takes another")
    with server:
        print(f"KV Atlas is at {server.origin}/ (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PORT)
