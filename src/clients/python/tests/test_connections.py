from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from unittest import TestCase

from partner_referrals import NoAnswerError

from .scripted_api import ScriptedApi, answers

PONG = answers(200, {"success": True, "message": "pong", "environment": "sandbox", "time": "2026-03-02 15:04:05"})


class Connections(TestCase):
    def test_are_shared_by_threads(self) -> None:
        api = ScriptedApi(self, PONG)
        client = api.client()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: client.ping(), range(60)))
        self.assertEqual(len(api.requests), 60)

    def test_that_break_within_an_answer_bring_no_answer(self) -> None:
        def breaks(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("content-length", "100")
            handler.end_headers()
            handler.wfile.write(b'{"success": true')
            handler.close_connection = True

        with self.assertRaises(NoAnswerError):
            ScriptedApi(self, breaks).client(deadline=0.3).ping()

    def test_bring_whatever_answer_as_an_error(self) -> None:
        def nonsense(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
            handler.close_connection = True

        with self.assertRaises(NoAnswerError):
            ScriptedApi(self, nonsense).client(deadline=0.3).ping()
