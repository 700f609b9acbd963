"""Whom a reminder or an escalation calls directly: below the card of each who has one and may still decide.

Where nobody is left to be called so, it stands in the thread, and so does what an earlier version posted there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.ports import ThreadMessage
from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from bot.slack.cards.elsewhere import is_channel
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.keys import escalation_key, reminder_key


def is_said(key: str, rows: Mapping[str, ThreadMessage]) -> bool:
    """Has anybody been called by this reminder or escalation, in the thread or directly?"""
    return key in rows or any(_is_direct(one, key) for one in rows)


@dataclass(frozen=True, slots=True)
class Calling:
    """To the cards of one run that stand with people directly."""

    state: RunState
    rows: Mapping[str, ThreadMessage]
    addressees: Addressees

    async def directly(
        self, approval: Approval, places: Sequence[str], *, besides: bool = False
    ) -> Mapping[str, tuple[str, ...]]:
        """Those among ``places`` whom each reminder and escalation calls, or has called, by the key that it has in
        the thread. ``besides``: it stands there, too. Raises ``Later`` while Slack does not say who may still
        decide."""
        people, called = [one for one in places if not is_channel(one)], {}
        if not people:
            return {}
        for key, asked in _calls_out(approval):
            if key in self.rows and not besides:
                continue
            found = (one for one in sorted(self.rows) if _is_direct(one, key))
            users = [one.removeprefix(f"{key}:") for one in found]
            if asked is not None:
                users += await self._still_asked(approval, asked, people)
            if users:
                called[key] = tuple(dict.fromkeys(users))
        return called

    async def _still_asked(
        self, approval: Approval, asked: Approvers, people: Sequence[str]
    ) -> list[str]:
        voted = {vote.voted.user for vote in approval.votes}
        left = [one for one in people if one not in voted]
        may = await self.addressees.of(approval, self.state, asked) if left else []
        return [one for one in may if one in left]


def _is_direct(row: str, key: str) -> bool:
    """Is it of somebody whom that calls directly?"""
    return row.startswith(f"{key}:")


def _calls_out(approval: Approval) -> Iterator[tuple[str, Approvers | None]]:
    """Each with those whom it is to call now; None: nobody any more."""
    is_open = approval.status == "pending"
    for stage in range(1, approval.stage + 1):
        reached = approval.requested.patience.escalate[stage - 1]
        others = Approvers(users=reached.users, groups=reached.groups)
        yield escalation_key(approval.id, stage), others if is_open else None
    for number in range(1, approval.reminders + 1):
        is_newest = is_open and number == approval.reminders
        yield reminder_key(approval.id, number), approval.approvers if is_newest else None
