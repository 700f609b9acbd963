"""What is said in a direct message outside of its runs' threads while a run asks something there.

It may be the answer, which can't be taken back, or a new request, which would cost somebody a run: whoever says it is
asked which, and nothing follows from it. People reply where they are asked that, too.
"""

from __future__ import annotations

from typing import Final

from bot.slack.cards.question import question_of
from bot.slack.cards.text import quoted
from bot.slack.ids import Address, SlackUser
from bot.slack.links import link_to_thread
from bot.slack.messages import Message
from bot.slack.own_runs import LOOKED_AT, is_in, read_here
from bot.slack.replies import can_be_the_answer
from bot.slack.services import Services

_SHOWN: Final = 200
_WHICH: Final = (
    "Nothing was answered and nothing begun: a run of yours waits here for your answer to “{question}”. If this is it,"
    " say it in {thread}, not here. If it is something new, say it with <@{bot}> in front. ({run})"
)


async def which_is_meant(services: Services, message: Message, bot_user: str) -> str | None:
    """What they are asked of what was said where no run is; None where it begins a run as ever: not exactly one
    question of their own runs is open there which this could answer, or they name us. Raises ``StoreUnavailable``."""
    if not message.is_direct or message.mentions(bot_user):
        return None
    team = (await services.people.home()).team
    requester = SlackUser(message.actor.team or team, message.actor.user).principal
    rows = await services.runtime.store.lists.runs(
        limit=LOOKED_AT, requester=requester, active_only=True
    )
    asked = [
        (one, state)
        for state in await read_here(services, rows)
        if is_in(state, message.channel) and state.stop is None
        for one in state.open_approvals
        if one.kind == "question" and one.status == "pending"
    ]
    if len(asked) != 1:
        return None
    question, state = asked[0]
    if not await can_be_the_answer(services, message, message.text(bot_user), question, state):
        return None
    # Whoever stops something right behind it is not to wait for what does not come.
    at = Address(message.channel, message.ts)
    services.roots.keep_asking_nothing(at, is_heard=True)
    link = await link_to_thread(services, state)
    shown = services.shown(state).approvals[question.id]
    return _WHICH.format(
        question=quoted(question_of(shown), _SHOWN),
        thread=f"<{link}|its thread>" if link else "its thread",
        bot=bot_user,
        run=quoted(state.run_id, 90),
    )
