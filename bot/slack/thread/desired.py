"""What a run's thread is to show, from its state alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from agent.rules.undecided import is_to_be_asked_again
from bot.slack.cards.answer import answer_in_file, answer_messages, gone_on_message
from bot.slack.cards.attachment import Attachment
from bot.slack.cards.called_back import calling_back
from bot.slack.cards.card import card_of
from bot.slack.cards.elsewhere import (
    announced,
    missed,
    pointer_message,
    shared_pointer_message,
    where_it_is,
)
from bot.slack.cards.group import group_message
from bot.slack.cards.guidance import note_message, notes
from bot.slack.cards.in_full import NOT_THERE, FileStanding
from bot.slack.cards.message import Message
from bot.slack.cards.reminder import (
    called_out_message,
    earlier_reminder_message,
    escalation_for,
    escalation_message,
    reminder_for,
    reminder_message,
)
from bot.slack.cards.said_since import is_talked_of, with_said
from bot.slack.cards.status import status_message, what_it_waits_for
from bot.slack.cards.together import SharedCard, shared_cards
from bot.slack.thread.digests import IN_TEXT, NOT_EDITABLE, digest_of, sha256_of, stands_in_text
from bot.slack.thread.keys import (
    STATUS_KEY,
    answer_file_key,
    answer_key,
    asked_in,
    card_key,
    escalation_key,
    key_at,
    reminder_key,
)
from bot.slack.thread.standing import Standing


class Priority(IntEnum):
    """What goes first when Slack allows only so much."""

    APPROVAL = 0
    ANSWER = 1
    #: That a run waits for people, and for whom, or waits no more; or is paused, about to stop, or can't go on.
    WAITING = 2
    STATUS = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """One message of the thread."""

    key: str
    message: Message
    priority: Priority
    #: Somebody is waited for here: gone from the thread, it is posted again.
    is_open: bool = False
    #: Not in the thread, but in this channel, or with this user directly.
    to: str | None = None
    #: Below the message of this key there.
    below: str | None = None
    #: Nothing may be posted before it: what comes after goes on with it.
    leads: bool = False
    #: Only to be put in place of what was posted under this key, never posted itself.
    is_past: bool = False
    #: It rings people when it is posted; later it stays as it was.
    is_call_out: bool = False
    #: It is no message of ours but the one in which Slack shows this file.
    file: Attachment | None = None
    #: Its card waits, and people talk of it: once posted it takes nothing from what shows a decision.
    is_talked_of: bool = False
    #: It is looked whether it still stands there.
    is_looked_at: bool = False

    @property
    def digest(self) -> str:
        """Changes with what the message is to show, not with whom it rings at first."""
        return digest_of(self.message)

    @property
    def digest_in_text(self) -> str:
        """The same where Slack takes none of its blocks."""
        return f"{IN_TEXT}{sha256_of(self.message.without_blocks)}:{self.digest}"

    def is_shown_by(self, row: ThreadMessage) -> bool:
        """Is this what was last sent, one way or the other?"""
        return row.digest.removesuffix(NOT_EDITABLE) == self.digest_as(row)

    def digest_as(self, row: ThreadMessage) -> str:
        """Its digest the way in which it stands there: in text alone, or with its blocks."""
        return self.digest_in_text if stands_in_text(row) else self.digest

    @property
    def first_digest(self) -> str:
        """Of what is posted: the same, unless that leaves out what the message is to show."""
        first = self.message.first
        return self.digest if first.is_complete else digest_of(first)


def desired(
    state: RunState,
    blocked: Mapping[str, str] | None = None,
    standing: Mapping[ApprovalId, Standing] | None = None,
    files: Mapping[ApprovalId, FileStanding] | None = None,
    *,
    links: Mapping[ApprovalId, str] | None = None,
    words_at: Mapping[str, str] | None = None,
    is_answer_split: bool = False,
    names_agent: bool = False,
) -> tuple[Wanted, ...]:
    """The messages in the order in which they are posted; the first opens the thread. ``blocked`` says why
    nobody takes the run on, where that is so; ``standing`` where those cards stand that belong elsewhere;
    ``files`` what is known of those in the thread; ``links`` lead to its cards, ``words_at`` to what people wrote, by
    its ref; ``is_answer_split``: however long it is, the answer takes messages alone; ``names_agent``: there are
    several agents, and the status says which one it is."""
    standing = standing or {}
    cards_at = {
        one: where_it_is(stands.places) for one, stands in standing.items() if stands.places
    }
    cards_at |= {one: "" for one, stands in standing.items() if stands.is_open}
    status = status_message(state, blocked, cards_at, names_agent=names_agent)
    return (
        Wanted(STATUS_KEY, status, _urgency(state, blocked)),
        *_cards(state, standing, files or {}, words_at or {}, is_blocked=blocked is not None),
        *_calls_out(state, standing),
        *(
            Wanted(
                one.key,
                note_message(one, state, (links or {}).get(one.offers[-1].about)),
                Priority.ANSWER,
                is_open=bool(one.open),
                is_past=not one.open,
            )
            for one in notes(state)
        ),
        *_answers(state, is_split=is_answer_split),
    )


def _urgency(state: RunState, blocked: Mapping[str, str] | None) -> Priority:
    """Of the status: how it ended goes first, then what somebody has to act on, and mere progress last."""
    if state.is_ended:
        return Priority.ANSWER
    is_interrupted = state.held is not None or state.stop is not None or blocked is not None
    waits = is_interrupted or what_it_waits_for(state) or _was_decided(state)
    return Priority.WAITING if waits else Priority.STATUS


def _was_decided(state: RunState) -> bool:
    """Did people decide something of what it is at? Then the status may still say that it waits for them."""
    closed = (one.requested.call_id for one in state.approvals.values() if one.closed_at)
    return any(call_id in state.current for call_id in closed)


def _cards(
    state: RunState,
    standing: Mapping[ApprovalId, Standing],
    files: Mapping[ApprovalId, FileStanding],
    words_at: Mapping[str, str],
    *,
    is_blocked: bool,
) -> Iterator[Wanted]:
    shared = {one.id: card for card in shared_cards(state) for one in card.members}
    for approval in state.approvals.values():
        stands, card = standing.get(approval.id), shared.get(approval.id)
        if card is not None and approval.id == card.name:
            found = _shared(card, stands, state, files, words_at, is_blocked=is_blocked)
        else:
            found = _alone(approval, stands, state, files, words_at, is_blocked=is_blocked)
        # Of what shares another's card an earlier version may have posted one of its own: that is kept true.
        is_past = card is not None and approval.id != card.name
        if found is not None:
            yield replace(found, is_past=True, is_open=False) if is_past else found


def _alone(
    approval: Approval,
    stands: Standing | None,
    state: RunState,
    files: Mapping[ApprovalId, FileStanding],
    words_at: Mapping[str, str],
    *,
    is_blocked: bool,
) -> Wanted | None:
    """None: it may stand elsewhere in a moment."""
    key, is_pending = card_key(approval.id), approval.status == "pending"
    if stands and is_pending and stands.is_open:
        return None
    if stands and is_pending and stands.places:
        pointer = pointer_message(approval, stands.places)
        return Wanted(key, pointer, Priority.APPROVAL, is_open=True)
    file = files.get(approval.id, NOT_THERE)
    message = announced(approval, card_of(approval, state, is_blocked=is_blocked, file=file))
    message = with_said(message, [approval], state, words_at, with_words=True)
    if stands and is_pending:
        message = missed(approval, message, stands.refused)
    is_open = is_pending or is_to_be_asked_again(state, approval)
    is_talk = is_talked_of([approval], state)
    return Wanted(key, message, Priority.APPROVAL, is_open=is_open, is_talked_of=is_talk)


def _shared(
    card: SharedCard,
    stands: Standing | None,
    state: RunState,
    files: Mapping[ApprovalId, FileStanding],
    words_at: Mapping[str, str],
    *,
    is_blocked: bool,
) -> Wanted | None:
    """The card that several share, in the first one's place."""
    key, waiting = card_key(card.name), card.pending
    if stands and waiting and stands.is_open:
        return None
    if stands and waiting and stands.places:
        pointer = shared_pointer_message(card, stands.places)
        return Wanted(key, pointer, Priority.APPROVAL, is_open=True)
    message = group_message(card, state, is_blocked=is_blocked, files=files)
    if waiting:
        message = announced(waiting[0], message)
        message = with_said(message, waiting, state, words_at, with_words=True)
    if stands and waiting:
        message = missed(waiting[0], message, stands.refused)
    is_open = any(
        one.status == "pending" or is_to_be_asked_again(state, one) for one in card.members
    )
    is_talk = is_talked_of(card.members, state)
    return Wanted(key, message, Priority.APPROVAL, is_open=is_open, is_talked_of=is_talk)


