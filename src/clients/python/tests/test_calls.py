from __future__ import annotations

import inspect
import json
import re
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from time import monotonic
from unittest import TestCase, mock

from partner_referrals import (
    API_VERSION,
    ApiError,
    AuthFailedError,
    CursorLostError,
    InvalidPayloadError,
    NoAnswerError,
    RateLimitedError,
    Referrals,
    phone_number,
    time_of,
)
from partner_referrals.types import CreateLeadRequest

from .scripted_api import ScriptedApi, Step, answers, drips, dropped, failure

ROOT = Path(__file__).parents[4]
DOCUMENT = json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))
LEAD: CreateLeadRequest = {
    "first_name": "Ada",
    "last_name": "Miller",
    "email": "ada@example.com",
    "phone": "555-0100",
}
CREATED = {"success": True, "message": "Lead created.", "lead_id": 7}
NOW = {"retry-after": "0"}
PHONES = {
    " 555-0100": "555-0100",
    "(310) 555-1212": "310 555-1212",
    "310.555.1212": "310-555-1212",
    "+1 310 555 1212 x4": "+1 310 555 1212",
    "310/555/1212, Ext. 12": "310-555-1212",
    "+1\u00a0(310)\u00a0555\u20111212#7": "+1 310 555-1212",
}
"""As they are written and sent: the TypeScript client's tests have the same."""


