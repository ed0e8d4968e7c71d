from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler
from typing import Any
from unittest import TestCase

from partner_referrals import AuthFailedError, CursorLostError

from .scripted_api import ScriptedApi, answers, failure

outage = answers(503, failure("SERVICE_UNAVAILABLE"), {"retry-after": "0"})


def event(number: int, name: str = "contract_signed") -> dict[str, Any]:
    return {
        "event_id": f"evt_{number}",
        "event_name": name,
        "event_payload": None,
        "created_at": "2026-11-21 20:57:56",
        "lead_id": 7,
        "partner_lead_id": None,
        "sequence": number,
        "cursor": f"c{number}",
    }


def page(*events: dict[str, Any]) -> Any:
    body = {"success": True, "data": events, "next": events[-1]["cursor"] if events else "c0", "has_more": False}
    return answers(200, body)


class Follow(TestCase):
    def test_goes_on_through_an_outage_each_event_once(self) -> None:
        api = ScriptedApi(
            self,
            page(event(1), event(2)),
            outage,
            page(event(3, "home_bought")),
        )
        events = api.client().events(after="c0")
        got = [next(events) for _ in range(3)]
        self.assertEqual([each["cursor"] for each in got], ["c1", "c2", "c3"])
        self.assertEqual(got[2]["event_name"], "home_bought")
        self.assertEqual([made.body["after"] for made in api.requests], ["c0", "c2", "c2"])

    def test_does_not_take_a_quiet_feed_for_an_outage(self) -> None:
        def quiet_first(handler: BaseHTTPRequestHandler) -> None:
            threading.Event().wait(0.4)
            page(event(1))(handler)

        api = ScriptedApi(self, quiet_first, page(event(2)))
        # less than the feed is quiet
        got = next(api.client(timeout=0.1, deadline=0.1).events())
        self.assertEqual(got["cursor"], "c1")
        self.assertEqual(len(api.requests), 1)

    def test_ends_between_two_attempts_when_it_is_told_to(self) -> None:
        stop = threading.Event()

        def stops(handler: BaseHTTPRequestHandler) -> None:
            stop.set()
            outage(handler)

        # without a stop there would be more
        api = ScriptedApi(self, page(event(1)), stops, page(event(2)))
        got = list(api.client().events(stop=stop))
        self.assertEqual(len(got), 1)
        self.assertEqual(len(api.requests), 2)

    def test_ends_within_a_page_when_it_is_told_to(self) -> None:
        stop = threading.Event()
        api = ScriptedApi(self, page(event(1), event(2), event(3)))
        cursors = []
        for each in api.client().events(stop=stop):
            cursors.append(each["cursor"])
            if len(cursors) == 2:
                stop.set()
        self.assertEqual(cursors, ["c1", "c2"])
        self.assertEqual(len(api.requests), 1)

    def test_raises_what_cannot_pass(self) -> None:
        refused = ScriptedApi(self, answers(401, failure("AUTH_FAILED")))
        with self.assertRaises(AuthFailedError):
            next(refused.client().events())
        lost = ScriptedApi(self, answers(400, failure("INVALID_PAYLOAD", next="c9")))
        with self.assertRaises(CursorLostError) as raised:
            next(lost.client().events(after="c1"))
        self.assertEqual(raised.exception.cursor, "c9")
