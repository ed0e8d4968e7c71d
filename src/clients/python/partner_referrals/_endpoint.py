from __future__ import annotations

from collections.abc import Sequence

from ._calls import (
    CERTIFY_ENDPOINT,
    GET_ENDPOINT,
    PAUSE_ENDPOINT,
    RESUME_ENDPOINT,
    ROTATE_ENDPOINT_SECRET,
    SET_ENDPOINT,
    TEST_ENDPOINT,
)
from ._transport import Transport, given
from .types import Endpoint, EndpointAfterSetting, EndpointWithSecret, OwnEndpoint, SetEndpointNotify


class EndpointCalls:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> OwnEndpoint:
        return self._transport.call(GET_ENDPOINT).data

    def set(
        self, url: str, *, notify: Sequence[SetEndpointNotify] | None = None, idempotency_key: str | None = None
    ) -> EndpointWithSecret:
        """Stores a URL as a candidate. The answer has its secret, which is shown only there."""
        body = given(url=url, notify=notify)
        answer = self._transport.call(SET_ENDPOINT, body, idempotency_key=idempotency_key).data
        # a new URL always has a new secret
        return EndpointWithSecret(**vars(answer))

    def notify(
        self, about: Sequence[SetEndpointNotify], *, idempotency_key: str | None = None
    ) -> EndpointAfterSetting:
        """What you get webhooks about beside milestones, from now on."""
        return self._transport.call(SET_ENDPOINT, {"notify": about}, idempotency_key=idempotency_key).data

    def certify(self, *, accept_failures: bool | None = None) -> Endpoint:
        """Begins the certification of the candidate: `get().certification` says `running` until it has ended."""
        return self._transport.call(CERTIFY_ENDPOINT, given(accept_failures=accept_failures)).data

    def rotate_secret(
        self, *, overlap_hours: int | None = None, idempotency_key: str | None = None
    ) -> EndpointWithSecret:
        """The answer has the new secret, which is shown only there."""
        body = given(overlap_hours=overlap_hours)
        return self._transport.call(ROTATE_ENDPOINT_SECRET, body, idempotency_key=idempotency_key).data

    def test(self) -> Endpoint:
        """Sends one signed request of type `endpoint.ping`."""
        return self._transport.call(TEST_ENDPOINT).data

    def pause(self) -> Endpoint:
        return self._transport.call(PAUSE_ENDPOINT).data

    def resume(self) -> Endpoint:
        return self._transport.call(RESUME_ENDPOINT).data
