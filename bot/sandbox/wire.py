"""What every part of the sandbox speaks: JSON objects, Slack's errors, fresh ids."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


class SlackError(Exception):
    """The Web API answers `ok: false` with this code."""

    def __init__(self, code: str, messages: Sequence[str] = (), **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.messages = list(messages)
        self.extra = extra

    def body(self) -> Json:
        body: Json = {"ok": False, "error": self.code, **self.extra}
        if self.messages:
            body["response_metadata"] = {"messages": self.messages}
        return body


class Refusal(Exception):
    """The sandbox's own HTTP was asked for something that isn't there or makes no sense."""

    def __init__(self, why: str, status: int = 404) -> None:
        super().__init__(why)
        self.why = why
        self.status = status


def new_id(prefix: str) -> str:
    """An id in Slack's manner. Random, so that none repeats after a restart."""
    return prefix + secrets.token_hex(5).upper()
