"""Between JSON and the types of `types`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

from ._calls import SHAPES
from ._shapes import ISO, REST, TIME, ListOf, OneOf, Shape


def decode(shape: Shape | None, value: Any) -> Any:
    """What is not as the API describes it stays as it came: an answer of a later version is no reason to fail."""
    if shape is None or value is None:
        return value
    if shape is TIME or shape is ISO:
        return read_time(value)
    if isinstance(shape, ListOf):
        return [decode(shape.item, each) for each in value] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    if isinstance(shape, OneOf):
        kind = value.get(shape.by)
        known = shape.kinds.get(kind) if isinstance(kind, str) else None
        return decode_object(known or shape.other or SimpleNamespace, value)
    return decode_object(shape, value) if isinstance(shape, type) else value


def decode_object(cls: type[Any], value: Mapping[str, Any]) -> Any:
    if not is_dataclass(cls):
        return cls(**value)
    shapes = SHAPES.get(cls, {})
    names = [field.name for field in fields(cls) if shapes.get(field.name) is not REST]
    known = {name: decode(shapes.get(name), value.get(name)) for name in names}
    for field in fields(cls):
        if shapes.get(field.name) is REST:
            known[field.name] = {name: each for name, each in value.items() if name not in names}
    return cls(**known)


def encode(value: Any, shape: Shape | None = None) -> Any:
    """The opposite, for webhooks in tests."""
    if isinstance(value, datetime):
        text = value.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        return f"{text.replace(' ', 'T')}Z" if shape is ISO else text
    if is_dataclass(value) and not isinstance(value, type):
        shapes = SHAPES.get(type(value), {})
        return {field.name: encode(getattr(value, field.name), shapes.get(field.name)) for field in fields(value)}
    return value


def read_time(value: Any) -> Any:
    """`2026-11-21 20:57:56`, which is UTC, or ISO 8601; what is neither stays as it is."""
    try:
        # Python 3.10 knows no Z
        time = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return value
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)
