from __future__ import annotations

import json
import re
import ssl
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from http.client import HTTPException
from math import inf
from random import random
from threading import Event
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

from . import types
from ._calls import Calls
from ._errors import ApiError, NoAnswerError, ReferralsError, error_of
from ._exchange import exchange
from ._retries import is_worth_repeating, leaves_open, wait_of
from ._webhooks import Webhooks

ONCE = ("/sandbox/advance-clock", "/sandbox/run-scenario", "/test-endpoint")
"""Calls that are not idempotent, and take no Idempotency-Key."""
PAUSE = 0.25  # seconds between two looks at a certification


class Referrals(Calls):
    """
    The Partner Referral Service for a lender's systems, with a method for each call of the API. Each raises an `ApiError`
    if the API refused it, and a `NoAnswerError` if no answer came until the deadline. Threads may share an instance.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        webhook_secrets: str | Iterable[str] = (),
        timeout: float = 20.0,
        deadline: float = 60.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """
        `webhook_secrets` is for `webhooks`: the endpoint's secret, and while it is rotated, the previous one too. `timeout`
        is for one attempt and `deadline` for a call with all its attempts, both in seconds; the `wait` of a call comes on
        top. `ssl_context` is for certificate authorities that Python does not know.
        """
        if not re.fullmatch("prs_(test|live)_[!-~]+", api_key):
            raise ValueError("api_key must begin with prs_test_ or prs_live_, and end without a space or line break")
        url = self._url = urlsplit(base_url.rstrip("/"))
        if url.scheme not in ("http", "https") or not url.hostname or not url.path.endswith("/v1") or url.query:
            raise ValueError("base_url must be a URL that ends in /v1, such as https://api.example.com/v1")
        self._authorization = f"Service-Key {api_key}"
        self._tls = (ssl_context or ssl.create_default_context()) if url.scheme == "https" else None
        self._timeout = positive("timeout", timeout)
        self._deadline = positive("deadline", deadline)
        self.webhooks = Webhooks(secrets=webhook_secrets)

    def within(self, seconds: float) -> Referrals:
        """A client with another deadline: `referrals.within(5).ping()`."""
        other = copy(self)
        other._deadline = positive("seconds", seconds)
        return other

    def leads(self, filters: types.ListLeadsRequest | None = None) -> Iterator[types.LeadSummary]:
        """Your leads, newest first and without personal data, read page by page: `limit` is the length of a page."""
        return each_of(self.list_leads, filters)

    def deliveries(self, filters: types.GetDeliveriesRequest | None = None) -> Iterator[types.Delivery]:
        """Your webhooks with their attempts, newest first, read page by page."""
        return each_of(self.get_deliveries, filters)

    def events(self, *, after: str | None = None, stop: Event | None = None) -> Iterator[types.FeedEvent]:
        """
        The events of all leads as they happen, each once and each lead's in order, without an end. It goes on through
        restarts of the service and network failures, and raises what cannot pass by itself: a refused key, and a
        `CursorLostError`, after whose `cursor` to continue. Store `event["cursor"]` after you have handled an event, and
        begin there with `after`; `now` skips the events so far.

        Once `stop` is set, no more events come, and it ends within 25 seconds, or the client's `timeout` later.
        """
        stop = stop or Event()
        while not stop.is_set():
            request = {"after": after, "limit": 100, "wait": 25}
            try:
                # without a deadline: after an outage, the feed goes on where it was
                page: types.ListEventsResponse = self._attempts("POST", "/list-events", request, {}, inf, stop)
            except ReferralsError:
                if not stop.is_set():
                    raise
                return
            for event in page["data"]:
                if stop.is_set():
                    return
                yield event
            after = page["next"]

    def certify(self, request: types.CertifyEndpointRequest | None = None) -> types.Endpoint:
        """
        Certifies the candidate of your endpoint, and waits until all checks have ended.

        Raises a `NoAnswerError` if the certification has not ended at the deadline, which is for all of this; it goes on.
        """
        ends = monotonic() + self._deadline
        try:
            self.certify_endpoint(request)
        except ApiError as error:
            # an attempt whose answer was lost has begun the certification, which has ended since
            if error.code != "NO_CANDIDATE" or not error.maybe_done:
                raise
        while monotonic() < ends:
            endpoint = self.within(max(0.001, ends - monotonic())).get_endpoint()["data"]
            certification = endpoint["certification"]
            if certification is None or certification["state"] != "running":
                return endpoint
            sleep(PAUSE)
        raise NoAnswerError("the certification has not ended: get_endpoint shows it")

    def _call(self, method: str, path: str, request: Any = None, keyed: bool = False, key: str | None = None) -> Any:
        headers = {}
        if keyed:
            headers["Idempotency-Key"] = key = str(uuid.uuid4()) if key is None else key
            # as a header, another one would fail without a word of why
            if not re.fullmatch("[!-~]{1,255}", key):
                raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
        return self._attempts(method, path, request or {}, headers, self._deadline, Event())

    def _attempts(
        self, method: str, path: str, request: Mapping[str, Any], more: dict[str, str], deadline: float, stop: Event
    ) -> Any:
        headers = {"Authorization": self._authorization, "Content-Type": "application/json", **more}
        body = json.dumps(dict(request), allow_nan=False).encode() if method == "POST" else None
        # how long the API may wait before it answers, beside what an answer may take
        wait = request.get("wait") or 0
        ends = monotonic() + deadline + wait
        maybe_done = False
        attempt = 1
        while True:
            limit = max(0.001, min(self._timeout + wait, ends - monotonic()))
            try:
                return self._attempt(method, path, headers, body, limit)
            except ReferralsError as error:
                if isinstance(error, ApiError):
                    error.maybe_done = maybe_done
                pause = wait_of(attempt, error, random())
                may_pass = is_worth_repeating(error, path not in ONCE) and monotonic() + pause <= ends
                if not may_pass or stop.wait(pause):
                    raise
                maybe_done = maybe_done or leaves_open(error)
            attempt += 1

    def _attempt(self, method: str, path: str, headers: dict[str, str], body: bytes | None, limit: float) -> Any:
        url = self._url._replace(path=self._url.path + path)
        try:
            status, names, received = exchange(url, self._tls, method, headers, body, limit)
        except (OSError, HTTPException) as cause:
            reason = f"within {limit:.3g} s" if isinstance(cause, TimeoutError) else f"({cause or type(cause).__name__})"
            raise NoAnswerError(f"{path}: no answer {reason}") from cause
        try:
            answer = json.loads(received)
        except (ValueError, RecursionError):
            answer = None
        is_ok = 200 <= status < 300
        if is_ok and isinstance(answer, dict):
            return answer
        # a proxy passed on the beginning of an answer, and took it for the whole
        raise NoAnswerError(f"{path}: the answer was cut off") if is_ok and received[:1] == b"{" else error_of(
            status, names, answer
        )


def each_of(read: Callable[[Any], Any], filters: Any) -> Iterator[Any]:
    page = read(filters)
    yield from page["data"]
    while page["next"] is not None:
        page = read({**(filters or {}), "after": page["next"]})
        yield from page["data"]


def positive(name: str, seconds: float) -> float:
    if not seconds > 0:
        raise ValueError(f"{name} must be more than 0 seconds")
    return seconds
