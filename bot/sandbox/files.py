"""Uploaded files: announced, received, completed, shared, deleted."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from bot.sandbox.ids import Ids
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import BOT_USER, TEAM, Channel, User

#: Slack takes a gigabyte; this much is held in memory.
BYTES_AT_MOST = 64 * 1024 * 1024
#: By which the bytes of a file are known among the calls of the app.
UPLOAD = "upload"
_LISTS = {"public": "channels", "private": "groups", "mpim": "groups", "im": "ims"}


@dataclass
class File:
    id: str
    name: str
    length: int
    alt_text: str
    created: int
    #: Part of the upload's address: who knows it may upload.
    secret: str
    #: Who uploaded it, and of which workspace they are.
    user: str = BOT_USER
    team: str = TEAM
    #: What its uploader calls it; empty: by the name.
    declared: str = ""
    #: Where it lies, if that is elsewhere: then Slack has no bytes of it.
    link: str = ""
    content: bytes | None = None
    title: str = ""
    completed: bool = False
    deleted: bool = False
    #: Where it can be seen: each channel, with the messages there.
    shares: list[tuple[Channel, Json]] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Slack's `filetype`: the ending, or `text`."""
        return PurePosixPath(self.name).suffix.removeprefix(".").lower() or "text"

    @property
    def name_in_urls(self) -> str:
        """In small letters, with `_` for whatever has no place in an address, as Slack does."""
        return re.sub(r"[^a-z0-9._-]", "_", self.name.lower()).strip(".") or "file"

    @property
    def mimetype(self) -> str:
        return self.declared or mimetypes.guess_type(self.name)[0] or "application/octet-stream"


class Files:
    """Kept in memory only: after a restart of the sandbox they are gone."""

    def __init__(
        self, clock: Callable[[], float], ids: Ids, stands: Callable[[str, str], bool]
    ) -> None:
        """`stands`: is there a message in this channel at this time, that nobody deleted?"""
        self._clock = clock
        self._ids = ids
        self._stands = stands
        self._files: dict[str, File] = {}

    def announce(self, name: str, length: int, alt_text: str) -> File:
        """A file that is to be uploaded."""
        if length > BYTES_AT_MOST:
            raise SlackError("file_upload_size_restricted")
        secret = self._ids.secret()
        file = File(self._ids.new("F"), name, length, alt_text, int(self._clock()), secret)
        self._files[file.id] = file
        return file

    def add(
        self, user: User, name: str, content: bytes | None, *, mimetype: str = "", link: str = ""
    ) -> File:
        """What a person uploads, or, with a `link` and no content, names."""
        file = self.announce(name, len(content or b""), "")
        file.user, file.team, file.title = user.id, user.team_id, name
        file.declared, file.link = mimetype, link
        file.content, file.completed = content, True
        return file

    def expected(self, secret: str) -> File | None:
        """The announced file that this upload is of, while it isn't there yet."""
        for file in self._files.values():
            if file.secret == secret and not file.completed:
                return file
        return None

    def get(self, file_id: str) -> File:
        """A completed file. Raises `file_not_found`, `file_deleted`."""
        file = self._files.get(file_id)
        if file is None or not file.completed:
            raise SlackError("file_not_found")
        if file.deleted:
            raise SlackError("file_deleted")
        return file

    def uploaded(self, file_id: str) -> File:
        """One whose bytes are there, and that waits to be completed. Raises `file_not_found`."""
        file = self._files.get(file_id)
        if file is None or file.content is None or file.completed:
            raise SlackError("file_not_found")
        return file

    def as_slack(self, file: File, base_url: str) -> Json:
        shares = [one for one in file.shares if self._stands(one[0].id, one[1]["ts"])]
        address = f"{base_url}/files-pri/{TEAM}-{file.id}/{file.name_in_urls}"
        if file.link:
            address = file.link
        shown: Json = {
            "id": file.id,
            "created": file.created,
            "timestamp": file.created,
            "name": file.name,
            "title": file.title,
            "mimetype": file.mimetype,
            "filetype": file.kind,
            "pretty_type": file.kind.upper(),
            "user": file.user,
            "user_team": file.team,
            "editable": False,
            "size": file.length,
            "mode": "external" if file.link else "hosted",
            "is_external": bool(file.link),
            "external_type": "unknown" if file.link else "",
            "is_public": any(channel.kind == "public" for channel, _ in shares),
            "public_url_shared": False,
            "display_as_bot": False,
            "username": "",
            "url_private": address,
            "permalink": address,
            "file_access": "visible",
            "comments_count": 0,
            "is_starred": False,
        }
        if not file.link:
            shown["url_private_download"] = f"{address}?download=1"
        if file.alt_text:
            shown["alt_txt"] = file.alt_text
        return shown | _where(shares)


def tombstone(file: File) -> Json:
    """What a message says of a file that was deleted."""
    return {"id": file.id, "mode": "tombstone"}


def to_look_up(file: File) -> Json:
    """What an app is told at first of a file of another workspace: it asks `files.info`."""
    return {
        "id": file.id,
        "created": 0,
        "timestamp": 0,
        "user": "",
        "mode": "file_access",
        "file_access": "check_file_info",
    }


def _where(standing: Iterable[tuple[Channel, Json]]) -> Json:
    shares: dict[str, dict[str, list[Json]]] = {}
    lists: dict[str, list[str]] = {"channels": [], "groups": [], "ims": []}
    for channel, message in standing:
        lists[_LISTS[channel.kind]].append(channel.id)
        kind = "public" if channel.kind == "public" else "private"
        share = {"ts": message["ts"], "channel_name": channel.name, "team_id": TEAM}
        if "thread_ts" in message:
            share["thread_ts"] = message["thread_ts"]
        shares.setdefault(kind, {}).setdefault(channel.id, []).append(share)
    return {**lists, "shares": shares}
