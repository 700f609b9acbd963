"""Slack's JSON as values: what is read, and what is not believed."""

from __future__ import annotations

from typing import Any

import pytest

from bot.slack.commands import Command
from bot.slack.fields import BadPayload
from bot.slack.messages import Message, is_of_a_bot
from bot.slack.payloads import Actor, Click, Submission, kind_of
from bot.slack.typed import unescape

CLICK: dict[str, Any] = {
    "type": "block_actions",
    "team": {"id": "T0PILOT"},
    "user": {"id": "U0BOB", "team_id": "T0OTHER"},
    "container": {"type": "message", "channel_id": "C0SUPPORT", "message_ts": "1.2"},
    "trigger_id": "secret-trigger",
    "response_url": "https://hooks.slack.com/secret",
    "actions": [{"action_id": "approval.approve", "value": "apr_1"}],
}
MENTION: dict[str, Any] = {
    "type": "event_callback",
    "team_id": "T0PILOT",
    "event": {
        "type": "app_mention",
        "user": "U0ALICE",
        "user_team": "T0PILOT",
        "channel": "C0SUPPORT",
        "ts": "1.2",
        "text": "<@U0PILOT> refund",
    },
}


def test_whoever_clicked_belongs_to_the_workspace_that_the_payload_names() -> None:
    assert Click.parse(CLICK).actor == Actor("U0BOB", "T0OTHER")


def test_a_payload_that_names_no_workspace_leaves_it_open() -> None:
    assert Click.parse({**CLICK, "user": {"id": "U0BOB"}}).actor == Actor("U0BOB", None)


def test_an_organisation_is_not_taken_for_the_speakers_workspace() -> None:
    event = {**MENTION["event"], "user_team": "E0ORG", "team": "T0PILOT"}
    message = Message.parse({**MENTION, "event": event})
    assert message is not None
    assert message.actor == Actor("U0ALICE", "T0PILOT")


def test_a_value_shows_no_secret() -> None:
    assert "secret" not in repr(Click.parse(CLICK))


BUTTON = {"type": "button", "action_id": "approval.approve", "value": "apr_1"}
MENU = {
    "type": "overflow",
    "action_id": "approval.more",
    "options": [{"value": "deny_reason|apr_1"}, {"value": "view_all|apr_1"}],
}


@pytest.mark.parametrize(
    ("clicked", "is_its_own"),
    [
        ({"action_id": "approval.approve", "value": "apr_1"}, True),
        ({"action_id": "approval.approve", "value": "apr_2"}, False),
        ({"action_id": "approval.deny", "value": "apr_1"}, False),
        ({"action_id": "approval.approve"}, False),
        ({"action_id": "approval.more", "selected_option": {"value": "view_all|apr_1"}}, True),
        ({"action_id": "approval.more", "selected_option": {"value": "view_all|apr_2"}}, False),
        ({"action_id": "run.stop", "value": "run_1"}, True),
    ],
)
def test_a_message_is_redrawn_only_by_what_it_offers(clicked: Any, is_its_own: bool) -> None:
    beside = {"type": "section", "accessory": {"action_id": "run.stop", "value": "run_1"}}
    blocks = [{"type": "actions", "elements": [BUTTON, MENU]}, beside]
    spot = Click.parse({**CLICK, "actions": [clicked], "message": {"blocks": blocks}}).spot
    assert spot.redrawn_at == ("C0SUPPORT/1.2" if is_its_own else None)


@pytest.mark.parametrize(
    ("clicked", "elements", "shows_others"),
    [
        ("apr_1", [BUTTON, MENU], False),
        ("apr_2", [BUTTON], True),
        ("apr_2", [MENU], True),
        ("apr_1", [{**MENU, "options": [{"value": "deny_reason|apr_1"}]}], False),
        # Nothing is left to be decided there: it may have been redrawn since.
        ("apr_2", [{"action_id": "run.stop", "value": "run_1"}], False),
        ("apr_2", [], False),
    ],
)
def test_it_is_known_where_a_message_shows_other_questions(
    clicked: str, elements: Any, shows_others: bool
) -> None:
    action = {"action_id": "approval.approve", "value": clicked}
    message = {"blocks": [{"type": "actions", "elements": elements}]}
    spot = Click.parse({**CLICK, "actions": [action], "message": message}).spot
    assert spot.shows_others == shows_others


