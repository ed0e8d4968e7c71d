from __future__ import annotations

import re
from datetime import datetime, timezone

EXTENSION = re.compile(r"(x|ext|extension|#)[\s.:=]*[0-9]{1,7}\s*$", re.IGNORECASE)


def time_of(text: str) -> datetime:
    """A time of the API: `2026-11-21 20:57:56`, which is UTC, or ISO 8601."""
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def phone_number(text: str) -> str:
    """
    A phone number as people write it, in the digits, hyphens, spaces and `+` that create-lead takes: `(310) 555-1212 x4`
    is `310 555-1212`. What is no number is refused by create-lead.
    """
    hyphenated = re.sub(r"[./\u2010-\u2015]", "-", EXTENSION.sub("", text))
    return re.sub(r"[(),;\s]+", " ", hyphenated).strip()
