"""Whether and when a call is made again: pure, so that the worst cases are a table in the tests."""

from __future__ import annotations

from ._errors import ApiError, ReferralsError

SHORTEST_WAIT, FIRST_WAIT, LONGEST_WAIT = 0.1, 0.5, 8.0
"""The shortest one keeps a `Retry-After` of 0 from causing hundreds of attempts a second."""
TEMPORARY = (408, 429, 500, 502, 503, 504)
"""Statuses after which the same request may succeed; only 429 says that nothing was carried out."""


def is_worth_repeating(error: ReferralsError, may_repeat: bool) -> bool:
    """`may_repeat`: whether carrying the request out twice is the same as once."""
    if not isinstance(error, ApiError):
        return may_repeat
    # a temporary conflict has a Retry-After
    if error.status == 409:
        return error.retry_after is not None
    return error.status in TEMPORARY if may_repeat else error.status == 429


def leaves_open(error: ReferralsError) -> bool:
    """Whether the request may have been carried out, although the answer does not say so."""
    return not isinstance(error, ApiError) or error.status == 408 or error.status >= 500


def wait_of(attempt: int, error: ReferralsError, random: float) -> float:
    """
    In seconds: what the API asks for; else twice the wait before, of which a random half is left out, so that many
    clients don't come back at the same time. `attempt` is 1 after the first, `random` from 0 to 1.
    """
    if isinstance(error, ApiError) and error.retry_after is not None:
        return max(SHORTEST_WAIT, error.retry_after)
    # the power of a long outage would be too large for a float
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempt - 1, 10)) * (1 - random / 2)
