from __future__ import annotations

import time
from collections.abc import Callable


def until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + 40
    while not is_so():
        assert time.monotonic() < ends, "it took too long"
        time.sleep(0.05)
