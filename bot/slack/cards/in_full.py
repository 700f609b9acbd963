"""The file that holds all of a question: for what neither its card nor the pages of View all have room for.

Plain text. What is data stands behind a bar at the start of each line, so that no value can look like the title of
another; what is masked or hidden is shown as on a card.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agent.rules.calls import Call
from agent.rules.json_text import dump_text
from agent.rules.state import Approval
from bot.slack.cards.arguments import (
    Argument,
    argument_blocks,
    describe_arguments,
    warnings,
    with_preview,
)
from bot.slack.cards.deciding import title_of
from bot.slack.cards.pages import fits_in_pages
from bot.slack.cards.text import one_line, quoted

#: Characters of what is asked: nobody reads more, nor is there time to make it readable while people wait.
LONGEST: Final = 500_000


@dataclass(frozen=True, slots=True)
class FileStanding:
    """What is known of the file where a card stands."""

    is_there: bool = False
    #: Slack's word for why it is not taken, until somebody does something about it.
    refused: str | None = None


NOT_THERE: Final = FileStanding()
THERE: Final = FileStanding(is_there=True)


@dataclass(frozen=True, slots=True)
class InFull:
    """The file with all of one question."""

    approval: Approval
    call: Call

    @property
    def name(self) -> str:
        return file_name(self.approval)

    @property
    def title(self) -> str:
        return f"All of it: {title_of(self.approval)}"

    @property
    def binding(self) -> str:
        """What a yes is bound to, and so what the file must show: its SHA-256."""
        return self.approval.requested.hash

    @property
    def comment(self) -> str:
        """What is said beside it; mrkdwn."""
        return f"This is all of what is asked: “{quoted(title_of(self.approval), 120)}”"

    def content(self) -> bytes:
        """UTF-8. Takes seconds where it is very long: not to be called where others wait."""
        return "\n".join(self._lines()).encode()

    def _lines(self) -> Iterator[str]:
        asked = self.approval.requested
        arguments = describe_arguments(asked.args, self.call.parameters, looked_at=None)
        every = with_preview(arguments, asked.preview, looked_at=None)
        yield title_of(self.approval)
        yield f"Question {self.approval.id}. A yes to it is a yes to this, and to nothing else."
        yield f"SHA-256 of what is asked: {self.binding}"
        yield f"It has {len(every)} parts; what is in them stands behind a bar."
        yield from warnings(every)
        for number, one in enumerate(every, 1):
            yield from _part(f"{number}. {one.title}", one)


def _part(title: str, one: Argument) -> Iterator[str]:
    yield ""
    yield title
    for line in one.text.split("\n"):
        yield f"| {line}"


def file_name(approval: Approval) -> str:
    """By which people find it in the thread."""
    return f"{approval.id}.txt"


def in_the_file(approval: Approval) -> str:
    """Where all of it is, in words; mrkdwn."""
    return f"in the file `{file_name(approval)}` that is attached here"


def is_in_slack_itself(approval: Approval, call: Call) -> bool:
    """Is there room for all of it on the card, or in the pages of View all?"""
    asked = approval.requested
    return fits_in_slack(describe_arguments(asked.args, call.parameters), asked.preview)


def fits_in_slack(arguments: tuple[Argument, ...], preview: str | None = None) -> bool:
    """The same of what would be done."""
    return argument_blocks(arguments, preview)[1] or fits_in_pages(arguments, preview)


def fits_in_a_file(approval: Approval) -> bool:
    """Is it short enough for one?"""
    asked = approval.requested
    return len(dump_text(asked.args)) + len(asked.preview or "") <= LONGEST


def why_no_file(code: str) -> str:
    """In words, why Slack does not take it; ``code`` is Slack's own word for it."""
    why = _WHY_NOT.get(code, f"Slack refuses it ({one_line(code, 80)})")
    return f"the file with all of it can't be attached, because {why}."


_WHY_NOT: Final = {
    "missing_scope": "the app lacks the scope files:write; install it again by its manifest",
    "file_uploads_disabled": "files are switched off in this workspace",
    "file_upload_size_restricted": "it is too large for this workspace",
    "storage_limit_reached": "this workspace has no room left for files",
}


def is_file_needed(approval: Approval, call: Call) -> bool:
    """Is it to be attached, so that this can be approved?"""
    is_open = approval.kind == "call" and approval.status == "pending"
    return is_open and not is_in_slack_itself(approval, call) and fits_in_a_file(approval)
