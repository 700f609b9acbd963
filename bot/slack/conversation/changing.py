"""A message that was edited or deleted: what the agent has not heard yet, it hears as it is now, or not at all.

Nothing is begun by it, and nothing decided: whoever edits a message into ``stop`` has not said it.
"""

from __future__ import annotations

from typing import Final

from agent.errors import CorruptJournal, NotFound, NothingToDo, TooLong, UnknownEvent
from agent.rules.ids import Principal
from agent.rules.people import knows
from agent.rules.state import RunState
from bot.slack.answering import Answer, SendAgain
from bot.slack.cards.text import quoted
from bot.slack.conversation.beginning import may_yet_come
from bot.slack.conversation.following import NotReadHere, run_of_thread
from bot.slack.ids import SlackUser
from bot.slack.messages import Change
from bot.slack.services import Services
from bot.slack.words import Ask, wish_of

_ANSWERED: Final = (
    "Your answer was taken as it was: “{answer}”. What you change here changes nothing. ({run})"
)
_SHOWN: Final = 120
_HEARD: Final = (
    "Nothing was changed: the agent had read this message already, as it was. Say in a new one what is to be"
    " otherwise. ({run})"
)


async def change(services: Services, changed: Change) -> Answer:
    """What follows from it. Raises ``StoreUnavailable`` and ``SendAgain``: then it is delivered again."""
    message, home = changed.message, await services.people.home()
    text = message.text(home.bot_user)
    if (
        not changed.is_deleted
        and changed.was is not None
        and changed.was.text(home.bot_user) == text
    ):
        return Answer()
    try:
        state = await run_of_thread(services, message)
    except NotReadHere as error:
        if error.is_newer:
            raise SendAgain("the run of a thread is of a newer version") from error
        return Answer()
    if state is None:
        return await _not_known(services, changed, home.bot_user, None)
    by = SlackUser(message.actor.team or home.team, message.actor.user).principal
    runtime, key = services.runtime, message.key
    if answer := _answer_by(state, key, by):
        return Answer(text=_ANSWERED.format(answer=quoted(answer, _SHOWN), run=state.run_id))
    try:
        # Whoever leaves nothing of it but our name has taken it back.
        if changed.is_deleted or not text:
            is_so = await runtime.delete_message(key, by, state.session)
        else:
            is_so = await runtime.edit_message(key, text, by, state.session)
    except NotFound:
        return await _not_known(services, changed, home.bot_user, state)
    except (NothingToDo, CorruptJournal, UnknownEvent):
        return Answer()
    except TooLong as error:
        return Answer(
            text=f"Nothing was changed: that has {error.length:,} characters. Say it in at most {error.limit:,}."
        )
    if is_so or not _is_at_work_with(state, key, by):
        return Answer()
    return Answer(text=_HEARD.format(run=state.run_id))


async def _not_known(
    services: Services, changed: Change, bot_user: str, state: RunState | None
) -> Answer:
    """No run has heard of it. Raises ``SendAgain`` where one may yet."""
    was = changed.was or changed.message
    is_to_us = was.is_direct or was.mentions(bot_user)
    # Where a run is, whoever names nobody else means it; but ``stop`` and its like are told no run.
    is_meant = is_to_us or (state is not None and not was.is_to_others(bot_user))
    is_said_to_run = is_meant and isinstance(wish_of(was, bot_user), Ask)
    if is_said_to_run and await may_yet_come(services, changed.message, state):
        raise SendAgain("what was changed may not have arrived yet")
    return Answer()


def _answer_by(state: RunState, key: str, by: Principal) -> str | None:
    """Their answer, as which it was taken. They are told also when the run is over: it may be, at once."""
    decided = (one.decided for one in state.approvals.values())
    answers = (one for one in decided if one is not None and one.action == "answer")
    return next((one.text for one in answers if one.ref == key and one.by == by), None)


def _is_at_work_with(state: RunState, key: str, by: Principal) -> bool:
    """Was it said to this run, which goes on, and by them? Of what is over nobody has to be told."""
    if state.is_ended or not knows(state, key) or key in state.deleted:
        return False
    said = next((one for one in state.said if one.ref == key), None)
    return (said.by if said else state.requester) == by
