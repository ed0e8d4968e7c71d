from __future__ import annotations

import time
from collections.abc import Mapping

from ._calls import (
    CERTIFY_ENDPOINT,
    GET_ENDPOINT,
    PAUSE_ENDPOINT,
    RESUME_ENDPOINT,
    ROTATE_ENDPOINT_SECRET,
    SET_ENDPOINT,
    TEST_ENDPOINT,
)
from ._errors import ApiError, NoAnswerError
from ._transport import Transport, given
from .types import Endpoint, EndpointWithSecret, OwnEndpoint, TestRequest

PAUSE = 0.5
"""Seconds between two looks at a certification."""


class EndpointCalls:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> OwnEndpoint:
        return self._transport.call(GET_ENDPOINT).data

    def set(self, url: str, *, idempotency_key: str | None = None) -> EndpointWithSecret:
        """Stores a URL as a candidate. The answer has its secret, which is shown only there."""
        return self._transport.call(SET_ENDPOINT, {"url": url}, idempotency_key=idempotency_key).data

    def certify(self, *, accept_failures: bool | None = None, wait: bool = False) -> Endpoint | OwnEndpoint:
        """
        Certifies the candidate: the service sends it six requests. With `wait`, the answer comes when all checks have
        ended; else `get().certification` says `running` until then.

        Raises a `NoAnswerError` if the certification has not ended at the deadline, which is for all of this; it goes on.
        """
        ends = time.monotonic() + self._transport.deadline
        endpoint = self._certify(given(accept_failures=accept_failures), ends)
        while wait and endpoint.certification is not None and endpoint.certification.state == "running":
            if time.monotonic() + PAUSE > ends:
                raise NoAnswerError("the certification has not ended: endpoint.get() shows it")
            time.sleep(PAUSE)
            endpoint = self._get(ends)
        return endpoint

    def _certify(self, request: Mapping[str, object], ends: float) -> Endpoint | OwnEndpoint:
        try:
            return self._transport.call(CERTIFY_ENDPOINT, request).data
        except ApiError as error:
            # an attempt whose answer was lost has begun it, and it has ended since
            if error.code == "NO_CANDIDATE" and error.maybe_done:
                return self._get(ends)
            raise

    def _get(self, ends: float) -> OwnEndpoint:
        """Takes no longer than until then."""
        return self._transport.within(ends - time.monotonic()).call(GET_ENDPOINT).data

    def rotate_secret(
        self, *, overlap_hours: int | None = None, idempotency_key: str | None = None
    ) -> EndpointWithSecret:
        """The answer has the new secret, which is shown only there."""
        body = given(overlap_hours=overlap_hours)
        return self._transport.call(ROTATE_ENDPOINT_SECRET, body, idempotency_key=idempotency_key).data

    def test(self) -> TestRequest:
        """Sends one signed request of type `endpoint.ping`, and answers how the endpoint responded."""
        return self._transport.call(TEST_ENDPOINT).data

    def pause(self) -> Endpoint:
        return self._transport.call(PAUSE_ENDPOINT).data

    def resume(self) -> Endpoint:
        return self._transport.call(RESUME_ENDPOINT).data
