"""Where cards stand that are not the thread's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.slack.cards.elsewhere import is_channel


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a card stands that is not the thread's."""

    #: Channels and users, by their ids; none: it is asked in the thread after all.
    places: tuple[str, ...] = ()
    #: Slack's word for why it can't be put where it belongs.
    refused: str | None = None
    #: It may stand there in a moment: nothing is said of it yet.
    is_open: bool = False
    #: Who is called to it directly, by the call-out's key in the thread; all others stand there, or in the channel.
    called: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def channel(self) -> str | None:
        """The other channel in which it stands."""
        return next((one for one in self.places if is_channel(one)), None)
