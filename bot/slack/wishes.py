"""From words to what they ask for: commands and messages alike."""

from __future__ import annotations

from typing import assert_never

from agent.rules.decisions import Approve, Deny
from bot.slack import granting, intervening, overview
from bot.slack.answering import Answer
from bot.slack.cards.given import without_words_text
from bot.slack.commands import Command
from bot.slack.deciding import decide_in_words
from bot.slack.help import HELP, HOW_TO_DECIDE, how_to_intervene, mistyped, not_yet
from bot.slack.journal.showing import journal
from bot.slack.messages import Message
from bot.slack.replies import answer_by_reply
from bot.slack.services import Services
from bot.slack.starting import start_by_command, start_by_message
from bot.slack.words import (
    Ask,
    AskHowToDecide,
    Help,
    Intervene,
    Mistyped,
    NotYet,
    ShowGrants,
    ShowJournal,
    ShowPending,
    ShowRuns,
    ShowStatus,
    TypedDecision,
    read_command,
    read_decision,
    read_message,
)


async def answer_command(services: Services, command: Command) -> Answer:
    """What ``/agent TEXT`` asks for."""
    match read_command(command.text):
        case Ask(prompt=prompt):
            return await start_by_command(services, command, prompt)
        case Help():
            return Answer(text=HELP)
        case AskHowToDecide():
            return Answer(text=HOW_TO_DECIDE)
        case Intervene(how=how, run_id=run_id):
            return await intervening.act_in_words(services, command.actor, how, run_id)
        case NotYet(name=name):
            return Answer(text=not_yet(name))
        case Mistyped(name=name):
            return Answer(text=mistyped(name))
        case ShowPending():
            return await overview.pending(services, command.actor)
        case ShowRuns():
            return await overview.runs(services, command.actor)
        case ShowGrants():
            return await granting.grants(services, command.actor)
        case ShowStatus(run_id=run_id):
            return await overview.status(services, command.actor, run_id)
        case ShowJournal(run_id=run_id):
            return await journal(services, command.actor, run_id)
        case never:
            assert_never(never)


async def answer_message(services: Services, message: Message) -> Answer:
    """What a message to us asks for. Raises ``StoreUnavailable``."""
    home = await services.people.home()
    if message.is_aside:
        # What mentions us comes as a mention, too.
        if message.mentions(home.bot_user):
            return Answer()
        return await answer_by_reply(services, message, home.bot_user) or Answer()
    if decision := read_decision(message.raw, home.bot_user):
        return await _decide(services, message, decision)
    text = message.text(home.bot_user)
    if message.files and not text:
        return Answer(text=without_words_text([one.name for one in message.files]))
    match read_message(text):
        case Ask(prompt=prompt):
            answered = await answer_by_reply(services, message, home.bot_user)
            return answered or await start_by_message(services, message, prompt)
        case AskHowToDecide():
            return Answer(text=HOW_TO_DECIDE)
        case Intervene(how=how):
            return Answer(text=how_to_intervene(how))
        case _:
            return Answer(text=HELP)


async def _decide(services: Services, message: Message, typed: TypedDecision) -> Answer:
    decision = Approve() if typed.is_approval else Deny(typed.reason)
    return await decide_in_words(services, typed.approval_id, decision, message.actor)
