"""What is looked up by: ids, keys, addresses. Alike on every database: one takes what another refuses."""

from __future__ import annotations

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from agent.errors import Unstorable

#: In UTF-8. Two of them and two numbers fit into an entry of any index.
LONGEST = 1_000


class Name(TypeDecorator[str]):
    """A text that is looked up by. Raises ``Unstorable``, before anything is asked or written."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str):
            # A file's column takes anything, and what was found there is asked for.
            raise Unstorable("a name that is no text")
        if why := why_no_name(value):
            raise Unstorable(f"a name that {why}")
        return value


def why_no_name(value: str) -> str | None:
    """What is wrong with it: it can't be kept, or not found again."""
    if "\0" in value:
        return "holds a NUL"
    if value.isascii():
        length = len(value)
    else:
        try:
            length = len(value.encode())
        except UnicodeEncodeError:
            return "holds half a surrogate pair"
    return f"is longer than {LONGEST} bytes" if length > LONGEST else None
