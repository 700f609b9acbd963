"""Rows in the order of their runs' names: whoever locks several locks them in this order."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class ByName(FunctionElement[str]):
    """A column of names as Python sorts them, whatever the language of the database."""

    name = "by_name"
    type = Text()
    inherit_cache = True


@compiles(ByName)
def _as_it_is(element: ByName, compiler: SQLCompiler, **context: Any) -> str:
    return compiler.process(element.clauses, **context)


@compiles(ByName, "postgresql")
def _by_bytes(element: ByName, compiler: SQLCompiler, **context: Any) -> str:
    return compiler.process(element.clauses, **context) + ' COLLATE "C"'
