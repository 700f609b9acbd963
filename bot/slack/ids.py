"""The names that Slack hands back to us, and the strings by which the runtime knows Slack's things.

Only this module looks inside a principal, a place or an address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from agent.rules.ids import Principal, SessionId

# Buttons. The value is an id; never arguments. Where one message holds several of a kind, the
# action id is followed by ``:`` and a number.
APPROVE: Final = "approval.approve"
DENY: Final = "approval.deny"
STEER: Final = "approval.steer"
#: On a card it opens the modal; in the modal ``:N`` behind it is the page N, from 1.
VIEW: Final = "approval.view"
#: A menu; the value of its option is one of ``Wish``, ``|``, and the id.
MORE: Final = "approval.more"
#: Alone it opens the modal; ``:N`` behind it is the option N, from 1. In the Home tab the question's number follows
#: as well, and option 0 opens the modal.
ANSWER: Final = "question.answer"
REVIEW_CHECK: Final = "review.check"
REVIEW_HAPPENED: Final = "review.happened"
REVIEW_NOT_HAPPENED: Final = "review.not_happened"
REVIEW_GIVE_UP: Final = "review.give_up"
BUDGET_CONTINUE: Final = "budget.continue"
BUDGET_STOP: Final = "budget.stop"
#: On the card of several calls, and of the modals that they open; the value is the group's id, and the id of
#: their block that of the card's first approval.
APPROVE_ALL: Final = "approvals.approve_all"
DENY_ALL: Final = "approvals.deny_all"
#: On the card of what nobody decided in time.
ASK_AGAIN: Final = "approval.ask_again"
#: In the list of grants; its value is the grant's id.
GRANT_REVOKE: Final = "grant.revoke"
# In the Home tab of owners; the value of the second is the switch.
SWITCH_ON: Final = "switch.on"
SWITCH_OFF: Final = "switch.off"
#: Below what was said while calls waited; the id of its block says what that is.
GUIDANCE_USE: Final = "guidance.use"
# Those of the status message; their value is the run's id.
RUN_HOLD: Final = "run.hold"
RUN_RESUME: Final = "run.resume"
RUN_STOP: Final = "run.stop"
RUN_RETRY: Final = "run.retry"

#: What one may choose in the menu ``MORE``.
Wish = Literal["deny_reason", "approve_note", "approve_run", "approve_thread", "why"]

# Modals: their callback ids. An input's block id is ``arg.NAME``, or one of those below.
APPROVE_MODAL: Final = "approval.approve"
DENY_MODAL: Final = "approval.deny"
GRANT_MODAL: Final = "approval.grant"
VIEW_MODAL: Final = "approval.view"
STEER_MODAL: Final = "approval.steer"
ANSWER_MODAL: Final = "question.answer"
SWITCH_MODAL: Final = "switch.on"
#: Also the shortcut's in a message's menu, which opens it.
ASK_MODAL: Final = "run.ask"
GUIDANCE_BLOCK: Final = "guidance"
ARGUMENT_BLOCK: Final = "arg."
ANSWER_BLOCK: Final = "answer"
REASON_BLOCK: Final = "reason"
NOTE_BLOCK: Final = "note"
ASK_BLOCK: Final = "ask"
AGENT_BLOCK: Final = "agent"
SCOPE_BLOCK: Final = "scope"
LASTS_BLOCK: Final = "lasts"
VALUES_BLOCK: Final = "values"
SWITCH_BLOCK: Final = "switch"
INPUT_ACTION: Final = "value"

#: An approval's id, wherever Slack hands one back. A pattern for the whole text.
APPROVAL_ID: Final = r"apr_[0-9A-Za-z-]{1,80}"

#: A run's, likewise.
RUN_ID: Final = r"run_[0-9A-Za-z-]{1,80}"

#: A grant's, likewise.
GRANT_ID: Final = r"grt_[0-9A-Za-z-]{1,80}"

#: A group's, likewise.
GROUP_ID: Final = r"grp_[0-9A-Za-z_-]{1,160}"

# Message metadata, by which a message is found again after a lost answer.
METADATA_TYPE: Final = "pilothouse_message"

_TS: Final = re.compile(r"[0-9]+\.[0-9]+")


def numbered(action_id: str, number: int) -> str:
    """The action id of one of several of a kind in a message."""
    return f"{action_id}:{number}"


@dataclass(frozen=True, slots=True)
class SlackUser:
    """A user of one workspace. The same user id in another workspace is somebody else."""

    team: str
    user: str

    @property
    def principal(self) -> Principal:
        return Principal(f"slack:{self.team}:{self.user}")

    @classmethod
    def of(cls, principal: Principal) -> SlackUser | None:
        """None for a principal that is not a Slack user."""
        match principal.split(":"):
            case ["slack", team, user]:
                return cls(team, user)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run is shown: a thread, or a channel in which its status message opens one."""

    team: str
    channel: str
    thread_ts: str | None = None

    def __str__(self) -> str:
        return f"slack:{self.team}/{self.channel}/{self.thread_ts or ''}"

    @classmethod
    def of(cls, text: str | None) -> Place | None:
        """None for a run that has no place in Slack, and for what is none: whoever starts a run may give any text."""
        if text is None or not text.startswith("slack:"):
            return None
        match text.removeprefix("slack:").split("/"):
            case [team, channel, thread_ts] if team and channel:
                return cls(team, channel, thread_ts or None)
            case _:
                return None

    @property
    def session(self) -> SessionId:
        """The conversation of a thread that a person opened."""
        return SessionId(f"slack:{self.team}:{self.channel}:{self.thread_ts}")


@dataclass(frozen=True, slots=True)
class Address:
    """Where one message stands."""

    channel: str
    ts: str
    #: Where the thread begins in which it is known to stand.
    thread_ts: str | None = None

    def __str__(self) -> str:
        return f"{self.channel}/{self.ts}"

    def link(self, url: str) -> str:
        """Where a browser shows it to whoever may see it, for mrkdwn; ``url`` is the workspace's own, with its last
        slash. A reply is shown in its thread: without that Slack opens the channel, where it does not stand."""
        link = f"{url}archives/{self.channel}/p{self.ts.replace('.', '')}"
        if self.thread_ts in (None, self.ts):
            return link
        return f"{link}?thread_ts={self.thread_ts}&amp;cid={self.channel}"

    @classmethod
    def of(cls, text: str) -> Address:
        """Raises ``ValueError`` for what is none, whatever a file's column had."""
        channel, ts = text.split("/") if isinstance(text, str) else ("", "")
        if not channel or not _TS.fullmatch(ts):
            raise ValueError(text)
        return cls(channel, ts)

    @classmethod
    def is_one(cls, text: str) -> bool:
        """Can it be read?"""
        try:
            cls.of(text)
        except ValueError:
            return False
        return True


def link_to_thread(place: str, status: str | None, api_url: str | None) -> str | None:
    """Where a run at this place is seen, ``status`` being where its status message stands, if it does. Slack
    finds a conversation by its ids; elsewhere (``api_url``) it is looked for where the Web API is."""
    at, opened = Place.of(place), None
    if at is None:
        return None
    if status is not None and Address.is_one(status):
        opened = Address.of(status).ts
    ts = at.thread_ts or opened
    if ts is None:
        return None
    if api_url is not None and "slack.com" not in api_url:
        return Address(at.channel, ts).link(api_url.removesuffix("/").removesuffix("api"))
    return f"https://app.slack.com/client/{at.team}/{at.channel}/thread/{at.channel}-{ts}"