def rung_for(state: RunState) -> Mapping[str, ApprovalId]:
    """What rings people wherever its card stands: the keys of the call-outs in the thread, and of what they are."""
    called = [one for one in _calls_out(state, {}) if one.is_call_out]
    return {one.key: asked for one in called if (asked := asked_in(one.key)) is not None}


def _calls_out(state: RunState, standing: Mapping[ApprovalId, Standing]) -> Iterator[Wanted]:
    """Reminders and escalations, each a post of its own, so that phones ring; only of what is still open,
    and of the reminders that were missed only the newest. What was posted and is not so any more is
    reworded: nobody is to hurry to what is decided. They stand below the card where that is in a channel or
    with people directly."""
    for approval in state.approvals.values():
        stands = standing.get(approval.id, Standing())
        if (
            not stands.is_open
        ):  # Else it may stand there in a moment, and people are called to it there.
            yield from calls_out_of(approval, state, stands)


def calls_out_of(approval: Approval, state: RunState, stands: Standing) -> Iterator[Wanted]:
    """Of one, for where it stands."""
    is_open, newest = approval.status == "pending", approval.reminders
    past = called_out_message(approval)
    for stage in range(1, approval.stage + 1):
        key, said = escalation_key(approval.id, stage), escalation_message(approval, state, stage)
        to_all, to_one = (said, escalation_for) if is_open else (None, None)
        yield from _call_out(approval, key, state, stands, to_all, to_one, past)
    for number in range(1, newest + 1):
        key, said = reminder_key(approval.id, number), reminder_message(approval, state)
        is_followed = number < newest
        to_all, to_one = (said, reminder_for) if is_open and not is_followed else (None, None)
        instead = earlier_reminder_message(approval, number) if is_followed else past
        yield from _call_out(approval, key, state, stands, to_all, to_one, instead)


