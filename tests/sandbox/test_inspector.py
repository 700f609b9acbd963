"""The record in lines that a reader understands, as they come and as they are completed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.sandbox.faults.fault import EFFECTS
from bot.sandbox.inspecting.rows import FAULTS, row_of
from bot.sandbox.inspecting.words import Words
from bot.sandbox.ordering.at_once import AT_ONCE
from bot.sandbox.page.server import FOLDER
from bot.sandbox.policies import Policies
from bot.sandbox.record import Record
from bot.sandbox.seed import seeded
from tests.sandbox.driving import Driver, buttons, driving
from tests.sandbox.hearing import Hearing

Json = dict[str, Any]
BLOCKS = [{"type": "divider"}]


def row(kind: str, secret: str = "xoxb-sandbox", **facts: Any) -> Json:
    entry = Record(lambda: 5.0).note(kind, secret=secret, **facts)
    return row_of(entry, secret, Words(seeded()))


def call(method: str, **arguments: Any) -> str:
    return str(row("call", method=method, arguments=arguments, status=200)["sense"])


def event(**fields: Any) -> Json:
    return row("delivery", type="events_api", envelope_id="e", payload={"event": fields})


def interaction(**fields: Any) -> Json:
    payload = {"user": {"id": "U0BOB"}, "channel": {"id": "C0OPS"}, **fields}
    return row("delivery", type="interactive", envelope_id="e", payload=payload)


@pytest.mark.parametrize(
    ("sense", "wanted"),
    [
        (
            call(
                "chat.postMessage",
                channel="C0SUPPORT",
                text="Hi <@U0BOB> &amp; <!subteam^S0FINANCE>",
            ),
            "in #support “Hi @Bob & @finance”",
        ),
        (
            call("chat.update", channel="C0OPS", blocks='[{"type": "divider"}]', text="x" * 99),
            f"1 block in #ops “{'x' * 79}…”",
        ),
        (
            call("chat.postMessage", channel="D0BOB", thread_ts="1.1", blocks=BLOCKS * 2),
            "2 blocks in a thread of a direct message with Bob",
        ),
        (
            call("chat.postEphemeral", channel="C0OPS", user="U0BOB", text="a"),
            "in #ops for Bob “a”",
        ),
        (
            call("views.open", view={"title": {"text": "Steer"}, "blocks": BLOCKS}),
            "“Steer” 1 block",
        ),
        (call("views.publish", user_id="U0BOB", view='{"type": "home"}'), "Home of Bob"),
        (call("views.open", view="{"), ""),
        (call("chat.postMessage", blocks=7, channel=["x"]), "in ['x']"),
        (call("reactions.add", name="eyes", channel="C0OPS"), ":eyes: in #ops"),
        (call("users.info", user="U0NONE"), "U0NONE"),
        (call("conversations.info", channel="C0OPS"), "in #ops"),
        (call("response_url", delete_original=True), "deletes the message"),
        (call("response_url", replace_original=True, text="b"), "replaces the message “b”"),
        (call("response_url", response_type="in_channel", text="b"), "answers for all “b”"),
    ],
)
def test_a_call_is_told_in_a_few_words(sense: str, wanted: str) -> None:
    assert sense == wanted


@pytest.mark.parametrize(
    ("told", "group", "name", "sense"),
    [
        (
            event(type="app_mention", user="U0ALICE", channel="C0OPS", text="<@U0PILOT> hi"),
            *("event", "app_mention", "by Alice in #ops “@Pilothouse hi”"),
        ),
        (
            event(
                type="message",
                subtype="message_changed",
                channel="C0OPS",
                message={"ts": "2.2", "user": "U0BOB", "text": "new"},
            ),
            *("event", "message.message_changed", "by Bob in #ops “new”"),
        ),
        (
            event(type="reaction_added", user="U0BOB", reaction="eyes", item={"channel": "C0OPS"}),
            *("event", "reaction_added", ":eyes: by Bob in #ops"),
        ),
        (
            event(type="user_change", user={"id": "U0ERIN"}),
            *("event", "user_change", "by Erin"),
        ),
        (
            interaction(type="block_actions", actions=[{"text": {"text": "Approve"}}]),
            *("interaction", "block_actions", "“Approve” by Bob in #ops"),
        ),
        (
            interaction(
                type="block_actions",
                actions=[{"action_id": "m", "selected_option": {"text": {"text": "Why?"}}}],
            ),
            *("interaction", "block_actions", "“Why?” by Bob in #ops"),
        ),
        (
            interaction(type="view_submission", channel=None, view={"title": {"text": "Steer"}}),
            *("interaction", "view_submission", "“Steer” by Bob"),
        ),
        (
            interaction(type="message_action", callback_id="look"),
            *("interaction", "message_action", "look by Bob in #ops"),
        ),
        (
            row(
                "delivery",
                type="slash_commands",
                envelope_id="e",
                payload={
                    "command": "/agent",
                    "text": "help",
                    "user_id": "U0BOB",
                    "channel_id": "C0OPS",
                },
            ),
            *("interaction", "/agent", "“help” by Bob in #ops"),
        ),
        (
            row("acknowledgement", envelope_id="e", body={"response_action": "errors"}),
            *("acknowledgement", "acknowledgement", "errors"),
        ),
        (row("connected", connection="conn-1"), *("connection", "connected", "conn-1")),
        (
            row("violation", rule="limit", detail="too long", what="chat.update"),
            *("violation", "limit", "chat.update: too long"),
        ),
        (
            row("fault", effect="lost", what="message"),
            *("fault", "lost", "the app is never told: message"),
        ),
        (row("fault", effect="drop_sockets"), *("fault", "drop_sockets", "the connections break")),
        (row("again", of=3, as_retry=True), *("again", "again", "entry 3, as a retry")),
    ],
)
def test_what_went_to_the_app_is_told_in_a_few_words(
    told: Json, group: str, name: str, sense: str
) -> None:
    assert (told["group"], told["name"], told["sense"]) == (group, name, sense)


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"status": 200}, None),
        ({"status": 200, "error": "no_text"}, "no_text"),
        ({"status": 429, "error": "ratelimited"}, "ratelimited"),
        ({"status": 503}, "HTTP 503"),
        ({"status": 200, "ok": True, "dropped": True}, "the answer was lost"),
    ],
)
def test_what_went_wrong_is_told(facts: Json, problem: str | None) -> None:
    assert row("call", method="chat.update", arguments={}, **facts).get("problem") == problem


def test_the_page_has_words_for_each_fault_and_each_policy() -> None:
    assert set(FAULTS) == {*EFFECTS, *AT_ONCE}
    kinds = (FOLDER / "fault_kinds.js").read_text()
    settings = (FOLDER / "policies.js").read_text()
    assert [one for one in FAULTS if one not in kinds] == []
    assert [one for one in Policies().as_json() if one not in settings] == []


def test_a_row_leads_to_its_message() -> None:
    posted = row(
        "call",
        method="chat.postMessage",
        arguments={"channel": "#ops", "thread_ts": "1.1"},
        answer={"channel": "C0OPS", "ts": "2.2"},
        status=200,
    )
    clicked = interaction(
        type="block_actions",
        actions=[],
        container={"message_ts": "2.2", "thread_ts": "1.1"},
    )
    changed = event(
        type="message",
        subtype="message_changed",
        channel="C0OPS",
        message={"ts": "2.2", "thread_ts": "1.1"},
        ts="3.3",
    )
    for found in (posted, clicked, changed):
        assert (found["channel"], found["ts"], found["thread_ts"]) == ("C0OPS", "2.2", "1.1")
    assert "ts" not in row("connected", connection="c")


def test_what_is_completed_late_is_told_after_what_came_meanwhile() -> None:
    record = Record(lambda: 5.0)
    slow, quick = record.note("call"), record.note("call")
    before = record.change
    record.settle(slow)
    assert record.changed_since(before, most=9) == [slow]
    record.settle(quick)
    assert record.changed_since(before, most=9) == [slow, quick]
    assert record.changed_since(before, most=1) == [quick]


async def test_the_inspector_hears_of_entries_as_they_come_and_as_they_are_completed(
    driver: Driver, app: Hearing
) -> None:
    async def look(since: int, boot: str = driver.sandbox.boot) -> Any:
        return await driver.get(f"/sandbox/inspector?since={since}&boot={boot}")

    before = await look(0)
    assert (await look(99_999, "another"))["rows"] == before["rows"]
    waiting = asyncio.create_task(look(before["change"]))
    spot = await app.post(buttons("go"))
    # As soon as it is asked: what the call came to may follow.
    (asked, *_) = (await waiting)["rows"]
    assert (asked["group"], asked["name"]) == ("call", "chat.postMessage")
    done = await look(before["change"])
    posted = next(one for one in done["rows"] if one["seq"] == asked["seq"])
    assert (posted["ts"], posted["repeats"], posted["took_ms"] >= 0) == (spot["ts"], True, True)
    await app.act("click", **spot, action_id="go")
    rows = (await look(done["change"]))["rows"]
    click = next(one for one in rows if one["group"] == "interaction")
    answered = [one["envelope_id"] for one in rows if one["group"] == "acknowledgement"]
    assert click["envelope_id"] in answered
    full = await driver.get(f"/sandbox/calls/{click['seq']}")
    assert full["entry"]["payload"]["actions"][0]["action_id"] == "go"
    assert full["why_not_again"] is None
    # By it the page finds what a late acknowledgement was of.
    events = [one for one in (await look(0))["rows"] if one["group"] == "event"]
    assert [one["event_id"][:2] for one in events] == ["Ev"]


async def test_only_the_newest_rows_are_told_and_the_oldest_entry_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.sandbox.record.KEPT", 5)
    monkeypatch.setattr("bot.sandbox.inspecting.server.ROWS", 3)
    async with driving() as driver:
        for number in range(9):
            driver.sandbox.record.note("connected", connection=str(number))
        driver.sandbox.record.violation("limit", "too much")
        told = await driver.get("/sandbox/inspector")
        assert [one["seq"] for one in told["rows"]] == [8, 9, 10]
        assert (told["oldest"], told["violations"]) == (6, 1)
