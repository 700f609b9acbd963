"""Why a run's questions are not in its thread: for whoever looks at the run, and for who asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.ports import KnownThread, Store
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.state import Approval, RunState
from bot.slack.cards.undeliverable import no_longer_message, undeliverable_message
from bot.slack.ids import Address, Place, SlackUser
from bot.slack.thread.cards_of import decided_on
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.edge import AnswerLost, SlackRefused
from bot.slack.thread.keys import UNDELIVERABLE_KEY, key_in_thread, undeliverable_key
from bot.slack.thread.placing import Placing
from bot.slack.thread.refusals import Target
from bot.slack.thread.setbacks import Later, Setbacks, is_lasting


@dataclass(frozen=True, slots=True)
class Troubles:
    """Keeps it, and says it by direct message: one for what was asked together, reworded once it waits no more."""

    store: Store
    placing: Placing
    setbacks: Setbacks
    state: RunState
    known: KnownThread
    #: Has the run ended too long ago for anybody to be told still?
    is_given_up: bool

    async def tell(self, refused: Mapping[str, str], in_the_way: str | None) -> list[float]:
        """``refused`` is Slack's word for why a message was not taken, by its key; ``in_the_way`` that for why
        none was tried behind it. When it is worth another try to tell them. Raises ``LeaseLost``,
        ``StoreUnavailable``."""
        asked = self._asked()
        unasked = [one for one in self.state.open_approvals if one.id not in asked]
        heard = {
            one.id: refused.get(key_in_thread(one.id, self.state), in_the_way) for one in unasked
        }
        # Slack may be away, or busy, before it is heard whether it takes it now: nothing is mended by that.
        before = self.known.trouble if unasked else None
        trouble = next((why for why in heard.values() if why is not None), before)
        if trouble != self.known.trouble:
            await self.store.threads.set_trouble(self.placing.lease, trouble)
        requester = SlackUser.of(self.state.requester)
        if requester is None:
            return []
        waits: list[float] = []
        for wanted in self._wanted(unasked, heard):
            if not self.placing.is_in_place(wanted):
                waits += await self._say(wanted, requester)
        return waits

    def _wanted(
        self, unasked: Sequence[Approval], heard: Mapping[ApprovalId, str | None]
    ) -> Iterator[Wanted]:
        """One for all that was asked together: each would say the same."""
        together: dict[ApprovalId, list[Approval]] = {}
        for one in unasked:
            if heard[one.id] is not None:
                together.setdefault(self._beside(one)[0].id, []).append(one)
        for first, asked in together.items():
            if (why := heard[asked[0].id]) is not None:
                words = undeliverable_message(self.state, asked, why)
                yield Wanted(undeliverable_key(first), words, Priority.APPROVAL)
        open_still = {undeliverable_key(one.id) for one in unasked}
        open_still |= {undeliverable_key(self._beside(one)[0].id) for one in unasked}
        for key in sorted(self.placing.rows.keys() - open_still):
            approval = self.state.approvals.get(ApprovalId(key.removeprefix(UNDELIVERABLE_KEY)))
            if key.startswith(UNDELIVERABLE_KEY) and approval is not None:
                words = no_longer_message(self.state, self._beside(approval))
                yield Wanted(key, words, Priority.ANSWER, is_past=True)

    def _beside(self, approval: Approval) -> list[Approval]:
        """What was asked together, with it, in the order in which it was asked."""
        every = self.state.approvals.values()
        return [one for one in every if _asked_with(one) == _asked_with(approval)]

    async def _say(self, wanted: Wanted, requester: SlackUser) -> list[float]:
        target = Target(self.placing.lease.run_id, wanted.key, str(requester.principal))
        refusals = self.setbacks.refusals
        if (refusal := refusals.of(target)) is not None:
            return await self._refused(wanted, refusals.left(refusal))
        try:
            await self.placing.place(wanted, await self._where(wanted, requester))
        except (SlackRefused, AnswerLost) as error:
            is_awaited = bool(self.state.open_approvals)
            later = self.setbacks.met(target, error, is_awaited=is_awaited)
            if is_lasting(error):
                return await self._refused(wanted, later.seconds)
            return [later.seconds]
        except Later as later:
            return [later.seconds]
        return []

    async def _refused(self, wanted: Wanted, left: float) -> list[float]:
        if not self.is_given_up:
            return [left]
        await self.placing.give_up(wanted)
        return []

    async def _where(self, wanted: Wanted, requester: SlackUser) -> Place:
        row = self.placing.rows.get(wanted.key)
        if row is not None and row.address is not None:
            return Place(requester.team, Address.of(row.address).channel)
        return await self.placing.direct(requester)

    def _asked(self) -> set[ApprovalId]:
        """Those whose card has been posted, in the thread or where else it belongs."""
        return {
            approval_id
            for key, row in self.placing.rows.items()
            if row.status != "posting" and row.address is not None
            for approval_id in decided_on(key, self.state)
        }


def _asked_with(approval: Approval) -> tuple[GroupId, datetime]:
    """What is written at once has one time."""
    return approval.requested.group, approval.requested_at
