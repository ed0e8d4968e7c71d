from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol


class Seen(Protocol):
    """
    Remembers which webhooks were handled. With a database, `once` is one transaction: it inserts the id, handles with
    what your handler wants as its second argument, and commits. The README has it.
    """

    def once(self, webhook_id: str, handle: Callable[[Any], object], /) -> None:
        """Calls `handle`, unless a call with this id has succeeded. Raises, and remembers nothing, if `handle` does."""


class InMemory:
    """Remembers the last ids, until the process ends, and handles one webhook at a time: for tests."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._handled: dict[str, None] = {}
        self._lock = Lock()

    def once(self, webhook_id: str, handle: Callable[[Any], object], /) -> None:
        with self._lock:
            if webhook_id in self._handled:
                return
            handle(None)
            self._handled[webhook_id] = None
            if len(self._handled) > self._most:
                del self._handled[next(iter(self._handled))]
