"""Files that a person puts beside a message."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from bot.sandbox.files import File, to_look_up
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError
from bot.sandbox.workspace import TEAM, Channel, User

#: Besides `name`: what is in it, what it is said to be, or where it lies instead.
_KNOWN = {"name", "content", "content_base64", "mimetype", "link"}


def attach(sandbox: Sandbox, user: User, given: Any) -> list[File]:
    """The files of an act: `[{name, content or content_base64 or link, mimetype?}]`."""
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise Refusal("`files` is a list of {name, content}.", 400)
    found = [(one, _content(one)) for one in given]
    try:
        return [
            sandbox.files.add(
                user,
                one["name"],
                content,
                mimetype=one.get("mimetype", ""),
                link=one.get("link", ""),
            )
            for one, content in found
        ]
    except SlackError as error:
        raise Refusal(f"It can't be: {error.code}.", 400) from error


def shown_with(sandbox: Sandbox, files: list[File]) -> Json:
    """What these add to a message; nothing where there are none."""
    if not files:
        return {}
    shown = [
        to_look_up(file) if file.team != TEAM else sandbox.files.as_slack(file, sandbox.base_url)
        for file in files
    ]
    return {"subtype": "file_share", "files": shown, "upload": False, "display_as_bot": False}


def share(sandbox: Sandbox, channel: Channel, message: Json, files: list[File]) -> list[Json]:
    """The events of it, for an app that is a member."""
    for file in files:
        file.shares.append((channel, message))
    if not channel.has_bot:
        return []
    return [sandbox.events.file_shared(file.id, file.user, channel) for file in files]


def _content(given: Json) -> bytes | None:
    """None of a file that lies elsewhere. Raises `Refusal`."""
    if strange := sorted(set(given) - _KNOWN):
        raise Refusal(f"A file has {', '.join(sorted(_KNOWN))}, and no {', '.join(strange)}.", 400)
    if not all(isinstance(value, str) for value in given.values()) or not given.get("name"):
        raise Refusal("A file has a `name`, and words for everything else.", 400)
    said = [one for one in ("content", "content_base64", "link") if one in given]
    if len(said) != 1:
        raise Refusal("A file has one of `content`, `content_base64` and `link`.", 400)
    if "link" in given:
        return None
    if "content" in given:
        return str(given["content"]).encode()
    try:
        return base64.b64decode(given["content_base64"], validate=True)
    except binascii.Error:
        raise Refusal("`content_base64` is no base64.", 400) from None
