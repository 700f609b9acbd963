"""The root of all errors."""

from __future__ import annotations


class PilothouseError(Exception):
    """The root of everything that Pilothouse raises on purpose."""

    #: A stable name for programs (HTTP error codes, ``--json``).
    code = "error"
