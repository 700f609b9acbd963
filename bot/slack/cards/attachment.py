"""What of a run stands in Slack as a file."""

from __future__ import annotations

from typing import Protocol


class Attachment(Protocol):
    """One file, made of what is certain: the same whenever it is made."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def binding(self) -> str:
        """A SHA-256, by which it is known which file stands there."""

    @property
    def comment(self) -> str:
        """What is said beside it; mrkdwn."""

    def content(self) -> bytes:
        """UTF-8. Takes seconds where it is very long: not to be called where others wait."""
