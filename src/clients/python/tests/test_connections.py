from __future__ import annotations

import os
import select
import socket
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from unittest import TestCase

from partner_referrals import NoAnswerError

from .scripted_api import ScriptedApi, answers

PONG = answers(200, {"success": True, "message": "pong", "environment": "sandbox", "time": "2026-03-02 15:04:05"})
CLOCK = answers(200, {"success": True, "data": {}})


class Connections(TestCase):
    def test_are_kept_open(self) -> None:
        api = ScriptedApi(self, PONG)
        client = api.client()
        for _ in range(3):
            client.ping()
        client.within(5).ping()
        self.assertEqual(len({made.connection for made in api.requests}), 1)

    def test_that_the_service_has_ended_are_not_used_again(self) -> None:
        ended = threading.Event()

        def ends_after_it(handler: BaseHTTPRequestHandler) -> None:
            """As a server does whose connections are kept open for a while: nobody is told."""
            PONG(handler)
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            ended.set()

        # less than the wait before a second attempt
        client = ScriptedApi(self, ends_after_it).client(deadline=0.24)
        for _ in range(3):
            client.ping()
            self.assertTrue(ended.wait(10))
            ended.clear()

    def test_that_the_service_has_ended_are_closed_though_another_one_is_used(self) -> None:
        all_at_once = threading.Barrier(3)
        opened: dict[tuple[str, int], socket.socket] = {}

        def keeps(handler: BaseHTTPRequestHandler) -> None:
            if handler.client_address not in opened:
                # the handler closes its own
                opened[handler.client_address] = handler.connection.dup()
                self.addCleanup(opened[handler.client_address].close)
                all_at_once.wait(10)
            PONG(handler)

        api = ScriptedApi(self, keeps)
        client = api.client()
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: client.ping(), range(3)))
        client.ping()
        used = api.requests[-1].connection
        unused = [each for address, each in opened.items() if address != used]
        for each in unused:
            each.shutdown(socket.SHUT_WR)
        client.ping()
        for each in unused:
            self.assertEqual(select.select([each], [], [], 10)[0], [each], "the client has not closed it")
        client.ping()
        self.assertEqual([made.connection for made in api.requests[3:]], [used] * 3)

    def test_are_new_for_what_must_not_be_repeated(self) -> None:
        api = ScriptedApi(self, PONG, CLOCK)
        client = api.client()
        client.ping()
        client.sandbox.advance_clock(7, days=1)
        self.assertEqual(len({made.connection for made in api.requests}), 2)

    def test_are_shared_by_threads(self) -> None:
        api = ScriptedApi(self, PONG)
        client = api.client()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: client.ping(), range(60)))
        self.assertEqual(len(api.requests), 60)
        self.assertLessEqual(len({made.connection for made in api.requests}), 8)

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_of_a_parent_are_not_used_by_its_child(self) -> None:
        api = ScriptedApi(self, PONG)
        client = api.client()
        client.ping()
        child = os.fork()
        if child == 0:
            try:
                client.ping()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        client.ping()
        connections = [made.connection for made in api.requests]
        self.assertEqual(connections[0], connections[2])
        self.assertNotEqual(connections[0], connections[1])

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
