"""What waits for one person, wherever they look at it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from agent.asked import find_asked
from agent.mending import read_those_that_can_be
from agent.rules.decisions import Decider, is_put_to
from agent.rules.ids import RunId
from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState
from bot.slack.cards.mentions import mention_group
from bot.slack.payloads import Actor
from bot.slack.services import Services

#: Nobody has more looked through at a time.
LOOKED_THROUGH: Final = 200
#: Slack is asked who is in each of them.
_GROUPS_AT_MOST: Final = 100
_CUT: Final = "Only the {} oldest questions were looked through; more may wait for you."
_CUT_GROUPS: Final = "Only {} of the groups that are asked were looked up; more may wait for you."
_GROUPS_UNKNOWN: Final = "Slack did not say who is in {}; more may wait for you."
_UNREADABLE: Final = (
    "{} question{} that may wait for you can't be read by the version that runs now."
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for this person, oldest first."""

    decider: Decider
    asked: tuple[tuple[Approval, RunState], ...]
    #: So many more are listed for them, and were not read.
    more: int
    #: There are more than anybody looked through.
    is_cut: bool
    #: Slack did not say who is in these groups.
    unknown: Collection[str]
    #: More groups are asked than anybody looked up.
    has_more_groups: bool
    #: So many are listed for them, and can't be read here.
    unreadable: int

    @property
    def why_not_all(self) -> list[str]:
        """Why there may be more than was found; mrkdwn."""
        said = []
        if self.is_cut:
            said.append(_CUT.format(LOOKED_THROUGH))
        if self.has_more_groups:
            said.append(_CUT_GROUPS.format(_GROUPS_AT_MOST))
        if self.unknown:
            said.append(_GROUPS_UNKNOWN.format(join_words(map(mention_group, self.unknown))))
        if self.unreadable:
            said.append(_UNREADABLE.format(self.unreadable, "" if self.unreadable == 1 else "s"))
        return said


async def what_waits(services: Services, actor: Actor, *, limit: int) -> Waiting:
    """The open questions that this person may decide, and what nobody decided in time and they can have
    asked again. Raises ``NotEligible``, ``StoreError``."""
    lists = services.runtime.store.lists
    groups = await lists.groups_asked(limit=_GROUPS_AT_MOST + 1)
    found = await services.people.look_up(actor.user, actor.team, groups=groups[:_GROUPS_AT_MOST])
    rows = await lists.waiting_for(found.decider, limit=LOOKED_THROUGH + 1)
    asked: list[tuple[Approval, RunState]] = []
    states: dict[RunId, RunState | None] = {}
    read, unreadable, most = 0, 0, min(limit, LOOKED_THROUGH)
    for row in rows:
        if len(asked) == most:
            break
        read += 1
        if row.run_id not in states:
            known = await read_those_that_can_be(services.runtime.store, [row.run_id])
            states[row.run_id] = known.get(row.run_id)
        if (state := states[row.run_id]) is None:
            unreadable += 1
            continue
        approval = find_asked(state, row.approval_id, waiting_only=True)
        if approval is not None and _waits_for(found.decider, approval, state):
            asked.append((approval, state))
    return Waiting(
        decider=found.decider,
        asked=tuple(asked),
        more=len(rows) - read,
        is_cut=len(rows) > LOOKED_THROUGH,
        unknown=tuple(sorted(found.unknown)),
        has_more_groups=len(groups) > _GROUPS_AT_MOST,
        unreadable=unreadable,
    )


def _waits_for(decider: Decider, asked: Approval, state: RunState) -> bool:
    """Can they decide it, and have they not said yes already? Or nobody did in time, and they can have it
    asked again."""
    if asked.status != "pending" and decider.principal == state.requester:
        return True
    has_voted = asked.status == "pending" and any(
        word.by == decider.principal for word, _ in asked.yeses
    )
    return not has_voted and is_put_to(asked, state.requesters, decider)
