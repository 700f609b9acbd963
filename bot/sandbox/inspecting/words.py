"""People, places and texts as a reader knows them."""

from __future__ import annotations

import re

from bot.sandbox.workspace import Workspace

LONGEST = 80
_TOKEN = re.compile(r"<([@#!])([^<>|]+)(?:\|([^<>]*))?>")


class Words:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def person(self, user_id: object) -> str:
        user = self._workspace.users.get(str(user_id))
        return user.name if user else str(user_id or "somebody")

    def place(self, channel_id: object) -> str:
        """`#support`, `a direct message with Bob`, or what was said where there is no such place."""
        channel = self._workspace.channels.get(str(channel_id))
        if channel is None:
            return self.person(channel_id)
        if channel.kind == "im":
            return f"a direct message with {self.person(channel.person)}"
        return "a group message" if channel.kind == "mpim" else f"#{channel.name}"

    def quoted(self, text: object) -> str:
        """In one line and in quotes, shortened, with mentions by name; "" for no text."""
        plain = " ".join(_TOKEN.sub(self._token, str(text or "")).split())
        for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            plain = plain.replace(entity, sign)
        if not plain:
            return ""
        return f"“{plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + '…'}”"

    def _token(self, found: re.Match[str]) -> str:
        sign, name, label = found.groups()
        match sign:
            case "@":
                return f"@{self.person(name)}"
            case "#":
                return self.place(name)
            case _ if label:
                return str(label)
            case _:
                return f"@{self._group(name)}"

    def _group(self, name: str) -> str:
        group = self._workspace.groups.get(name.removeprefix("subteam^"))
        return group.handle if group else name.split("^")[0]