@pytest.mark.parametrize("message", [{}, {"blocks": None}, {"blocks": "x"}, "x", None])
def test_of_a_message_that_did_not_come_whatever_was_clicked_is_believed(message: Any) -> None:
    spot = Click.parse({**CLICK, "message": message}).spot
    assert spot.redrawn_at == "C0SUPPORT/1.2"
    assert not spot.shows_others


@pytest.mark.parametrize(
    "container",
    [{"thread_ts": "1.1"}, {}],
)
def test_the_thread_of_a_click_is_found_wherever_slack_puts_it(container: dict[str, str]) -> None:
    body = {
        **CLICK,
        "container": {**CLICK["container"], **container},
        "message": {"thread_ts": "1.1"},
    }
    assert Click.parse(body).spot.thread_ts == "1.1"


@pytest.mark.parametrize(
    "event",
    [
        {"bot_id": "B1"},
        {"subtype": "message_changed"},
        {"edited": {"user": "U0ALICE"}},
        {"type": "message", "channel_type": "channel"},
        {"type": "reaction_added"},
    ],
)
def test_what_no_person_says_to_us_is_no_message(event: dict[str, Any]) -> None:
    assert Message.parse({**MENTION, "event": {**MENTION["event"], **event}}) is None


SAID = {"type": "message", "channel": "C0SUPPORT", "user": "U0ALICE", "text": "hello"}
OURS = {"type": "message", "bot_id": "B0PILOT", "text": "hello"}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (OURS, True),
        ({"type": "message", "subtype": "message_changed", "message": OURS}, True),
        ({"type": "message", "subtype": "message_deleted", "previous_message": OURS}, True),
        (SAID, False),
        ({"type": "message", "subtype": "message_changed", "message": SAID}, False),
        ({**OURS, "type": "app_mention"}, False),
        ({"type": "member_joined_channel", "user": "U0PILOT"}, False),
        ("message", False),
        (None, False),
    ],
)
def test_what_a_bot_said_is_known_by_its_event(event: object, *, expected: bool) -> None:
    assert is_of_a_bot({"type": "event_callback", "event": event}) is expected


def test_a_mention_and_its_message_event_have_one_key() -> None:
    direct = {**MENTION["event"], "type": "message", "channel_type": "im"}
    keys = {
        message.key
        for body in (MENTION, {**MENTION, "event": direct})
        if (message := Message.parse(body)) is not None
    }
    assert keys == {"slack:T0PILOT:C0SUPPORT:1.2"}


GARBAGE: list[Any] = [
    None,
    [],
    "text",
    {},
    {"event": None},
    {"event": []},
    {"event": {"type": 5}},
    {**CLICK, "user": None},
    {**CLICK, "user": {"id": 5}},
    {**CLICK, "user": {"id": "slack:T1:U1"}},
    {**CLICK, "user": {"id": "U0BOB", "team_id": 5}},
    {**CLICK, "user": {"id": "U0BOB", "team_id": "T0PILOT:U0BOB"}},
    {**CLICK, "actions": []},
    {**CLICK, "actions": {}},
    {**CLICK, "actions": [None]},
    {**CLICK, "actions": [{"action_id": "x", "value": {}}]},
    {**CLICK, "trigger_id": 5},
]


@pytest.mark.parametrize("body", GARBAGE, ids=repr)
@pytest.mark.parametrize("kind", [Click, Command, Message, Submission])
def test_garbage_is_a_bad_payload_and_nothing_else(kind: Any, body: Any) -> None:
    with pytest.raises(BadPayload):
        kind.parse(body)


@pytest.mark.parametrize("channel", ["", "C1/../D1", 5, None, "general"])
def test_a_channel_is_an_id(channel: Any) -> None:
    event = {**MENTION["event"], "channel": channel}
    with pytest.raises(BadPayload):
        Message.parse({**MENTION, "event": event})


