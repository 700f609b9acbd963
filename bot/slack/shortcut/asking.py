"""The modal, sent off: a run in the message's thread, or a word to the one that is at work there."""

from __future__ import annotations

from typing import Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import SessionBusy, StoreUnavailable, TooManyStarts
from agent.rules.access import Doing
from agent.rules.ids import RunId
from agent.rules.parts import Words
from bot.slack.answering import Answer
from bot.slack.cards.ask_about import ASK_TITLE, About, chosen_agent
from bot.slack.cards.given import not_read_text
from bot.slack.cards.modals import read_words
from bot.slack.cards.starts import too_many_starts_in_plain
from bot.slack.cards.text import quoted
from bot.slack.conversation.hinting import hint_for
from bot.slack.fields import BadPayload
from bot.slack.given.reading import read_files
from bot.slack.ids import ASK_BLOCK
from bot.slack.interruptions import word_alone
from bot.slack.payloads import Submission
from bot.slack.people import CouldNotLookUp, NotEligible
from bot.slack.persons import Submitter
from bot.slack.roots.starting import StartInDoubt, run_begun_by
from bot.slack.services import Services
from bot.slack.shortcut.conversation import (
    Conversation,
    Found,
    SaysOtherwise,
    conversation_for,
    find,
)
from bot.slack.shortcut.interrupting import act_there
from bot.slack.shortcut.refusals import REFUSALS, why_not

_SAVING: Final = "Still at it. You'll be told in a direct message."
_EMPTY: Final = "Say what is to be done."
_IN_DOUBT: Final = (
    "I can't say whether this was done: our store can't be reached right now. Send it off again in a minute: it is"
    " done once."
)
_BUSY: Final = (
    "Nothing was started: runs begin and end here just now. Please try again in a moment."
)
#: So often it is looked again who is at work there.
_TRIES: Final = 3
_TOLD: Final = "The run in this thread has been told. It hears it at its next step. ({run})"
_STARTED: Final = "Your run has started. ({run})"


async def ask_about(services: Services, ack: AsyncAck, submission: Submission) -> None:
    """What can be sent again stays in the modal, with what was typed. Raises ``BadPayload``."""
    about = About.read(submission.private_metadata)
    if about is None:
        raise BadPayload("view.private_metadata")
    person = Submitter(services, ack, submission, ASK_TITLE, _SAVING)
    work = _ask(services, submission, about)
    await services.answering.answer(person, work, str(about.address))


async def _ask(services: Services, submission: Submission, about: About) -> Answer:
    text = read_words(submission.values, ASK_BLOCK)
    if not text:
        return Answer(errors={ASK_BLOCK: _EMPTY})
    for _ in range(_TRIES):
        try:
            return await _ask_there(services, submission, about, text)
        except SessionBusy:
            # Somebody else has begun one there meanwhile.
            continue
    return Answer(errors={ASK_BLOCK: _BUSY})


async def _ask_there(services: Services, submission: Submission, about: About, text: str) -> Answer:
    """Raises ``SessionBusy``."""
    once = f"modal:{(await services.people.home()).team}:{submission.view_id}"
    try:
        found = await _found(services, about, once)
        if isinstance(found, str):
            return _started(found, "")
        word = word_alone(text)
        doing: Doing = "stop" if word and word != "retry" else "steer"
        conversation = await conversation_for(services, submission.actor, about, found, doing=doing)
        if word:
            return await act_there(services, submission.actor, conversation, word)
        chosen = _chosen(submission, conversation)
        return await _begin_or_tell(services, conversation, found, text, once, chosen)
    except StartInDoubt:
        return Answer(errors={ASK_BLOCK: _IN_DOUBT})
    except TooManyStarts as error:
        now = services.runtime.store.clock.now()
        return Answer(errors={ASK_BLOCK: too_many_starts_in_plain(error, now)})
    except REFUSALS as error:
        why = f"Nothing was started: {why_not(error)}"
        is_final = isinstance(error, NotEligible) and not isinstance(error, CouldNotLookUp)
        return Answer(text=why) if is_final else Answer(errors={ASK_BLOCK: why})


async def _found(services: Services, about: About, once: str) -> Found | RunId:
    """The message, as they have seen it; where it says something else by now, the run that this form has begun before
    that. Raises as ``find`` does."""
    try:
        return await find(services, about)
    except SaysOtherwise:
        if (begun := await run_begun_by(services.runtime.store, once)) is None:
            raise
        return begun


async def _begin_or_tell(
    services: Services, at: Conversation, found: Found, text: str, once: str, agent: str
) -> Answer:
    """``once`` names the modal: what it asks for is done once, however often it is sent off. Raises ``REFUSALS``,
    ``SessionBusy``, ``TooManyStarts``, ``StartInDoubt``."""
    files = await read_files(services, at.place.team, found.files)
    not_read = not_read_text(files)
    words = Words(text=text, quoted=(found.quote,), files=files)
    try:
        if at.newest is None:
            run_id = await _begin(services, at, words, once, agent)
        else:
            run_id = await _tell(services, at, words, once)
    except StoreUnavailable:
        # Where the store answers again it was not done: it is only sent off again.
        if (begun := await run_begun_by(services.runtime.store, once)) is None:
            raise
        run_id = begun
    if at.newest is None or run_id != at.newest.run_id:
        return _started(run_id, not_read)
    hint = await hint_for(services, text, await services.runtime.state(run_id))
    return Answer(text=_lines(_TOLD.format(run=quoted(run_id, 90)), hint, not_read))


def _chosen(submission: Submission, at: Conversation) -> str:
    """Raises ``NotEligible`` where that one is not to be had there any more, or not by them."""
    chosen = chosen_agent(submission.values)
    if at.newest is not None or chosen is None:
        return at.agents[0]
    if chosen not in at.agents:
        raise NotEligible(submission.actor.user, f"{quoted(chosen, 40)} can't be asked by you here")
    return chosen


async def _begin(
    services: Services, at: Conversation, words: Words, once: str, agent: str
) -> RunId:
    return await services.runtime.start(
        words.text,
        requester=at.asker.principal,
        agent=agent,
        session=at.session,
        key=once,
        channel=at.place.channel,
        place=str(at.place),
        quoted=words.quoted,
        files=words.files,
    )


async def _tell(services: Services, at: Conversation, words: Words, once: str) -> RunId:
    """The run that has it."""
    assert at.newest is not None
    state = await services.runtime.steer(
        at.newest.run_id,
        words.text,
        at.asker,
        ref=once,
        place=str(at.place),
        quoted=words.quoted,
        files=words.files,
        # Not everybody who may say something to a run may start one.
        may_begin=not at.is_at_work,
    )
    return state.run_id


def _started(run_id: RunId, not_read: str) -> Answer:
    words = _STARTED.format(run=quoted(run_id, 90))
    return Answer(text=_lines(words, not_read)) if not_read else Answer(if_late=words)


def _lines(*said: str) -> str:
    return "\n".join(filter(None, said))
