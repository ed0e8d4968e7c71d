"""Parts of the generated types that are no schema of the API."""

from __future__ import annotations

from typing import Literal, TypeAlias

OtherName: TypeAlias = Literal["a name that was added later"]
"""
Any string that is not one of the known names. It has this type because with `str`, comparing `event.type` with a known
name would not tell a type checker which kind of event it is.
"""


class Placed:
    """An event of the feed."""

    cursor: str

    @property
    def place(self) -> str:
        """Where to go on once this event is handled: store it, and give it to `follow` as `after`."""
        return self.cursor
