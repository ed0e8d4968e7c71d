from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol


class Seen(Protocol):
    """
    Remembers which webhooks were handled. With a database, `once` is one transaction: it inserts the id, handles, and
    commits, so that the handler's own writes and the id are there both or neither. With PostgreSQL and psycopg::

        class SeenInDatabase:
            def once(self, webhook_id, handle):
                with pool.connection() as connection:
                    # a twin in another process waits here until this one has committed or failed
                    inserted = connection.execute(
                        "insert into webhooks_seen (id) values (%s) on conflict do nothing", [webhook_id]
                    )
                    if inserted.rowcount == 1:
                        handle(connection)
    """

    def once(self, webhook_id: str, handle: Callable[[Any], None], /) -> None:
        """
        Calls `handle`, unless a call with this id has succeeded, with what your handlers want as their second argument.
        Raises, and remembers nothing, if `handle` does.
        """


class InMemory:
    """Remembers the last ids, until the process ends: for tests."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._handled: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def once(self, webhook_id: str, handle: Callable[[Any], None], /) -> None:
        if webhook_id in self._handled:
            return
        handle(None)
        with self._lock:
            self._handled[webhook_id] = None
            if len(self._handled) > self._most:
                self._handled.popitem(last=False)
