"""Where each message of a run stands, or is to stand: in its thread, in another channel, or with one person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.ports import ThreadMessage
from agent.rules.ids import RunId
from bot.slack.cards.elsewhere import is_channel
from bot.slack.ids import Address, Place, SlackUser
from bot.slack.thread.desired import Wanted
from bot.slack.thread.keys import STATUS_KEY
from bot.slack.thread.placing import Placing
from bot.slack.thread.refusals import Target


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """By what is known of its messages: ``rows``."""

    run_id: RunId
    place: Place
    rows: Mapping[str, ThreadMessage]

    @property
    def thread(self) -> Place:
        """The run's own; the channel itself, while its first message has to open it."""
        root = self.rows.get(STATUS_KEY)
        if self.place.thread_ts or root is None or root.address is None:
            return self.place
        opened = Address.of(root.address)
        return Place(self.place.team, opened.channel, opened.ts)

    @property
    def root(self) -> Address | None:
        """The message that opened it."""
        thread = self.thread
        return Address(thread.channel, thread.thread_ts) if thread.thread_ts else None

    def target(self, wanted: Wanted) -> Target:
        """What a refusal of it is about."""
        row = self.rows.get(wanted.key)
        is_posted = row is not None and row.address is not None
        channel = wanted.to or self.thread.channel
        return Target(
            self.run_id,
            wanted.key,
            channel,
            is_posted=is_posted,
            below=wanted.below,
            is_file=wanted.file is not None,
        )

    async def of(self, wanted: Wanted, placing: Placing) -> Place:
        """Raises what opening a direct message does."""
        if wanted.to is None:
            return self.thread
        above = self.rows.get(wanted.below) if wanted.below else None
        if above is not None and above.address is not None:
            card = Address.of(above.address)
            return Place(self.place.team, card.channel, card.ts)
        if is_channel(wanted.to):
            return Place(self.place.team, wanted.to)
        row = self.rows.get(wanted.key)
        if row is not None and row.address is not None:
            return Place(self.place.team, Address.of(row.address).channel)
        return await placing.direct(SlackUser(self.place.team, wanted.to))
