"""Serves the built site on this machine, with the file types a static host gives.

``python -m tools.preview [PORT]``; the tests start the same server on a free port.
"""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import urlsplit
from xml.etree import ElementTree

from tools.build_site import SITE, build

HOST = "127.0.0.1"
PORT = 8000


def readdressed(sitemap: bytes, origin: str) -> bytes:
    """Returns a sitemap with every address moved to another origin.

    Instant navigation compares links with the sitemap, port included, so a site built for one address
    would reload in full on every click when served at another.
    """
    pages = [element.text or "" for element in ElementTree.fromstring(sitemap).iter() if element.tag.endswith("}loc")]
    built_for = {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, pages)}
    for address in built_for:
        sitemap = sitemap.replace(f"{address}/".encode(), f"{origin}/".encode())
    return sitemap


class SiteHandler(SimpleHTTPRequestHandler):
    """Answers with a file of the site, or with its 404 page."""

    extensions_map: ClassVar[dict[str, str]] = {
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
        if urlsplit(self.path).path == "/sitemap.xml":
            self.send_sitemap()
        else:
            super().do_GET()

    def send_sitemap(self) -> None:
        """Serves the sitemap as if the site had been built for this server."""
        host, port = self.server.server_address[:2]
        body = readdressed(Path(self.translate_path("/sitemap.xml")).read_bytes(), f"http://{host!s}:{port}")
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps the terminal for the address and for errors."""


class SiteServer(ThreadingHTTPServer):
    """Serves a folder until closed, many requests at a time."""

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
