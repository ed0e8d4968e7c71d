from __future__ import annotations

import json
import re
import ssl
import time
import uuid
from collections.abc import Iterator, Mapping
from copy import copy
from http.client import HTTPException
from random import random
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ._calls import ADVANCE_CLOCK, RUN_SCENARIO, TEST_ENDPOINT
from ._connections import Connections, Request
from ._errors import ApiError, NoAnswerError, ReferralsError, error_of
from ._retries import is_worth_repeating, leaves_open, wait_of
from ._shapes import Call
from ._wire import decode

Answer = TypeVar("Answer")

ONCE = (ADVANCE_CLOCK, RUN_SCENARIO, TEST_ENDPOINT)
"""Carrying these out twice is not the same as once, and they take no Idempotency-Key."""


class Transport:
    """Makes the API's calls."""

    def __init__(
        self, api_key: str, base_url: str, timeout: float, deadline: float, ssl_context: ssl.SSLContext | None
    ) -> None:
        if not re.fullmatch("prs_(test|live)_[!-~]+", api_key):
            raise ValueError("api_key must begin with prs_test_ or prs_live_, and end without a space or line break")
        url = urlsplit(base_url.rstrip("/"))
        if url.scheme not in ("http", "https") or not url.hostname or not url.path.endswith("/v1") or url.query:
            raise ValueError("base_url must be a URL that ends in /v1, such as https://api.example.com/v1")
        self._authorization = f"Service-Key {api_key}"
        self._path = url.path
        self._connections = Connections(url, ssl_context)
        self._timeout = positive("timeout", timeout)
        self.deadline = positive("deadline", deadline)

    def within(self, deadline: float) -> Transport:
        other = copy(self)
        other.deadline = deadline
        return other

    def close(self) -> None:
        self._connections.close()

    def call(
        self,
        call: Call[Answer],
        body: Mapping[str, object] | None = None,
        *,
        idempotency_key: str | None = None,
        wait: float = 0,
        repeat: bool = True,
    ) -> Answer:
        """
        `wait`: how long the API may wait before it answers, in seconds, beside what an answer may take. `repeat`: whether
        an attempt that failed is made again; a caller that sees to it says no.

        Raises an `ApiError` if the API refused the call or failed until the deadline, and a `NoAnswerError` if no
        answer came until then.
        """
        request = self._request(call, body, idempotency_key)
        ends = time.monotonic() + self.deadline + wait
        maybe_done = False
        attempt = 1
        while True:
            limit = min(self._timeout + wait, ends - time.monotonic())
            try:
                return self._attempt(call, request, max(0.001, limit))
            except ReferralsError as error:
                if isinstance(error, ApiError):
                    error.maybe_done = maybe_done
                pause = wait_of(attempt, error, random())
                may_pass = repeat and is_worth_repeating(error, call not in ONCE)
                if not may_pass or time.monotonic() + pause > ends:
                    raise
                maybe_done = maybe_done or leaves_open(error)
            time.sleep(pause)
            attempt += 1

    def pages(self, call: Call[Any], filters: Mapping[str, object]) -> Iterator[Any]:
        after = None
        while True:
            page = self.call(call, given(**filters, after=after))
            yield from page.data
            after = page.next
            if after is None:
                return

    def _request(self, call: Call[Answer], body: Mapping[str, object] | None, key: str | None) -> Request:
        headers = {"Authorization": self._authorization}
        if call.keyed:
            headers["Idempotency-Key"] = key = str(uuid.uuid4()) if key is None else key
            # as a header, another one would fail without a word of why
            if not re.fullmatch("[!-~]{1,255}", key):
                raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
        if call.method == "GET":
            return Request(call.method, self._path + call.path, headers, None)
        headers["Content-Type"] = "application/json"
        text = json.dumps(dict(body or {}), allow_nan=False)
        return Request(call.method, self._path + call.path, headers, text.encode())

    def _attempt(self, call: Call[Answer], request: Request, limit: float) -> Answer:
        try:
            response = self._connections.exchange(request, limit, call in ONCE)
        except (OSError, HTTPException) as cause:
            reason = f"within {limit:.3g} s" if isinstance(cause, TimeoutError) else f"({cause or type(cause).__name__})"
            raise NoAnswerError(f"{call.path}: no answer {reason}") from cause
        body = parse(response.body)
        is_json = "json" in response.headers.get("content-type", "")
        if 200 <= response.status < 300 and is_json and not isinstance(body, dict):
            # a proxy passed on the beginning of an answer, and took it for the whole
            raise NoAnswerError(f"{call.path}: the answer was cut off")
        if not 200 <= response.status < 300 or not isinstance(body, dict):
            raise error_of(response.status, response.headers, body)
        answer: Answer = decode(call.answer, body)
        return answer


def parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def positive(name: str, seconds: float) -> float:
    if not seconds > 0:
        raise ValueError(f"{name} must be more than 0 seconds")
    return seconds


def given(**fields: object) -> dict[str, object]:
    """The arguments that a caller gave."""
    return {name: value for name, value in fields.items() if value is not None}