def _call_out(
    approval: Approval,
    key: str,
    state: RunState,
    stands: Standing,
    to_all: Message | None,
    to_one: Callable[[str, Approval], Message] | None,
    past: Message,
) -> Iterator[Wanted]:
    """In one place for all, or with each who is called directly."""
    if (users := stands.called.get(key)) is None:
        yield _called(approval, key, state, to_all, past, stands.channel)
        return
    for user in users:
        said = to_one(user, approval) if to_one else None
        yield _called(approval, f"{key}:{user}", state, said, past, user)


def _called(
    approval: Approval,
    key: str,
    state: RunState,
    said: Message | None,
    past: Message,
    to: str | None,
) -> Wanted:
    return Wanted(
        key,
        said or past,
        Priority.ANSWER,
        to=to,
        below=key_at(approval.id, to, state) if to else None,
        is_past=said is None,
        is_call_out=said is not None,
    )


def _answers(state: RunState, *, is_split: bool) -> Iterator[Wanted]:
    for end in range(state.reopened):
        yield Wanted(answer_key(end), gone_on_message(), Priority.ANSWER, is_past=True)
    for part, message in enumerate(answer_messages(state, is_split=is_split), 1):
        key = answer_key(state.reopened, part)
        message = calling_back(message, state) if part == 1 else message
        yield Wanted(key, message, Priority.ANSWER, leads=True)
    if not is_split and (file := answer_in_file(state)) is not None:
        key, beside = answer_file_key(state.reopened), Message(file.comment, ())
        yield Wanted(key, beside, Priority.ANSWER, file=file)
