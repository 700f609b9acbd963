"""Which messages are quoted to an agent, as what, and since when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agent.rules.given import BY_CORE
from agent.rules.ids import Principal
from agent.rules.parts import Quoted
from bot.slack.messages import key_of
from bot.slack.people import Home
from bot.slack.quoting.quotable import quote_of, quote_of_other, quote_of_person
from bot.slack.quoting.told import BEGINNING, told_of, unread
from tests.agent.rules.happenings import deleted, said
from tests.agent.rules.histories import BOB, History, answered, begun, questioned

HOME = Home("T0PILOT", "U0PILOT", "B0PILOT", "https://example.slack.com/")
CHANNEL = "C0SUPPORT"


def shown(text: Any = "It came twice.", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U0BOB", "ts": "1796000000.000100", "text": text, **more}


def ref(ts: int) -> str:
    return key_of("T0PILOT", CHANNEL, f"{ts}.000100")


def quote(ts: int | None, by: Principal = BOB) -> Quoted:
    return Quoted(by=by, text="It came twice.", ref=None if ts is None else ref(ts))


def test_a_quote_says_who_what_when_and_where() -> None:
    assert quote_of_person(shown(), CHANNEL, HOME) == Quoted(
        by=Principal("slack:T0PILOT:U0BOB"),
        text="It came twice.",
        at=datetime.fromtimestamp(1796000000.0001, UTC),
        ref="slack:T0PILOT:C0SUPPORT:1796000000.000100",
    )


@pytest.mark.parametrize(
    ("edited", "as_of"),
    [
        ({"user": "U0BOB", "ts": "1796000009.5"}, datetime.fromtimestamp(1796000009.5, UTC)),
        ({"user": "U0BOB", "ts": "soon"}, None),
        ({"user": "U0BOB"}, None),
        ("yes", None),
        (None, None),
    ],
)
def test_what_is_quoted_says_when_it_was_edited(edited: object, as_of: datetime | None) -> None:
    quoted = quote_of_person(shown("so it is", edited=edited), CHANNEL, HOME)
    assert quoted is not None
    assert quoted.as_of == as_of


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (shown("ask <@U0ALICE> &amp; <https://a.example|a.example>"), "ask <@U0ALICE> & a.example"),
        (shown("<@U0PILOT> refund it"), "refund it"),
        (shown("stop the newsletter"), "stop the newsletter"),
        (shown("so it is", subtype="thread_broadcast"), "so it is"),
        (shown("so it is", edited={"user": "U0BOB", "ts": "1796000009.000100"}), "so it is"),
        (shown("", files=[{"name": "a.txt"}, {"id": "F1"}]), "[shared the file a.txt]"),
    ],
)
def test_what_people_said_is_quoted_as_they_typed_it(message: dict[str, Any], text: str) -> None:
    quoted = quote_of_person(message, CHANNEL, HOME)
    assert quoted is not None
    assert quoted.text == text


@pytest.mark.parametrize(
    "message",
    [
        shown(bot_id="B0DEPLOY"),
        shown(bot_profile={"id": "B0DEPLOY"}),
        shown(user="U0PILOT"),
        shown(subtype="channel_join"),
        shown(subtype="tombstone", hidden=True),
        shown("stop"),
        shown("retry"),
        shown("<@U0PILOT> Pause."),
        shown("<@U0PILOT> approve apr_1"),
        shown("<@U0PILOT> deny apr_1 too much"),
        shown("deny apr_1"),
        shown("<@U0PILOT>"),
        shown(""),
        shown(text=None),
        shown(text=["It came twice."]),
        shown(user=None),
        shown(ts="yesterday"),
        {},
    ],
)
def test_what_bots_say_and_what_was_no_conversation_is_not_quoted(message: dict[str, Any]) -> None:
    assert quote_of_person(message, CHANNEL, HOME) is None


@pytest.mark.parametrize(
    ("message", "by", "text"),
    [
        (shown(user_team="T0OTHER"), "slack:T0OTHER:U0BOB", "It came twice."),
        (shown(team="E0ORG"), "slack:T0PILOT:U0BOB", "It came twice."),
        (
            shown("", user=None, bot_id="B0DEPLOY", attachments=[{"fallback": "42 is red"}, 1]),
            "app:B0DEPLOY",
            "42 is red",
        ),
        (
            shown(
                "Build 42",
                user="U0DEPLOY",
                bot_id="B0DEPLOY",
                bot_profile={"id": "B0DEPLOY", "name": "Deploy  bot"},
                blocks=[
                    {"type": "header", "text": {"type": "plain_text", "text": "Build 42"}},
                    {"type": "section", "fields": [{"type": "mrkdwn", "text": "is *red*"}]},
                    {
                        "type": "rich_text",
                        "elements": [
                            {
                                "type": "rich_text_section",
                                "elements": [
                                    {"type": "text", "text": "ask "},
                                    {"type": "user", "user_id": "U0BOB"},
                                    {"type": "link", "url": "https://a.example"},
                                ],
                            }
                        ],
                    },
                    7,
                ],
                attachments=[{"title": "Log", "fields": [{"title": "Host", "value": "web-1"}]}],
            ),
            "app:Deploy bot",
            "Build 42\nis *red*\nask <@U0BOB>https://a.example\nLog\nHost\nweb-1",
        ),
    ],
)
def test_one_message_is_quoted_whoever_wrote_it(
    message: dict[str, Any], by: str, text: str
) -> None:
    quoted = quote_of(message, CHANNEL, HOME)
    assert quoted is not None
    assert (quoted.by, quoted.text) == (by, text)


GAP = unread("T0PILOT", CHANNEL, "3.000100")
ELSEWHERE = key_of("T0PILOT", "C0OPS", "9.000100")


@pytest.mark.parametrize(
    ("run", "up_to"),
    [
        (begun(), BEGINNING),
        (begun(ref=ref(5)), "5.000100"),
        (begun(ref=ref(5)).then(said(ref=ref(12))), "12.000100"),
        (begun(ref=ref(12)).then(said(ref=ref(5))), "12.000100"),
        (begun(ref="cli:1"), BEGINNING),
        (begun(ref=ELSEWHERE), BEGINNING),
        # By a shortcut: only the message was shown that it is about.
        (begun(quoted=(quote(4),)), BEGINNING),
        (begun(ref=ref(5), quoted=(quote(None, BY_CORE), quote(4))), "5.000100"),
        (begun(ref=ref(5), quoted=(GAP,)), "3.000100"),
        (begun(ref=ref(5), quoted=(quote(3), GAP)).then(said(ref=ref(6))), "6.000100"),
        (begun(ref=ref(2)).then(said(ref=ref(5), quoted=(GAP,))), "3.000100"),
    ],
)
def test_a_thread_is_read_from_where_its_agent_was_told_of_it(run: History, up_to: str) -> None:
    assert told_of([run.state], CHANNEL).up_to == up_to


def test_an_older_run_says_it_where_the_newer_does_not() -> None:
    older, silent = begun(ref=ref(5)).state, begun().state
    assert told_of([silent, older], CHANNEL).up_to == "5.000100"
    assert told_of([begun(ref=ref(3)).state, older], CHANNEL).up_to == "3.000100"
    assert told_of([], CHANNEL).up_to == BEGINNING


def test_what_the_agent_knows_is_not_quoted_to_it() -> None:
    run = begun(ref=ref(1), quoted=(quote(2), GAP)).then(
        said(ref=ref(5)), said("never mind", ref=ref(6)), deleted(ref(6))
    )
    told = told_of([run.state], CHANNEL)
    assert [one for one in range(9) if not told.lacks(quote(one))] == [1, 2, 5, 6]
    assert not told_of([begun(ref=ref(8)).state, run.state], CHANNEL).lacks(quote(5))
    answer = answered(1, "staging").model_copy(update={"ref": ref(7)})
    assert not told_of([questioned().then(answer).state], CHANNEL).lacks(quote(7))


ALERT = {"type": "message", "bot_id": "B0DEPLOY", "username": "U0ALICE", "ts": "1796000000.000100"}


@pytest.mark.parametrize(
    ("message", "by"),
    [
        ({**ALERT, "text": "stop", "subtype": "bot_message"}, "app:U0ALICE"),
        ({**ALERT, "text": "42 is red", "user": "U0DEPLOY"}, "app:U0ALICE"),
        ({**ALERT, "text": "42 is red", "bot_id": "B0PILOT"}, None),
        ({**ALERT, "text": "42 is red", "user": "U0PILOT"}, None),
        ({**ALERT, "text": "", "blocks": "none"}, None),
        (shown(), "slack:T0PILOT:U0BOB"),
        (shown("stop"), None),
    ],
)
def test_what_another_app_said_is_quoted_by_its_name_and_ours_is_not(
    message: dict[str, Any], by: str | None
) -> None:
    quoted = quote_of_other(message, CHANNEL, HOME)
    assert (quoted and quoted.by) == by
