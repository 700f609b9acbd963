"""A file as Slack describes it, beside a message or when it is asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Self

from bot.slack import fields

#: Slack's word for a file of another workspace, of which it tells only who asks.
_TO_LOOK_UP: Final = "check_file_info"
_UNNAMED: Final = "a file without a name"


@dataclass(frozen=True, slots=True)
class SharedFile:
    """What Slack says of it; nothing of that is certain but that it was said."""

    id: str | None
    name: str
    mimetype: str = ""
    #: Slack's own word for its type.
    filetype: str = ""
    #: How Slack has it: ``hosted``, ``snippet``, ``external``, ``tombstone`` …
    mode: str = ""
    size: int | None = None
    is_to_be_looked_up: bool = False
    #: From where whoever has the app's token gets it.
    url: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, said: object) -> Self:
        """Raises nothing: what is wrong counts as not said."""
        size = fields.value(said, "size")
        is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 0
        return cls(
            id=fields.id_or_none(fields.value(said, "id")),
            name=_text(said, "name") or _text(said, "title") or _UNNAMED,
            mimetype=_text(said, "mimetype").partition(";")[0].strip().lower(),
            filetype=_text(said, "filetype").lower(),
            mode=_text(said, "mode"),
            size=size if is_size and isinstance(size, int) else None,
            is_to_be_looked_up=_text(said, "file_access") == _TO_LOOK_UP,
            url=_text(said, "url_private_download") or _text(said, "url_private") or None,
        )


def shared_files(said: object) -> tuple[SharedFile, ...]:
    """Those of a message. Raises nothing."""
    found = fields.value(said, "files")
    return tuple(map(SharedFile.parse, found)) if isinstance(found, list) else ()


def _text(said: object, name: str) -> str:
    found = fields.value(said, name)
    return found if isinstance(found, str) else ""
