"""A message that was edited or deleted: what the agent has not heard yet, it hears as it is now, or not at all.

Nothing is begun by it, and nothing decided: whoever edits a message into ``stop`` has not said it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from agent.errors import CorruptJournal, NotFound, NothingToDo, TooLong, UnknownEvent
from agent.rules.ids import Principal
from agent.rules.people import knows
from agent.rules.state import RunState
from bot.slack.allowed import who_may
from bot.slack.answering import Answer, SendAgain
from bot.slack.conversation.following import NotReadHere, is_of_an_older_run, run_of_thread
from bot.slack.ids import SlackUser
from bot.slack.messages import Change, Message
from bot.slack.people import NotEligible
from bot.slack.services import Services

#: So long after it was said a message may come behind its own edit.
_TOGETHER: Final = timedelta(seconds=10)
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
        return Answer()
    by = SlackUser(message.actor.team or home.team, message.actor.user).principal
    runtime, key = services.runtime, message.key
    try:
        if changed.is_deleted:
            is_so = await runtime.delete_message(key, by, state.session)
        else:
            is_so = await runtime.edit_message(key, text, by, state.session)
    except NotFound:
        if await _may_yet_come(services, message, state):
            raise SendAgain("what was changed may not have arrived yet") from None
        return Answer()
    except (NothingToDo, CorruptJournal, UnknownEvent):
        return Answer()
    except TooLong as error:
        return Answer(
            text=f"Nothing was changed: that has {error.length:,} characters. Say it in at most {error.limit:,}."
        )
    if is_so or not _is_at_work_with(state, key, by):
        return Answer()
    return Answer(text=_HEARD.format(run=state.run_id))


async def _may_yet_come(services: Services, message: Message, state: RunState) -> bool:
    """Was it said just now to a run that is active, by one who may? Slack delivers a message and its edits in any
    order. What was an answer has arrived."""
    age = services.runtime.store.clock.now() - message.said_at
    is_answer = any(
        one.decided and one.decided.ref == message.key for one in state.approvals.values()
    )
    if state.is_ended or is_answer or age > _TOGETHER or is_of_an_older_run(state, message):
        return False
    try:
        await who_may(services, message.actor, state.agent, "steer")
    except NotEligible:
        return False
    return True


def _is_at_work_with(state: RunState, key: str, by: Principal) -> bool:
    """Was it said to this run, which goes on, and by them? Of what is over nobody has to be told."""
    if state.is_ended or not knows(state, key) or key in state.deleted:
        return False
    said = next((one for one in state.said if one.ref == key), None)
    return (said.by if said else state.requester) == by
