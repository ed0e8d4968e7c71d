from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import Any
from unittest import TestCase

from partner_referrals import InMemory, LeadEvent, Webhooks
from partner_referrals.fixtures import events, journey, request

from .test_webhooks import SECRET, UPDATE, genuine


class AReceiver(TestCase):
    def setUp(self) -> None:
        self.webhooks = Webhooks(secrets=SECRET)

    def test_handles_each_webhook_once_and_again_if_its_handler_failed(self) -> None:
        handled: list[str] = []
        fails = True

        def handle(event: LeadEvent, _: object) -> None:
            if fails:
                raise RuntimeError("the database is away")
            handled.append(event["data"]["event_id"])

        with self.assertLogs("partner_referrals", "ERROR") as logs:
            self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handle)[1], 500)
        self.assertIn("the database is away", logs.output[0])
        fails = False
        for _ in range(2):
            self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handle), ("", 200))
        self.assertEqual(handled, [UPDATE["data"]["event_id"]])

    def test_refuses_what_is_no_genuine_webhook_and_takes_all_else(self) -> None:
        body, headers = request(UPDATE, SECRET)
        heard: list[str] = []

        def hear(event: LeadEvent, _: object) -> None:
            heard.append(f"{event['type']} {event['data']['lead_id']}")

        def status(body: Any, headers: Any) -> int:
            return self.webhooks.receive(body, headers, hear)[1]

        for signature in ("v1", ",", "v1,a,b", "v1,é", "é", "\udcff"):
            self.assertEqual(status(body, {**headers, "webhook-signature": signature}), 400)
        self.assertEqual(status(body, {**headers, "webhook-id": "\udcff"}), 400)
        for each in (b"{}", "\udcff", b"\xff"):
            self.assertEqual(status(each, headers), 400)
        self.assertEqual(heard, [])
        for event in events():
            self.assertEqual(status(*request(event, SECRET)), 200)
        later = '{"type": "home_bought", "timestamp": "2026-11-21T10:00:00Z", "data": {"lead_id": 9}}'
        self.assertEqual(status(*genuine(later)), 200)
        known = dict.fromkeys(f"{event['type']} 1" for event in journey())
        self.assertEqual(heard, [*known, "home_bought 9"])

    def test_says_how_to_mend_what_is_its_own_fault(self) -> None:
        parsed: Any = {"type": "score_update"}
        with self.assertLogs("partner_referrals", "ERROR") as logs:
            self.assertEqual(self.webhooks.receive(parsed, {}, print)[1], 500)
            self.assertEqual(Webhooks(secrets=[]).receive(b"", {}, print)[1], 500)
        self.assertIn("give request.get_data()", logs.output[0])
        self.assertIn("No secret is set", logs.output[1])

    def test_does_its_writes_and_remembers_in_one_transaction(self) -> None:
        with TemporaryDirectory() as folder:
            path = f"{folder}/lender.db"

            class SeenInDatabase:
                def once(self, webhook_id: str, handle: Callable[[Any], object]) -> None:
                    with closing(sqlite3.connect(path)) as database, database:
                        insert = "insert or ignore into seen (id) values (?)"
                        if database.execute(insert, [webhook_id]).rowcount == 1:
                            handle(database)

            def count(table: str) -> int:
                with closing(sqlite3.connect(path)) as database:
                    return int(database.execute(f"select count(*) from {table}").fetchone()[0])

            with closing(sqlite3.connect(path)) as database:
                database.executescript("create table seen (id text primary key); create table updates (gain integer)")
            fails = True

            def handle(event: LeadEvent, database: sqlite3.Connection) -> None:
                assert event["type"] == "score_update"
                gain = event["data"]["event_payload"]["experian_gain"]
                database.execute("insert into updates (gain) values (?)", [gain])
                if fails:
                    raise RuntimeError("half way")

            seen = SeenInDatabase()
            with self.assertLogs("partner_referrals", "ERROR"):
                self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handle, seen)[1], 500)
            self.assertEqual((count("seen"), count("updates")), (0, 0))
            fails = False
            for _ in range(2):
                self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handle, seen)[1], 200)
            self.assertEqual((count("seen"), count("updates")), (1, 1))

    def test_handles_a_webhook_that_is_repeated_meanwhile_once(self) -> None:
        gate = threading.Event()
        begun: list[str] = []
        statuses: list[int] = []

        def handle(event: LeadEvent, _: object) -> None:
            begun.append(event["type"])
            gate.wait(10)

        def receive() -> None:
            statuses.append(self.webhooks.receive(*request(UPDATE, SECRET), handle)[1])

        threads = [threading.Thread(target=receive) for _ in range(2)]
        for thread in threads:
            thread.start()
        gate.set()
        for thread in threads:
            thread.join()
        self.assertEqual((begun, statuses), (["score_update"], [200, 200]))

    def test_forgets_the_oldest_ids_that_it_keeps_in_memory(self) -> None:
        seen = InMemory(most=2)
        handled: list[str] = []
        for webhook_id in ("a", "b", "b", "c", "a"):
            seen.once(webhook_id, lambda _: handled.append(webhook_id))
        self.assertEqual(handled, ["a", "b", "c", "a"])
