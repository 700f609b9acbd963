"""Which of Slack's messages may be quoted to an agent, and as what. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.rules.parts import Quoted
from bot.slack import fields
from bot.slack.ids import SlackUser
from bot.slack.messages import SAID, Message, edited_ts_of
from bot.slack.payloads import Actor
from bot.slack.people import Home
from bot.slack.quoting.by_apps import app_of, is_of_another_app, text_of_app
from bot.slack.words import Ask, read_decision, read_message


def quote_of_person(shown: Mapping[str, Any], channel: str, home: Home) -> Quoted | None:
    """What a person said, as Slack shows it in ``channel``; None for what bots and Slack itself say, and for what
    was no conversation: a decision in words, ``stop`` and its like."""
    if not _is_of_person(shown, home):
        return None
    quote = quote_of(shown, channel, home)
    if quote is None or read_decision(str(shown.get("text") or ""), home.bot_user):
        return None
    return quote if isinstance(read_message(quote.text), Ask) else None


def quote_of_other(shown: Mapping[str, Any], channel: str, home: Home) -> Quoted | None:
    """What a person or another app said; None as for ``quote_of_person``."""
    if is_of_another_app(shown, home):
        return quote_of(shown, channel, home)
    return quote_of_person(shown, channel, home)


def message_of_person(shown: Mapping[str, Any], beside: Message, home: Home) -> Message | None:
    """What a person said in the thread of ``beside``; None for what bots and Slack itself say."""
    message = _message_of(shown, beside.channel, home) if _is_of_person(shown, home) else None
    if message is None:
        return None
    is_aside = not (beside.is_direct or message.mentions(home.bot_user))
    return replace(message, is_direct=beside.is_direct, is_aside=is_aside)


def quote_of(shown: Mapping[str, Any], channel: str, home: Home) -> Quoted | None:
    """What stands in a message, whoever wrote it; None where that is nothing that could be read."""
    message = _message_of(shown, channel, home)
    if message is None:
        return None
    text = "\n".join(filter(None, (message.text(home.bot_user), _files(shown.get("files")))))
    if not text:
        return None
    by = app_of(shown) or SlackUser(message.actor.team or home.team, message.actor.user).principal
    return Quoted(by=by, text=text, at=message.said_at, ref=message.key, as_of=message.as_of)


def _is_of_person(shown: Mapping[str, Any], home: Home) -> bool:
    is_bots = any(shown.get(name) for name in ("bot_id", "bot_profile", "hidden"))
    return not is_bots and shown.get("subtype") in SAID and shown.get("user") != home.bot_user


def _message_of(shown: Mapping[str, Any], channel: str, home: Home) -> Message | None:
    by = fields.id_or_none(shown.get("user")) or fields.id_or_none(shown.get("bot_id"))
    ts = fields.timestamp_or_none(shown.get("ts"))
    if by is None or ts is None:
        return None
    raw = text_of_app(shown) if app_of(shown) else shown.get("text")
    actor = Actor(by, _team_of(shown) or home.team)
    return Message(
        actor,
        home.team,
        channel,
        ts,
        None,
        raw if isinstance(raw, str) else "",
        is_direct=False,
        edited_ts=edited_ts_of(shown),
    )


def _team_of(shown: Mapping[str, Any]) -> str | None:
    """The author's workspace; an organisation does not tell."""
    teams = (fields.id_or_none(shown.get(name)) for name in ("user_team", "source_team", "team"))
    return next((team for team in teams if team and not team.startswith("E")), None)


def _files(files: object) -> str:
    """That there were some: what is in them is not quoted."""
    shown = files if isinstance(files, list) else []
    names = (one.get("name") for one in shown if isinstance(one, Mapping))
    return "\n".join(f"[shared the file {name}]" for name in names if isinstance(name, str))
