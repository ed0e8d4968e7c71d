"""The words in which `_calls` says how values look on the wire. A field that it leaves out is as it came."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Call(Generic[Answer]):
    method: str
    path: str
    answer: type[Answer]
    keyed: bool = False
    """Whether it takes an Idempotency-Key."""


class Mark(Enum):
    TIME = "2026-03-02 15:04:05, in UTC"
    ISO = "2026-03-02T15:04:05Z"
    REST = "all fields that the class has no name for"


TIME, ISO, REST = Mark.TIME, Mark.ISO, Mark.REST


@dataclass(frozen=True)
class ListOf:
    item: Shape


@dataclass(frozen=True)
class OneOf:
    by: str
    """The field that tells the kinds apart."""
    kinds: dict[str, type[Any]]
    other: type[Any] | None
    """For a kind that was added later."""


Shape: TypeAlias = Mark | ListOf | OneOf | type[Any]
