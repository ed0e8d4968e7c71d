from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from email.message import Message
from pathlib import Path
from typing import Any
from unittest import TestCase

from partner_referrals import ReferralsError, Webhooks, WebhookVerificationError, time_of
from partner_referrals._webhooks import key_of, signature_of
from partner_referrals.fixtures import events, journey, request

SECRET, FORMER = (f"whsec_{b64encode(bytes([number]) * 32).decode()}" for number in (1, 2))
UPDATE = journey()[5]


def genuine(text: str) -> tuple[bytes, Mapping[str, str]]:
    """A body that the types don't know."""
    _, headers = request(UPDATE, SECRET)
    body = text.encode()
    signature = signature_of("msg_2", headers["webhook-timestamp"], body, key_of(SECRET))
    return body, {**headers, "webhook-id": "msg_2", "webhook-signature": signature}


class AWebhook(TestCase):
    webhooks = Webhooks(secrets=[SECRET])

    def refusal(self, body: Any, headers: Mapping[str, str]) -> WebhookVerificationError:
        with self.assertRaises(WebhookVerificationError) as raised:
            self.webhooks.unwrap(body, headers)
        self.assertIsInstance(raised.exception, ReferralsError)
        return raised.exception

    def test_is_a_typed_event(self) -> None:
        event = self.webhooks.unwrap(*request(UPDATE, SECRET))
        self.assertEqual(event, UPDATE)
        # narrowed by its type
        if event["type"] != "score_update":
            self.fail("expected a score_update")
        self.assertEqual(event["data"]["event_payload"]["experian_gain"], 12)
        self.assertEqual(time_of(event["data"]["created_at"]), datetime(2026, 4, 24, 15, 4, 5, tzinfo=timezone.utc))
        self.assertEqual(time_of(event["timestamp"]), time_of(event["data"]["created_at"]))

    def test_has_the_signature_of_the_standard(self) -> None:
        # the example of the specification of Standard Webhooks
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        signature = signature_of("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}', key_of(secret))
        self.assertEqual(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")

    def test_is_taken_or_refused_as_the_test_vectors_say(self) -> None:
        file = Path(__file__).parents[4] / "docs/signature-vectors.json"
        at = json.loads(file.read_text(encoding="utf-8"))
        for vector in at["vectors"]:
            with self.subTest(vector["name"]):
                webhooks = Webhooks(secrets=vector["secret"], tolerance=time.time() - at["now"] + 300)
                reason = None
                try:
                    webhooks.unwrap(vector["body"], vector["headers"])
                except WebhookVerificationError as refusal:
                    reason = refusal.reason
                self.assertEqual(reason, vector["refused"])

    def test_of_a_type_that_was_added_later_is_one_too(self) -> None:
        later = {"type": "home_bought", "timestamp": "2026-11-21T10:00:00Z", "data": {"lead_id": 1, "my_at": "now"}}
        event = self.webhooks.unwrap(*genuine(json.dumps(later)))
        self.assertEqual(event, later)

    def test_with_more_or_other_fields_than_today_is_one_too(self) -> None:
        bodies: list[Any] = [{"lead_id": 1, "new": [{}]}, {}, None, [], "x"]
        for data in bodies:
            event = self.webhooks.unwrap(*genuine(json.dumps({"type": "score_update", "data": data})))
            self.assertEqual(event["type"], "score_update")

    def test_is_taken_with_any_secret_while_it_is_rotated(self) -> None:
        both = Webhooks(secrets=[SECRET, FORMER])
        for secret in (SECRET, FORMER):
            self.assertEqual(both.unwrap(*request(UPDATE, secret)), UPDATE)
        body, headers = request(UPDATE, FORMER)
        signatures = f"v1a,x v1 v1,é v1,no base64! {headers['webhook-signature']}"
        self.assertEqual(both.unwrap(body, {**headers, "webhook-signature": signatures}), UPDATE)

    def test_is_read_whatever_holds_its_headers(self) -> None:
        body, headers = request(UPDATE, SECRET)
        message = Message()
        for name, value in headers.items():
            message[name.upper()] = value
        environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        titled = {name.title(): value for name, value in headers.items()}
        for each in (headers, message, environ, titled):
            self.assertEqual(self.webhooks.unwrap(body, each), UPDATE)
            self.assertEqual(self.webhooks.unwrap(body.decode(), each), UPDATE)

    def test_is_refused_and_says_why(self) -> None:
        body, headers = request(UPDATE, SECRET)

        def at(seconds: int) -> tuple[bytes, Mapping[str, str]]:
            return request(UPDATE, SECRET, at=datetime.now(timezone.utc) + timedelta(seconds=seconds))

        table: list[tuple[str, str, Any, Mapping[str, str]]] = [
            ("headers", "lacks one of webhook-id", body, {}),
            ("signature", "another secret, or a changed body", body + b" ", headers),
            ("signature", "another secret", *request(UPDATE, FORMER)),
            ("signature", "another secret", body, {**headers, "webhook-id": "msg_é"}),
            ("too_old", "older than 300 s", *at(-301)),
            ("too_new", "check this computer's clock", *at(310)),
            *(
                ("too_old", "older", body, {**headers, "webhook-timestamp": text})
                for text in ("x", "-1", "1e9", "٣", " 1614265330", "1" * 5000)
            ),
            ("too_new", "clock", body, {**headers, "webhook-timestamp": "9" * 12}),
            ("parsed_body", "request.get_data()", json.loads(body), headers),
            *(("body", "not an event in JSON", *genuine(text)) for text in ("", "[]", "{", '{"type": 1}', "[" * 99_999)),
        ]
        for reason, message, each, its_headers in table:
            with self.subTest(reason=reason, message=message):
                refusal = self.refusal(each, its_headers)
                self.assertEqual(refusal.reason, reason)
                self.assertIn(message, str(refusal))

    def test_needs_a_secret_that_is_one(self) -> None:
        for none in ("", "whsec_", "whsec_***", "secret", "whsec_é"):
            with self.assertRaisesRegex(ValueError, "the whsec_… that set-endpoint showed"):
                Webhooks(secrets=none)
        with self.assertRaisesRegex(WebhookVerificationError, "give secrets"):
            Webhooks(secrets=[]).unwrap(*request(UPDATE, SECRET))


class TheFixtures(TestCase):
    def test_are_a_journey_in_its_order_and_one_event_of_each_type(self) -> None:
        way = journey(lead_id=3)
        self.assertEqual([each["data"]["sequence"] for each in way], list(range(1, len(way) + 1)))
        self.assertEqual(len({each["data"]["event_id"] for each in way}), len(way))
        self.assertEqual([each["data"]["created_at"] for each in way], sorted(each["data"]["created_at"] for each in way))
        types = [each["type"] for each in events()]
        self.assertEqual(len(set(types)), len(types))
        for each in events(partner_lead_id=None):
            self.assertEqual(Webhooks(secrets=SECRET).unwrap(*request(each, SECRET)), each)
