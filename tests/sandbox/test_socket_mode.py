"""A real Bolt app over Socket Mode."""

from __future__ import annotations

import asyncio
from typing import Any

from bot.sandbox.delivery.transport import Timing
from tests.sandbox.driving import (
    Driver,
    bolt_app,
    connected,
    driving,
)


async def test_mention_yields_two_events_with_one_ts(driver: Driver) -> None:
    app, seen = bolt_app(driver.running), []

    @app.event("app_mention")
    async def mention(body: dict[str, Any]) -> None:
        seen.append(body)

    @app.event("message")
    async def message(body: dict[str, Any]) -> None:
        seen.append(body)

    async with connected(app):
        said = await driver.act(
            "U0ALICE", "message", channel="C0SUPPORT", text="@pilothouse is 1 < 2 & true?"
        )
    assert said["acknowledged"]
    events = {body["event"]["type"]: body["event"] for body in seen}
    assert set(events) == {"app_mention", "message"}
    assert {event["ts"] for event in events.values()} == {said["ts"]}
    assert len({body["event_id"] for body in seen}) == 2
    assert events["message"]["channel_type"] == "channel"
    assert events["message"]["text"] == "<@U0PILOT> is 1 &lt; 2 &amp; true?"
    assert events["message"]["user_team"] == "T0PILOT"


async def test_direct_message_yields_one_event_and_an_outsider_keeps_their_team(
    driver: Driver,
) -> None:
    app, seen = bolt_app(driver.running), []

    @app.event("message")
    async def message(event: dict[str, Any]) -> None:
        seen.append(event)

    async with connected(app):
        await driver.act("U0DAVE", "message", channel="D0DAVE", text="@Pilothouse hello")
    assert [(one["channel_type"], one["user_team"]) for one in seen] == [("im", "T0OTHER")]


async def test_two_connections_take_turns(driver: Driver) -> None:
    app = bolt_app(driver.running)

    @app.command("/agent")
    async def command(ack: Any) -> None:
        await ack()

    async with connected(app), connected(app):
        for _ in range(4):
            await driver.act("U0BOB", "command", channel="C0OPS", command="/agent", text="")
    used = [one["connection"] for one in await driver.deliveries("slash_commands")]
    assert len(used) == 4
    assert used[0] == used[2] != used[1] == used[3]


async def test_event_sent_while_nobody_is_connected_arrives_later(driver: Driver) -> None:
    app, seen = bolt_app(driver.running), asyncio.Event()

    @app.event("message")
    async def message() -> None:
        seen.set()

    saying = asyncio.create_task(
        driver.act("U0ALICE", "message", channel="D0ALICE", text="are you there?")
    )

    async def said() -> Any:
        return await driver.messages("D0ALICE")

    await driver.running.until(said)
    async with connected(app):
        await asyncio.wait_for(seen.wait(), 5)
        assert (await saying)["acknowledged"]


async def test_event_without_acknowledgement_goes_to_the_next_connection() -> None:
    timing = Timing(socket_redelivery=0.05, retry_delays=(0.0, 0.0))
    async with driving(timing=timing) as driver:
        url = (await driver.slack.apps_connections_open(app_token="xapp-sandbox"))["url"]
        async with driver.http.ws_connect(url) as silent, connected(bolt_app(driver.running)):
            assert (await silent.receive_json())["type"] == "hello"
            await driver.act("U0ALICE", "message", channel="D0ALICE", text="hello?")

            async def all_tried() -> bool:
                return len(await driver.deliveries()) == 3

            # Bolt, without a listener, acknowledges nothing either.
            await driver.running.until(all_tried)
    deliveries = [one for one in driver.sandbox.record.calls() if one["kind"] == "delivery"]
    assert [one["retry_attempt"] for one in deliveries] == [0, 1, 2]
    assert len({one["event_id"] for one in deliveries}) == 1
    assert deliveries[0]["connection"] != deliveries[1]["connection"]


async def test_interaction_without_acknowledgement_is_not_sent_again() -> None:
    async with driving(timing=Timing(ack=0.05)) as driver:
        url = (await driver.slack.apps_connections_open(app_token="xapp-sandbox"))["url"]
        async with driver.http.ws_connect(url) as silent:
            await silent.receive_json()
            answer = await driver.act(
                "U0ALICE", "command", channel="C0OPS", command="/agent", text=""
            )
            envelope = await silent.receive_json()
            await silent.send_json({"envelope_id": envelope["envelope_id"]})

            async def came() -> bool:
                calls = await driver.get("/sandbox/calls")
                return "acknowledgement" in [one["kind"] for one in calls]

            await driver.running.until(came)
            assert driver.violations == ["unanswered_interaction"]
        assert not answer["acknowledged"]
        assert len(await driver.deliveries("slash_commands")) == 1


async def test_eleventh_connection_is_one_too_many(driver: Driver) -> None:
    sockets = []
    for _ in range(11):
        url = (await driver.slack.apps_connections_open(app_token="xapp-sandbox"))["url"]
        sockets.append(await driver.http.ws_connect(url))
    first = [await socket.receive_json() for socket in sockets]
    assert [one["type"] for one in first] == ["hello"] * 10 + ["disconnect"]
    assert first[9]["num_connections"] == 10
    assert first[10]["reason"] == "too_many_websockets"
    for socket in sockets:
        await socket.close()


async def test_client_comes_anew_when_told_to(driver: Driver) -> None:
    app = bolt_app(driver.running)

    @app.command("/agent")
    async def command(ack: Any) -> None:
        await ack()

    async with connected(app):
        await driver.fault(disconnect="refresh_requested")
        answer = await driver.act("U0BOB", "command", channel="C0OPS", command="/agent", text="")
    assert answer["acknowledged"]


async def test_event_of_a_connection_that_dies_goes_to_another(driver: Driver) -> None:
    app, retries = bolt_app(driver.running), []

    @app.event("message")
    async def message(request: Any) -> None:
        retries.append(request.headers.get("x-slack-retry-num"))

    url = (await driver.slack.apps_connections_open(app_token="xapp-sandbox"))["url"]
    async with connected(app), driver.http.ws_connect(url) as dying:
        await dying.receive_json()
        saying = asyncio.create_task(driver.act("U0ALICE", "message", channel="D0ALICE", text="1"))
        envelope = await dying.receive_json()
        await dying.close()
        assert (await saying)["acknowledged"]
    assert envelope["retry_attempt"] == 0
    assert retries == [["1"]]
