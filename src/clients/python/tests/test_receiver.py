from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import Any
from unittest import TestCase

from partner_referrals import ContextHandlers, Handlers, InMemory, LeadEvent, WebhookEvent, Webhooks
from partner_referrals.fixtures import events, journey, request
from partner_referrals.types import ScoreUpdateWebhook

from .test_webhooks import SECRET, UPDATE, genuine


class AReceiver(TestCase):
    def setUp(self) -> None:
        self.webhooks = Webhooks(secrets=SECRET)

    def test_handles_each_webhook_once_and_again_if_its_handler_failed(self) -> None:
        handled: list[str] = []
        fails = True

        def on_score_update(event: ScoreUpdateWebhook) -> None:
            if fails:
                raise RuntimeError("the database is away")
            handled.append(event.data.event_id)

        handlers: Handlers = {"score_update": on_score_update}
        with self.assertLogs("partner_referrals", "ERROR") as logs:
            self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handlers).status, 500)
        self.assertIn("the database is away", logs.output[0])
        fails = False
        for _ in range(2):
            self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handlers), ("", 200))
        self.assertEqual(handled, [UPDATE.data.event_id])

    def test_refuses_what_is_no_genuine_webhook_and_takes_what_it_has_no_handler_for(self) -> None:
        body, headers = request(UPDATE, SECRET)
        heard: list[str] = []

        def hear(event: LeadEvent) -> None:
            heard.append(f"{event.type} {event.data.lead_id}")

        def status(body: Any, headers: Any) -> int:
            return self.webhooks.receive(body, headers, {}, on_event=hear).status

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
        known = dict.fromkeys(f"{event.type} 1" for event in journey())
        self.assertEqual(heard, [*known, "home_bought 9"])

    def test_says_how_to_mend_what_is_its_own_fault(self) -> None:
        parsed: Any = {"type": "score_update"}
        with self.assertLogs("partner_referrals", "ERROR") as logs:
            self.assertEqual(self.webhooks.receive(parsed, {}, {}).status, 500)
            self.assertEqual(Webhooks(secrets=[]).receive(b"", {}, {}).status, 500)
        self.assertIn("give request.get_data()", logs.output[0])
        self.assertIn("No secret is set", logs.output[1])

    def test_does_its_writes_and_remembers_in_one_transaction(self) -> None:
        with TemporaryDirectory() as folder:
            path = f"{folder}/lender.db"

            class SeenInDatabase:
                def once(self, webhook_id: str, handle: Callable[[Any], None]) -> None:
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

            def on_score_update(event: ScoreUpdateWebhook, database: sqlite3.Connection) -> None:
                gain = event.data.event_payload.experian_gain
                database.execute("insert into updates (gain) values (?)", [gain])
                if fails:
                    raise RuntimeError("half way")

            handlers: ContextHandlers = {"score_update": on_score_update}
            seen = SeenInDatabase()
            with self.assertLogs("partner_referrals", "ERROR"):
                self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handlers, seen=seen).status, 500)
            self.assertEqual((count("seen"), count("updates")), (0, 0))
            fails = False
            for _ in range(2):
                self.assertEqual(self.webhooks.receive(*request(UPDATE, SECRET), handlers, seen=seen).status, 200)
            self.assertEqual((count("seen"), count("updates")), (1, 1))

    def test_handles_a_webhook_that_is_repeated_meanwhile_once_and_each_leads_in_order(self) -> None:
        begun: list[str] = []
        change = threading.Condition()
        gates = {event.data.event_id: threading.Event() for lead in (1, 2) for event in journey(lead_id=lead)}
        statuses: list[int] = []

        def handle(event: LeadEvent) -> None:
            event_id = event.data.event_id
            with change:
                begun.append(event_id)
                change.notify_all()
            self.assertTrue(gates[event_id].wait(10))

        def receive(event: WebhookEvent) -> threading.Thread:
            def run() -> None:
                statuses.append(self.webhooks.receive(*request(event, SECRET), {}, on_event=handle).status)

            thread = threading.Thread(target=run)
            thread.start()
            return thread

        def until_begun(count: int) -> None:
            with change:
                self.assertTrue(change.wait_for(lambda: len(begun) >= count, 10))

        first, second, *_ = journey()
        other, *_ = journey(lead_id=2)
        threads = [receive(first)]
        until_begun(1)
        threads += [receive(first), receive(second), receive(other)]
        until_begun(2)
        self.assertEqual(begun, [first.data.event_id, other.data.event_id])
        gates[first.data.event_id].set()
        until_begun(3)
        for gate in gates.values():
            gate.set()
        for thread in threads:
            thread.join()
        self.assertEqual(begun, [first.data.event_id, other.data.event_id, second.data.event_id])
        self.assertEqual(statuses, [200, 200, 200, 200])

    def test_forgets_the_oldest_ids_that_it_keeps_in_memory(self) -> None:
        seen = InMemory(most=2)
        handled: list[str] = []
        for webhook_id in ("a", "b", "b", "c", "a"):
            seen.once(webhook_id, lambda _: handled.append(webhook_id))
        self.assertEqual(handled, ["a", "b", "c", "a"])
