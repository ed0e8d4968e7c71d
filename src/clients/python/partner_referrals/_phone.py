from __future__ import annotations

import re

from ._errors import InvalidPayloadError, WrongField

TAKEN = re.compile(r"[ +-]*[0-9][0-9 +-]*")
"""What the API takes."""
EXTENSION = re.compile(r"(x|ext|extension|#)[\s.:=]*[0-9]{1,7}\s*$", re.IGNORECASE)


def phone_number(phone: str) -> str:
    """
    A phone number as people write it, in the digits, hyphens, spaces and `+` that the API takes: `(310) 555-1212 x4` is
    `310 555-1212`. Raises an `InvalidPayloadError` if it is none.
    """
    if TAKEN.fullmatch(phone):
        return phone
    plain = re.sub(r"[(),;\s]+", " ", re.sub(r"[./\u2010-\u2015]", "-", EXTENSION.sub("", phone))).strip()
    if TAKEN.fullmatch(plain):
        return plain
    field = WrongField("phone", "must be a phone number: digits, hyphens, spaces and +")
    message = f"Invalid request: {field.field} {field.problem}."
    raise InvalidPayloadError(message, code="INVALID_PAYLOAD", status=400, fields=(field,))
