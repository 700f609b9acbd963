"""How many rows a statement gives at most: any number may be asked for, and means the same everywhere."""

from __future__ import annotations

from sqlalchemy import BigInteger, bindparam
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_ALL = 2**63 - 1


class _AtMost(TypeDecorator[int]):
    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        """Less than none is none: one database would give all of them, and another fail."""
        return None if value is None else min(max(value, 0), _ALL)


#: Written into the statement: a server that keeps a plan for any number takes it for a tenth of all rows, and finds
#: what that would be worth instead of what a page is.
AT_MOST = bindparam("at_most", type_=_AtMost, literal_execute=True)
