"""What becomes of messages: which events are a person's edit or deletion, and which are nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.slack.fields import BadPayload
from bot.slack.messages import Change, Message
from bot.slack.payloads import Actor

SAID: dict[str, Any] = {
    "type": "message",
    "user": "U0ALICE",
    "team": "T0PILOT",
    "text": "<@U0PILOT> refund <https://x.example|x.example>",
    "ts": "2.5",
    "thread_ts": "1.2",
    "parent_user_id": "U0BOB",
}
EDITED = {**SAID, "text": "refund half", "edited": {"user": "U0ALICE", "ts": "3.0"}}
TOMBSTONE = {**SAID, "user": "USLACKBOT", "subtype": "tombstone", "text": "It was deleted."}


def event(subtype: str, **more: Any) -> dict[str, Any]:
    inside = {"type": "message", "subtype": subtype, "channel": "C0SUPPORT", "hidden": True}
    return {"type": "event_callback", "team_id": "T0PILOT", "event": {**inside, **more}}


def changed(now: Any, before: Any = SAID) -> dict[str, Any]:
    return event("message_changed", message=now, previous_message=before)


def deleted(before: Any = SAID) -> dict[str, Any]:
    return event("message_deleted", deleted_ts="2.5", previous_message=before)


def test_an_edit_is_its_authors_message_as_it_is_now_and_as_it_was() -> None:
    found = Change.parse(changed(EDITED))
    assert found is not None
    assert (found.is_deleted, found.message.raw) == (False, "refund half")
    assert found.was is not None
    assert found.was.raw == SAID["text"]
    assert found.message.actor == Actor("U0ALICE", "T0PILOT")
    assert found.message.key == "slack:T0PILOT:C0SUPPORT:2.5"
    assert found.message.thread_ts == "1.2"
    assert found.message.as_of == datetime.fromtimestamp(3, UTC)
    assert found.was.as_of is None
    assert found.message.parent_user == "U0BOB", "whose thread it is need not be asked"


@pytest.mark.parametrize("body", [deleted(), changed(TOMBSTONE)], ids=["gone", "with replies"])
def test_what_is_deleted_is_the_message_as_it_was(body: dict[str, Any]) -> None:
    found = Change.parse(body)
    assert found is not None
    assert found.is_deleted
    assert (found.message.actor.user, found.message.raw) == ("U0ALICE", SAID["text"])
    assert found.message.key == "slack:T0PILOT:C0SUPPORT:2.5"


def test_what_opened_a_thread_is_in_none_once_it_has_replies() -> None:
    root = {**SAID, "thread_ts": "2.5"}
    found = Change.parse(changed({**EDITED, "thread_ts": "2.5"}, root))
    assert found is not None
    assert (found.message.thread_ts, found.message.thread) == (None, "2.5")


NOTHING = {
    "an unfolded link": changed({**SAID, "attachments": [{"id": 1}]}),
    "a link unfolded below what was edited before": changed({**EDITED, "attachments": []}, EDITED),
    "replies that were counted": changed({**SAID, "reply_count": 2, "reply_users": ["U0BOB"]}),
    "the language": changed({**SAID, "language": {"locale": "de"}}),
    "an edit of which nothing says that it is one": changed(SAID, None),
    "an edit by somebody else": changed({**EDITED, "edited": {"user": "U0BOB", "ts": "3.0"}}),
    "a bot's": changed({**EDITED, "bot_id": "B1"}, {**SAID, "bot_id": "B1"}),
    "of a bot that was deleted": deleted({**SAID, "bot_profile": {"id": "B1"}}),
    "a deleted join": deleted({**SAID, "subtype": "channel_join"}),
    "a deletion that does not say of what": deleted(None),
    "a mention": {**event(""), "event": {**EDITED, "type": "app_mention", "channel": "C0SUPPORT"}},
    "a join": event("channel_join", user="U0ALICE", ts="3.0", text="has joined"),
    "a reaction": {"type": "event_callback", "event": {"type": "reaction_added"}},
}


@pytest.mark.parametrize("body", NOTHING.values(), ids=NOTHING)
def test_what_is_no_edit_by_its_author_changes_nothing(body: dict[str, Any]) -> None:
    assert Change.parse(body) is None


@pytest.mark.parametrize(
    "body",
    [changed(EDITED), deleted(), changed(TOMBSTONE), *NOTHING.values()],
)
def test_none_of_it_is_something_that_was_said_now(body: dict[str, Any]) -> None:
    assert Message.parse(body) is None


def test_what_is_said_now_changes_nothing_that_was_said() -> None:
    body = {**event(""), "event": {**SAID, "channel": "C0SUPPORT"}}
    assert Message.parse(body) is not None
    assert Change.parse(body) is None


@pytest.mark.parametrize("ts", [None, 5, "", "x", ["1.2"]])
def test_garbage_is_a_bad_payload_and_nothing_else(ts: object) -> None:
    with pytest.raises(BadPayload):
        Change.parse(changed({**EDITED, "ts": ts}))
