"""The modal, sent off: a run in the message's thread, or a word to the one that is at work there."""

from __future__ import annotations

from typing import Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import SessionBusy, TooManyStarts
from agent.rules.ids import RunId
from bot.slack.answering import Answer
from bot.slack.cards.ask_about import ASK_TITLE, About
from bot.slack.cards.given import not_read_text
from bot.slack.cards.modals import read_words
from bot.slack.cards.starts import too_many_starts_in_plain
from bot.slack.cards.text import quoted
from bot.slack.fields import BadPayload
from bot.slack.given.reading import read_files
from bot.slack.ids import ASK_BLOCK
from bot.slack.payloads import Submission
from bot.slack.people import CouldNotLookUp, NotEligible
from bot.slack.persons import Submitter
from bot.slack.services import Services
from bot.slack.shortcut.conversation import Conversation, Found, conversation_for, find
from bot.slack.shortcut.refusals import REFUSALS, why_not

_SAVING: Final = "Still at it. You'll be told in a direct message."
_EMPTY: Final = "Say what is to be done."
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
    try:
        found = await find(services, about)
        conversation = await conversation_for(services, submission.actor, about, found)
        once = f"modal:{conversation.place.team}:{submission.view_id}"
        return await _begin_or_tell(services, conversation, found, text, once)
    except SessionBusy:
        # Somebody else has begun one there meanwhile.
        return await _ask(services, submission, about)
    except TooManyStarts as error:
        now = services.runtime.store.clock.now()
        return Answer(errors={ASK_BLOCK: too_many_starts_in_plain(error, now)})
    except REFUSALS as error:
        why = f"Nothing was started: {why_not(error)}"
        is_final = isinstance(error, NotEligible) and not isinstance(error, CouldNotLookUp)
        return Answer(text=why) if is_final else Answer(errors={ASK_BLOCK: why})


async def _begin_or_tell(
    services: Services, at: Conversation, found: Found, text: str, once: str
) -> Answer:
    """``once`` names the modal: what it asks for is done once, however often it is sent off. Raises ``REFUSALS``,
    ``SessionBusy``, ``TooManyStarts``."""
    place, quotes = str(at.place), (found.quote,)
    files = await read_files(services, at.place.team, found.files)
    not_read = not_read_text(files)
    if at.newest is None:
        begun = await services.runtime.start(
            text,
            requester=at.asker.principal,
            session=at.session,
            key=once,
            channel=at.place.channel,
            place=place,
            quoted=quotes,
            files=files,
        )
        return _started(begun, not_read)
    newest = at.newest.run_id
    state = await services.runtime.steer(
        newest,
        text,
        at.asker,
        ref=once,
        place=place,
        quoted=quotes,
        files=files,
        # Not everybody who may say something to a run may start one.
        may_begin=not at.is_at_work,
    )
    if state.run_id != newest:
        return _started(state.run_id, not_read)
    return Answer(text=_lines(_TOLD.format(run=quoted(newest, 90)), not_read))


def _started(run_id: RunId, not_read: str) -> Answer:
    words = _STARTED.format(run=quoted(run_id, 90))
    return Answer(text=_lines(words, not_read)) if not_read else Answer(if_late=words)


def _lines(*said: str) -> str:
    return "\n".join(filter(None, said))
