"""Why a database can't be used now, in words for whoever has to mend it."""

from __future__ import annotations

import re
import sqlite3

_FULL = "the disk is full ({said}). Make room on it"
_READ_ONLY = "it can only be read ({said}). See who may write it"
_OF_FILE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: f"{_READ_ONLY}, its folder and its disk",
    sqlite3.SQLITE_PERM: f"{_READ_ONLY}, its folder and its disk",
    sqlite3.SQLITE_BUSY: "another process keeps it locked ({said})",
    sqlite3.SQLITE_LOCKED: "another process keeps it locked ({said})",
    sqlite3.SQLITE_IOERR: "its disk fails ({said}). See whether it is full or damaged",
    sqlite3.SQLITE_CANTOPEN: (
        "its file, or one beside it, can't be opened ({said}). See who may write it, its folder and its disk"
    ),
    sqlite3.SQLITE_CORRUPT: "its file is damaged ({said}). Put a backup in its place",
    sqlite3.SQLITE_NOTADB: "its file is no database ({said}). Put a backup in its place",
}
_OF_SERVER = {
    "53100": _FULL,
    "53300": "the server has no connection left ({said})",
    "25006": f"{_READ_ONLY}, and whether the server is the right one",
    "55P03": "somebody keeps a row locked ({said})",
    "57014": "the server has given a statement up ({said}). See its statement_timeout",
    "57P01": "the server has ended the connection ({said})",
    "57P02": "the server has ended the connection ({said})",
    "57P03": "the server is not ready ({said})",
}
#: A server's error is told behind the name of its class.
_CLASS = re.compile(r"^<class '[\w.]+'>: ")
READ_ONLY = "25006"
#: What the driver says of a connection that the server has said to end, and has not ended yet.
_IS_ENDING = "cannot switch to state"


def sqlstate(error: BaseException | None) -> str:
    """Of a server's error; empty for any other."""
    return getattr(error, "sqlstate", None) or ""


def in_a_line(error: BaseException | None) -> str:
    """What a driver or the system says, without what it says besides."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return _CLASS.sub("", first).rstrip(".")


def reason(error: BaseException | None) -> str:
    """``error`` is a driver's."""
    said = in_a_line(error)
    if isinstance(error, sqlite3.Error):
        words = _OF_FILE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "{said}")
    else:
        words = _OF_SERVER.get(sqlstate(error), "{said}")
        if said.startswith(_IS_ENDING):
            words = "the server has ended the connection"
    return words.format(said=said)
