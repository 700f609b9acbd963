"""A tool's own logger: every line names run, call and tool, and known secrets don't get through."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Any

from agent.rules.known_secrets import KnownSecrets


class ToolLogger(logging.LoggerAdapter[logging.Logger]):
    """``extra`` of each record holds ``run_id``, ``call_id`` and ``tool``. What is logged is put into words at
    once, with its traceback, for a secret may stand in either."""

    def __init__(
        self, name: str, named: Mapping[str, str], secrets: KnownSecrets | None = None
    ) -> None:
        super().__init__(logging.getLogger(name), dict(named))
        self._named = dict(named)
        self._secrets = secrets or KnownSecrets()

    def log(self, level: int, msg: object, *args: Any, **kwargs: Any) -> None:
        if not self.isEnabledFor(level):
            return
        said = self._secrets.hide(_in_words(msg, args) + _traceback(kwargs.pop("exc_info", None)))
        own = kwargs.pop("extra", None) or {}
        extra = {name: self._hidden(value) for name, value in own.items()} | self._named
        # One more frame than the caller's: this one.
        stacklevel = kwargs.pop("stacklevel", 1) + 1
        where = " ".join(self._named.values())
        self.logger.log(
            level,
            "%s: %s" if where else "%s%s",
            where,
            said,
            extra=extra,
            stacklevel=stacklevel,
            **kwargs,
        )

    def _hidden(self, value: Any) -> Any:
        return self._secrets.hide(value) if isinstance(value, str) else value


def _in_words(msg: object, args: tuple[Any, ...]) -> str:
    try:
        values = args[0] if len(args) == 1 and isinstance(args[0], Mapping) and args[0] else args
        return str(msg) % values if args else str(msg)
    except Exception as error:
        # As the library does: a wrong message fails no program.
        return f"(a message that can't be put into words: {type(error).__name__})"


def _traceback(exc_info: Any) -> str:
    if not exc_info:
        return ""
    if isinstance(exc_info, BaseException):
        lines = traceback.format_exception(exc_info)
    elif isinstance(exc_info, tuple):
        lines = traceback.format_exception(*exc_info)
    else:
        lines = [traceback.format_exc()]
    return "\n" + "".join(lines).rstrip()
