from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import TestCase

from partner_referrals import Referrals

Step = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True)
class Made:
    path: str
    headers: Mapping[str, str]
    body: Any


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        # the client went away, as it may
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ScriptedApi:
    """An API that answers each request with the next step of a script, and the last one from then on."""

    def __init__(self, test: TestCase, *steps: Step) -> None:
        self.requests: list[Made] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length)) if length else None
                made = Made(self.path, dict(self.headers), body)
                api.requests.append(made)
                steps[min(len(api.requests), len(steps)) - 1](self)

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        test.addCleanup(thread.join)
        test.addCleanup(self._server.server_close)
        test.addCleanup(self._server.shutdown)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def client(self, **options: Any) -> Referrals:
        return Referrals(**{"api_key": "prs_test_1", "base_url": self.base_url, **options})

    @property
    def keys(self) -> list[str | None]:
        return [made.headers.get("Idempotency-Key") for made in self.requests]


def answers(status: int, body: object, headers: Mapping[str, str] = {}) -> Step:
    text = (body if isinstance(body, str) else json.dumps(body)).encode()

    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"content-length": str(len(text)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)

    return step


def failure(code: str, **more: object) -> dict[str, object]:
    return {"success": False, "error": {"code": code, "message": f"It is {code}.", **more}}


def dropped(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def drips(handler: BaseHTTPRequestHandler) -> None:
    """A byte of a header now and then, so that no read ever waits long."""
    handler.close_connection = True
    over = threading.Event()
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-endless: ")
        while not over.wait(0.02):
            handler.wfile.write(b"x")
    except OSError:
        pass
