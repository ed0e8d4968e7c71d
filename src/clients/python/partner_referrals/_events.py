from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from random import random

from ._calls import LIST_EVENTS
from ._errors import ReferralsError
from ._retries import is_worth_repeating, wait_of
from ._transport import Transport, given
from .types import FeedEvent, ListEventsResponse

log = logging.getLogger("partner_referrals")

WAIT = 25
LIMIT = 100


class Events:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        wait: int | None = None,
        webhooks: bool | None = None,
    ) -> ListEventsResponse:
        """
        One page of the feed, for those who keep their own loop. `wait` is in seconds, and comes on top of the timeout
        and the deadline. With `webhooks`, events have their `webhook_body`.
        """
        request = given(after=after, limit=limit, wait=wait, webhooks=webhooks)
        return self._transport.call(LIST_EVENTS, request, wait=wait or 0)

    def follow(self, *, after: str | None = None, stop: threading.Event | None = None) -> Iterator[FeedEvent]:
        """
        The events of all leads as they happen, each once and each lead's in order, without an end: through restarts of
        the service and failures of the network. Store `event.place` after you have handled an event, and begin there
        again with `after`; `now` skips what there is.

        Once `stop` is set, no event comes any more, and it ends: with the answer that it waits for, within 25 seconds, or
        the client's `timeout` later if none comes. What cannot pass by itself is raised: a refused key, and a
        `CursorLostError` if the service lost the place; its `place` is where to go on.
        """
        stop = stop or threading.Event()
        place = after
        attempt = 1
        while not stop.is_set():
            try:
                # repeated here, where a stop ends the pause
                request = given(after=place, limit=LIMIT, wait=WAIT)
                page = self._transport.call(LIST_EVENTS, request, wait=WAIT, repeat=False)
            except ReferralsError as error:
                # an outage ends some time, and the feed goes on where it was
                if not is_worth_repeating(error, True):
                    raise
                wait = wait_of(attempt, error, random())
                log.warning("The feed of events is interrupted, next attempt in %.1f s: %s", wait, error)
                stop.wait(wait)
                attempt += 1
                continue
            attempt = 1
            for event in page.data:
                if stop.is_set():
                    return
                yield event
            place = page.next