@pytest.mark.parametrize("ids", [("U1", "C_SUPPORT", "T1"), ("U_ALICE", "C1", "TEAM_1")])
def test_an_id_is_any_word_of_capitals_digits_and_underscores(ids: tuple[str, str, str]) -> None:
    user, channel, team = ids
    event = {**MENTION["event"], "user": user, "channel": channel, "user_team": team}
    message = Message.parse({"event": event, "team_id": team})
    assert message is not None
    assert (message.actor, message.channel) == (Actor(user, team), channel)


@pytest.mark.parametrize(
    ("event", "is_taken"),
    [
        ({"channel": "D0ALICE"}, True),
        ({"channel": "D0ALICE", "channel_type": None}, True),
        ({"channel": "C0SUPPORT"}, False),
        ({"channel": "D0ALICE", "channel_type": "channel"}, False),
        ({"channel": "D0ALICE", "subtype": "thread_broadcast", "channel_type": "im"}, True),
    ],
)
def test_a_direct_message_is_known_by_its_channel_where_the_event_does_not_say(
    event: dict[str, Any], is_taken: bool
) -> None:
    said = {"type": "message", "user": "U0ALICE", "ts": "1.2", "text": "refund", **event}
    assert (Message.parse({"team_id": "T0PILOT", "event": said}) is not None) is is_taken


def test_a_mention_that_is_also_sent_to_the_channel_counts() -> None:
    event = {**MENTION["event"], "subtype": "thread_broadcast", "thread_ts": "1.1"}
    assert Message.parse({**MENTION, "event": event}) is not None


@pytest.mark.parametrize("state", [{}, {"state": None}, {"state": {}}, {"state": {"values": None}}])
def test_a_modal_without_a_state_has_no_values(state: dict[str, Any]) -> None:
    view = {"id": "V1", "callback_id": "x", "private_metadata": "{}", **state}
    assert Submission.parse({"user": {"id": "U0BOB"}, "view": view}).values == {}


@pytest.mark.parametrize("values", [[], "x", {"a": 1}, {"a": {"value": 1}}])
def test_a_modals_values_are_blocks_of_elements(values: Any) -> None:
    view = {"id": "V1", "callback_id": "x", "private_metadata": "{}", "state": {"values": values}}
    with pytest.raises(BadPayload):
        Submission.parse({"user": {"id": "U0BOB"}, "view": view})


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("&amp;lt;", "&lt;"),
        ("<https://example.com/a?b=1&amp;c=2>", "https://example.com/a?b=1&c=2"),
        ("<http://example.com|example.com>", "example.com"),
        ("<https://evil.example|click here>", "click here (https://evil.example)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<@U0BOB> and <!channel>", "<@U0BOB> and <!channel>"),
    ],
)
def test_the_words_are_those_that_were_typed(sent: str, typed: str) -> None:
    assert unescape(sent) == typed


def test_the_kind_of_a_payload_is_safe_to_log() -> None:
    assert kind_of({"type": "x\nforged log line"}) == "unknown"
    assert kind_of([]) == "unknown"
    assert kind_of({"command": "/agent"}) == "command"


COMMAND: dict[str, Any] = {
    "command": "/agent",
    "text": "refund ORD-3300 180",
    "user_id": "U0ALICE",
    "channel_id": "C0SUPPORT",
    "trigger_id": "secret-trigger",
    "response_url": "https://hooks.slack.com/secret",
}


def test_a_command_delivered_twice_has_one_key_and_two_commands_have_two() -> None:
    key = Command.parse(COMMAND).key
    assert key is not None
    assert key == Command.parse({**COMMAND}).key
    assert "secret" not in key
    for name, other in (
        ("text", "refund ORD-3301 180"),
        ("trigger_id", "another"),
        ("response_url", "https://hooks.slack.com/another"),
        ("user_id", "U0BOB"),
        ("channel_id", "C0OPS"),
    ):
        assert Command.parse({**COMMAND, name: other}).key != key


def test_a_command_without_anything_of_its_own_is_none_that_was_there() -> None:
    bare = {k: v for k, v in COMMAND.items() if k not in ("trigger_id", "response_url")}
    assert Command.parse(bare).key is None
