"""The order of starts and of what can change a verdict: a start is committed before such a fact, or was judged
after it.

Where rows are locked, whoever starts something shares a lock that whoever writes such a fact has to itself, from
its first statement to the commit. It is a lock of its own, with a queue: a switch comes to its turn however many
calls start. Both take it before any row, so that nobody waits for it with a row that the other wants.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Connection, case, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from store.schema import control_head, switches

#: Of the lock. A file has one for all that is written.
VERDICTS_LOCK = 6085301733129478


class _Lock(FunctionElement[int]):
    type = BigInteger()


class _Share(_Lock):
    name = "share_verdicts"
    inherit_cache = True


class _Have(_Lock):
    name = "have_verdicts"
    inherit_cache = True


@compiles(_Share)
@compiles(_Have)
def _of_a_file(element: _Lock, compiler: SQLCompiler, **context: Any) -> str:
    return "0"


@compiles(_Share, "postgresql")
def _share(element: _Share, compiler: SQLCompiler, **context: Any) -> str:
    return f"(SELECT 0 FROM pg_advisory_xact_lock_shared({VERDICTS_LOCK}))"


@compiles(_Have, "postgresql")
def _have(element: _Have, compiler: SQLCompiler, **context: Any) -> str:
    return f"(SELECT 0 FROM pg_advisory_xact_lock({VERDICTS_LOCK}))"


_SHARED, _ALONE = select(_Share()), select(_Have())
_TURNED = select(func.coalesce(func.max(switches.c.turned_seq), 0)).scalar_subquery()
#: The newest fact that can change a verdict. Builds before step 0009 turn switches without moving the head's word of
#: it, and may still run beside this one; they write the switch's row, as all do. (A grant is looked up by whoever
#: starts by it, whoever revoked it.)
VERDICT_SEQ = select(
    case((control_head.c.verdict_seq < _TURNED, _TURNED), else_=control_head.c.verdict_seq).label(
        "verdict_seq"
    )
)


def keep_verdicts(connection: Connection) -> None:
    """From here to the commit nothing that can change a verdict is committed. The first statement."""
    connection.execute(_SHARED)


def change_verdicts(connection: Connection) -> None:
    """From here to the commit nothing starts. The first statement."""
    connection.execute(_ALONE)
