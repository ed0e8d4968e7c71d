from __future__ import annotations

from unittest import TestCase

from partner_referrals import ApiError, NoAnswerError, ReferralsError
from partner_referrals._errors import read_retry_after
from partner_referrals._retries import is_worth_repeating, wait_of


def error(status: int | None, retry_after: int | None = None) -> ReferralsError:
    if status is None:
        return NoAnswerError("no")
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return ApiError("no", code="X", status=status, headers=headers, error={})


class Retries(TestCase):
    def test_are_for_what_may_pass(self) -> None:
        table: list[tuple[int | None, int | None, bool, bool]] = [
            # status, Retry-After, repeated if that is safe, if not
            (None, None, True, False),
            (408, None, True, False),
            (429, None, True, True),
            (500, None, True, False),
            (502, None, True, False),
            (503, 1, True, False),
            (504, None, True, False),
            (409, 1, True, True),
            (409, None, False, False),
            (400, 1, False, False),
            (401, None, False, False),
            (404, None, False, False),
            (422, None, False, False),
            (501, None, False, False),
            (302, None, False, False),
            (200, None, False, False),
        ]
        for status, retry_after, safe, unsafe in table:
            with self.subTest(status=status, retry_after=retry_after):
                self.assertEqual(is_worth_repeating(error(status, retry_after), True), safe)
                self.assertEqual(is_worth_repeating(error(status, retry_after), False), unsafe)

    def test_wait_twice_as_long_each_time_without_a_random_part(self) -> None:
        waits = [wait_of(attempt, error(503), 0) for attempt in (1, 2, 3, 4, 5, 6, 10_000)]
        self.assertEqual(waits, [0.5, 1, 2, 4, 8, 8, 8])
        self.assertEqual(wait_of(3, error(503), 1), 1)
        self.assertEqual(wait_of(3, error(429, 900), 1), 900)

    def test_wait_a_little_if_they_need_not_wait(self) -> None:
        for attempt in (1, 2, 10_000):
            self.assertEqual(wait_of(attempt, error(503, 0), 1), 0.1)

    def test_read_seconds_and_nothing_else(self) -> None:
        for header, seconds in {"0": 0, " 7 ": 7, "-1": None, "1.5": None, "٣": None, "9" * 10: None, "": None}.items():
            self.assertEqual(read_retry_after(header), seconds)
        self.assertIsNone(read_retry_after("Wed, 01 Mar 2028 00:00:00 GMT"))
        self.assertIsNone(read_retry_after(None))
