"""Which of Slack's messages may be quoted to an agent, and as what. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agent.rules.parts import Quoted
from bot.slack import fields
from bot.slack.ids import SlackUser
from bot.slack.messages import SAID, Message
from bot.slack.payloads import Actor
from bot.slack.people import Home
from bot.slack.words import Ask, read_decision, read_message


def quote_of_person(shown: Mapping[str, Any], channel: str, home: Home) -> Quoted | None:
    """What a person said, as Slack shows it in ``channel``; None for what bots and Slack itself say, and for what
    was no conversation: a decision in words, ``stop`` and its like."""
    if any(shown.get(name) for name in ("bot_id", "bot_profile", "hidden")):
        return None
    if shown.get("subtype") not in SAID or shown.get("user") == home.bot_user:
        return None
    quote = quote_of(shown, channel, home)
    if quote is None or read_decision(str(shown.get("text") or ""), home.bot_user):
        return None
    return quote if isinstance(read_message(quote.text), Ask) else None


def quote_of(shown: Mapping[str, Any], channel: str, home: Home) -> Quoted | None:
    """What stands in a message, whoever wrote it; None where that is nothing that could be read."""
    by = fields.id_or_none(shown.get("user")) or fields.id_or_none(shown.get("bot_id"))
    ts = fields.timestamp_or_none(shown.get("ts"))
    if by is None or ts is None:
        return None
    raw = shown.get("text") or _of_attachments(shown.get("attachments"))
    team = _team_of(shown) or home.team
    message = Message(
        Actor(by, team), home.team, channel, ts, None, raw if isinstance(raw, str) else "", False
    )
    text = "\n".join(filter(None, (message.text(home.bot_user), _files(shown.get("files")))))
    if not text:
        return None
    at = datetime.fromtimestamp(float(ts), UTC)
    return Quoted(by=SlackUser(team, by).principal, text=text, at=at, ref=message.key)


def _team_of(shown: Mapping[str, Any]) -> str | None:
    """The author's workspace; an organisation does not tell."""
    teams = (fields.id_or_none(shown.get(name)) for name in ("user_team", "source_team", "team"))
    return next((team for team in teams if team and not team.startswith("E")), None)


def _of_attachments(attachments: object) -> str:
    """What apps say that put all of it there."""
    shown = attachments if isinstance(attachments, list) else []
    told = (one.get("text") or one.get("fallback") for one in shown if isinstance(one, Mapping))
    return "\n".join(text for text in told if isinstance(text, str))


def _files(files: object) -> str:
    """That there were some: what is in them is not quoted."""
    shown = files if isinstance(files, list) else []
    names = (one.get("name") for one in shown if isinstance(one, Mapping))
    return "\n".join(f"[shared the file {name}]" for name in names if isinstance(name, str))