class Calls(TestCase):
    def test_are_all_that_the_api_has(self) -> None:
        api = ScriptedApi(self, answers(200, {"success": True}))
        for methods in DOCUMENT["paths"].values():
            for operation in methods.values():
                method = getattr(api.client(), re.sub("(?=[A-Z])", "_", operation["operationId"]).lower())
                method(*({} for _ in inspect.signature(method).parameters if _ == "request"))
        self.assertEqual([made.path for made in api.requests], [f"/v1{path}" for path in DOCUMENT["paths"]])

    def test_send_and_answer_what_the_reference_says(self) -> None:
        lead = {"id": 7, "first_name": "Ada", "created_at": "2026-11-21 20:57:56", "my_at": "x"}
        api = ScriptedApi(self, answers(200, {"success": True, "data": lead}))
        got = api.client().get_lead({"lead_id": 7})["data"]
        self.assertEqual(got, lead)
        self.assertEqual(time_of(got["created_at"]), datetime(2026, 11, 21, 20, 57, 56, tzinfo=timezone.utc))
        api.client().update_partner_info({"lead_id": 7, "loan_product": None, "my_field": "é"})
        self.assertEqual(api.requests[0].body, {"lead_id": 7})
        self.assertEqual(api.requests[1].body, {"lead_id": 7, "loan_product": None, "my_field": "é"})
        self.assertEqual(api.requests[1].headers["Authorization"], "Service-Key prs_test_1")

    def test_are_repeated_with_one_key_when_the_answer_is_lost_or_refused_for_now(self) -> None:
        api = ScriptedApi(
            self,
            dropped,
            answers(503, failure("SERVICE_UNAVAILABLE"), NOW),
            answers(429, failure("RATE_LIMITED"), NOW),
            answers(502, "<html>Bad Gateway</html>", NOW),
            answers(408, failure("A_NEW_CODE"), NOW),
            # as a proxy that loses its connection halfway
            answers(200, '{"success":tr', {"content-type": "application/json"}),
            answers(200, CREATED),
        )
        self.assertEqual(api.client().create_lead(LEAD), CREATED)
        self.assertEqual(len(api.requests), 7)
        self.assertEqual(len(set(api.keys)), 1)
        self.assertRegex(str(api.keys[0]), r"^[\da-f-]{36}$")
        api.client().create_lead(LEAD, idempotency_key="loan-118")
        self.assertEqual(api.keys[-1], "loan-118")

    def test_are_not_repeated_when_they_would_be_done_twice(self) -> None:
        api = ScriptedApi(self, answers(503, failure("SERVICE_UNAVAILABLE"), NOW))
        with self.assertRaises(ApiError):
            api.client().advance_clock({"lead_id": 7, "days": 45})
        self.assertEqual(len(api.requests), 1)
        lost = ScriptedApi(self, dropped)
        with self.assertRaises(NoAnswerError):
            lost.client().run_scenario({"scenario": "chatty_borrower"})
        self.assertEqual(len(lost.requests), 1)

    def test_repeat_a_conflict_only_if_it_says_when(self) -> None:
        passes = ScriptedApi(
            self, answers(409, failure("CLOCK_MOVING"), NOW), answers(200, {"success": True, "data": {}})
        )
        passes.client().advance_clock({"lead_id": 7, "days": 45})
        self.assertEqual(len(passes.requests), 2)
        stays = ScriptedApi(self, answers(409, failure("NO_ENDPOINT")))
        with self.assertRaises(ApiError) as raised:
            stays.client().test_endpoint()
        self.assertEqual((raised.exception.code, raised.exception.status), ("NO_ENDPOINT", 409))
        self.assertEqual(len(stays.requests), 1)

    def test_see_that_a_certification_whose_answer_was_lost_has_ended_already(self) -> None:
        none = answers(409, failure("NO_CANDIDATE"))
        for open_end in (dropped, answers(408, failure("A_NEW_CODE"), NOW), answers(502, "Bad Gateway", NOW)):
            # what is refused afterwards does not close it
            lost = ScriptedApi(self, open_end, answers(429, failure("RATE_LIMITED"), NOW), none, certification("passed"))
            found = lost.client().certify()["certification"]
            assert found is not None
            self.assertEqual(found["state"], "passed")
            self.assertEqual([made.path for made in lost.requests[-2:]], ["/v1/certify-endpoint", "/v1/get-endpoint"])
        # refused, so nothing was begun
        refused = ScriptedApi(self, answers(429, failure("RATE_LIMITED"), NOW), none, certification("passed"))
        with self.assertRaises(ApiError) as raised:
            refused.client().certify()
        self.assertEqual((raised.exception.code, raised.exception.maybe_done), ("NO_CANDIDATE", False))

    def test_wait_for_a_certification_within_one_deadline(self) -> None:
        api = ScriptedApi(self, certification("running"), drips)
        with mock.patch("partner_referrals._client.PAUSE", 0.1):
            # what is left of the deadline of 1 s
            with self.assertRaisesRegex(NoAnswerError, r"^/get-endpoint: no answer within 0\.\d+ s$"):
                api.client(deadline=1).certify()
        self.assertEqual([made.path for made in api.requests], ["/v1/certify-endpoint", "/v1/get-endpoint"])

    def test_raise_errors_with_all_that_the_api_said(self) -> None:
        fields = [{"field": "email", "problem": "must be a valid email address"}]
        api = ScriptedApi(
            self,
            answers(400, failure("INVALID_PAYLOAD", fields=fields), {"x-request-id": "req_1"}),
            answers(401, failure("AUTH_FAILED")),
            answers(418, failure("A_NEW_CODE")),
            answers(400, failure("INVALID_PAYLOAD", next="1-2-3-4")),
            answers(429, failure("RATE_LIMITED"), {"retry-after": "900"}),
            answers(200, "<html>Sign in</html>"),
            answers(302, CREATED, {"location": "http://127.0.0.1:1/v1/create-lead"}),
            answers(400, {"error": {"code": ["x"], "message": None, "fields": [7, {}]}}),
        )
        client = api.client()

        def refusal() -> ApiError:
            with self.assertRaises(ApiError) as raised:
                client.create_lead(LEAD)
            return raised.exception

        invalid = refusal()
        self.assertIsInstance(invalid, InvalidPayloadError)
        self.assertEqual((invalid.code, invalid.status, invalid.request_id), ("INVALID_PAYLOAD", 400, "req_1"))
        self.assertEqual(invalid.fields, fields)
        self.assertIsInstance(refusal(), AuthFailedError)
        unknown = refusal()
        self.assertEqual((type(unknown), unknown.code), (ApiError, "A_NEW_CODE"))
        lost = refusal()
        assert isinstance(lost, CursorLostError)
        self.assertEqual(lost.cursor, "1-2-3-4")
        # longer than the call's deadline: the caller decides
        limited = refusal()
        self.assertIsInstance(limited, RateLimitedError)
        self.assertEqual(limited.retry_after, 900)
        self.assertEqual((refusal().code, refusal().status), ("NO_CODE", 302))
        self.assertEqual(refusal().status, 400)
        self.assertEqual(len(api.requests), 8)

    def test_end_at_their_deadline_whatever_the_service_sends(self) -> None:
        api = ScriptedApi(self, drips)
        begun = monotonic()
        with self.assertRaisesRegex(NoAnswerError, r"^/get-lead: no answer within 0\.\d+ s$"):
            api.client().within(0.1).get_lead({"lead_id": 7})
        self.assertLess(monotonic() - begun, 5)
        self.assertEqual(len(api.requests), 1)

    def test_wait_for_events_beyond_what_an_attempt_may_take(self) -> None:
        client = ScriptedApi(self, drips).client(timeout=0.03, deadline=0.03)
        with self.assertRaisesRegex(NoAnswerError, r"within 0\.0\d* s$"):
            client.list_events()
        with self.assertRaisesRegex(NoAnswerError, r"within (1|0\.[5-9])"):
            client.list_events({"wait": 1})

    def test_say_at_once_what_is_wrong_with_a_key_or_an_address(self) -> None:
        for key in ("", "sk_live_1", "prs_test_1\n", "prs_test_"):
            with self.assertRaisesRegex(ValueError, "^api_key must begin with prs_test_ or prs_live_"):
                Referrals(api_key=key, base_url="https://api.example.com/v1")
        for url in ("api.example.com/v1", "https://api.example.com", "ftp://api.example.com/v1"):
            with self.assertRaisesRegex(ValueError, "^base_url must be a URL that ends in /v1"):
                Referrals(api_key="prs_test_1", base_url=url)
        api = ScriptedApi(self, answers(200, CREATED))
        for seconds in (0, -1, float("nan")):
            for option in ("timeout", "deadline"):
                with self.assertRaisesRegex(ValueError, f"^{option} must be more than 0 seconds"):
                    api.client(**{option: seconds})
            with self.assertRaisesRegex(ValueError, "^seconds must be more than 0 seconds"):
                api.client().within(seconds)
        for idempotency_key in ("", "loan 118", "a\r\nx: y", "schlüssel-€", "x" * 256):
            with self.assertRaisesRegex(ValueError, "^idempotency_key must be 1 to 255 visible ASCII characters"):
                api.client().create_lead(LEAD, idempotency_key=idempotency_key)
        self.assertEqual(api.requests, [])

    def test_write_phone_numbers_as_the_api_takes_them(self) -> None:
        self.assertEqual([phone_number(written) for written in PHONES], list(PHONES.values()))

    def test_read_lists_page_by_page(self) -> None:
        api = ScriptedApi(
            self,
            answers(200, {"success": True, "data": [{"lead_id": 3}, {"lead_id": 2}], "next": 2}),
            answers(200, {"success": True, "data": [{"lead_id": 1}], "next": None}),
        )
        leads = api.client().leads({"status": "escrow_funded"})
        self.assertEqual([lead["lead_id"] for lead in leads], [3, 2, 1])
        self.assertEqual(
            [made.body for made in api.requests],
            [{"status": "escrow_funded"}, {"status": "escrow_funded", "after": 2}],
        )

    def test_are_of_the_version_of_the_document(self) -> None:
        project = (ROOT / "src/clients/python/pyproject.toml").read_text("utf-8")
        self.assertEqual(API_VERSION, DOCUMENT["info"]["version"])
        self.assertIn(f'\nversion = "{API_VERSION}"\n', project)


def certification(state: str) -> Step:
    return answers(200, {"success": True, "data": {"certification": {"state": state}}})
