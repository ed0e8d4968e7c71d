from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Turns:
    """Work of each lead is done one at a time, in the order of its coming; a lock would wake any of the waiting threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: dict[str, Event] = {}

    @contextmanager
    def of(self, lead: str) -> Iterator[None]:
        over = Event()
        with self._lock:
            before = self._last.get(lead)
            self._last[lead] = over
        try:
            if before is not None:
                before.wait()
            yield
        finally:
            with self._lock:
                if self._last[lead] is over:
                    del self._last[lead]
            over.set()
