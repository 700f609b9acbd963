"""A real Bolt app over Socket Mode."""

from __future__ import annotations

import asyncio
from typing import Any

from bot.sandbox.delivery.transport import Timing
from tests.sandbox.driving import (
    Driver,
    bolt_app,
    buttons,
    connected,
    driving,
    modal,
    text_input,
    until,
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


async def test_click_is_acknowledged_and_the_card_is_replaced(driver: Driver) -> None:
    app = bolt_app(driver.running)

    @app.action("approval.approve")
    async def approve(ack: Any, body: Any, client: Any) -> None:
        await ack()
        place = body["container"]
        await client.chat_update(
            channel=place["channel_id"], ts=place["message_ts"], text="Approved", blocks=[]
        )

    posted = await driver.slack.chat_postMessage(
        channel="C0OPS", text="Approve?", blocks=buttons("approval.approve")
    )
    async with connected(app):
        click = {"channel": "C0OPS", "ts": posted["ts"], "action_id": "approval.approve"}
        clicked = await driver.act("U0BOB", "click", **click)
        assert clicked["ok"]
        assert clicked["acknowledged"]

        async def replaced() -> bool:
            return bool((await driver.messages("C0OPS"))[0]["text"] == "Approved")

        await until(replaced)
        old_picture = await driver.act("U0FRANK", "click", **click)
    assert old_picture["acknowledged"], "a button that was there before can still be clicked"
    (message,) = await driver.messages("C0OPS")
    assert "blocks" not in message
    assert message["edited"]["user"] == "U0PILOT"


async def test_forged_value_and_outsider_reach_the_app_as_they_are(driver: Driver) -> None:
    app, clicks = bolt_app(driver.running), []

    @app.action("approval.approve")
    async def approve(ack: Any, body: Any) -> None:
        await ack()
        clicks.append(body)

    posted = await driver.slack.chat_postMessage(
        channel="C0SHARED", text="Approve?", blocks=buttons("approval.approve")
    )
    async with connected(app):
        await driver.act(
            "U0DAVE",
            "click",
            channel="C0SHARED",
            ts=posted["ts"],
            action_id="approval.approve",
            value="apr_forged",
        )
    (body,) = clicks
    assert body["actions"][0]["value"] == "apr_forged"
    assert (body["user"]["team_id"], body["team"]["id"]) == ("T0OTHER", "T0PILOT")
    assert body["message"]["ts"] == posted["ts"]


async def test_modal_shows_errors_and_then_closes(driver: Driver) -> None:
    app, submitted = bolt_app(driver.running), []

    @app.action("approval.steer")
    async def steer(ack: Any, body: Any, client: Any) -> None:
        view = modal(text_input("arg.amount", initial_value="180"), text_input("arg.order"))
        await client.views_open(trigger_id=body["trigger_id"], view=view)
        await ack()

    @app.view("steer")
    async def send(ack: Any, view: Any) -> None:
        submitted.append(view["state"]["values"])
        if view["state"]["values"]["arg.amount"]["value"]["value"] == "200":
            await ack(response_action="errors", errors={"arg.amount": "Too much."})
        else:
            await ack()

    posted = await driver.slack.chat_postMessage(
        channel="C0OPS", text="Approve?", blocks=buttons("approval.steer")
    )
    async with connected(app):
        click = {"channel": "C0OPS", "ts": posted["ts"], "action_id": "approval.steer"}
        view_id = (await driver.act("U0BOB", "click", **click))["view_id"]

        kept = await driver.act("U0BOB", "submit", view_id=view_id, values={})
        assert kept["errors"] == {"arg.order": "Please complete this required field."}
        assert not kept["acknowledged"]
        assert not submitted

        values = {"arg.amount": 200, "arg.order": "ORD-1"}
        refused = await driver.act("U0BOB", "submit", view_id=view_id, values=values)
        assert refused["acknowledged"]
        assert refused["errors"] == {"arg.amount": "Too much."}
        (shown,) = await driver.get("/sandbox/views?as=U0BOB")
        assert shown["errors"] == {"arg.amount": "Too much."}

        taken = await driver.act("U0BOB", "submit", view_id=view_id, values={"arg.order": "ORD-1"})
    assert taken["acknowledged"]
    assert "errors" not in taken
    assert submitted[-1]["arg.amount"]["value"] == {"type": "plain_text_input", "value": "180"}
    assert await driver.get("/sandbox/views?as=U0BOB") == []


async def test_submission_can_push_update_and_clear(driver: Driver) -> None:
    app = bolt_app(driver.running)
    answers: list[dict[str, Any]] = [
        {"response_action": "push", "view": modal(callback_id="second")},
        {"response_action": "update", "view": modal(callback_id="third")},
        {"response_action": "clear"},
    ]

    @app.command("/agent")
    async def command(ack: Any, body: Any, client: Any) -> None:
        await client.views_open(trigger_id=body["trigger_id"], view=modal(callback_id="first"))
        await ack()

    async def submitted(ack: Any) -> None:
        await ack(**answers.pop(0))

    for name in ("first", "second", "third"):
        app.view(name)(submitted)
    async with connected(app):
        opened = await driver.act("U0BOB", "command", channel="C0OPS", command="/agent", text="")
        pushed = await driver.act("U0BOB", "submit", view_id=opened["view_id"], values={})
        stack = await driver.get("/sandbox/views?as=U0BOB")
        assert [view["callback_id"] for view in stack] == ["first", "second"]
        assert stack[1]["previous_view_id"] == opened["view_id"]

        await driver.act("U0BOB", "submit", view_id=pushed["view_id"], values={})
        stack = await driver.get("/sandbox/views?as=U0BOB")
        assert [view["callback_id"] for view in stack] == ["first", "third"]

        await driver.act("U0BOB", "submit", view_id=pushed["view_id"], values={})
    assert await driver.get("/sandbox/views?as=U0BOB") == []


async def test_closing_is_told_only_to_those_who_asked(driver: Driver) -> None:
    app, closed = bolt_app(driver.running), []
    notify = [True, False]

    @app.command("/agent")
    async def command(ack: Any, body: Any, client: Any) -> None:
        view = modal(notify_on_close=notify.pop(0))
        await client.views_open(trigger_id=body["trigger_id"], view=view)
        await ack()

    @app.view_closed("steer")
    async def gone(ack: Any, body: Any) -> None:
        await ack()
        closed.append(body["view"]["id"])

    async with connected(app):
        ids = []
        for _ in range(2):
            opened = await driver.act(
                "U0BOB", "command", channel="C0OPS", command="/agent", text=""
            )
            ids.append(opened["view_id"])
            assert (await driver.act("U0BOB", "close", view_id=ids[-1]))["acknowledged"]
    assert closed == ids[:1]


async def test_command_answers_privately_and_through_its_response_url(driver: Driver) -> None:
    app = bolt_app(driver.running)

    @app.command("/agent")
    async def command(ack: Any, command: Any) -> None:
        await ack(f"At once: {command['text']}")
        # Not Bolt's `respond`, which would go through a proxy of the environment.
        answer = {"text": "To all", "response_type": "in_channel"}
        async with driver.http.post(command["response_url"], json=answer) as response:
            assert await response.text() == "ok"

    async with connected(app):
        answer = await driver.act(
            "U0CAROL", "command", channel="C0SUPPORT", command="/agent", text="a & b"
        )
        assert answer["response"] == {"text": "At once: a &amp; b"}
        await until(driver.messages)
    (private,) = await driver.get("/sandbox/ephemerals?as=U0CAROL")
    assert private["text"] == "At once: a &amp; b"
    assert await driver.get("/sandbox/ephemerals?as=U0ALICE") == []
    assert (await driver.messages())[0]["text"] == "To all"


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


async def test_app_home_opens(driver: Driver) -> None:
    app = bolt_app(driver.running)

    @app.event("app_home_opened")
    async def opened(event: Any, client: Any) -> None:
        view = {"type": "home", "blocks": buttons("run.stop")}
        await client.views_publish(user_id=event["user"], view=view)

    stopped = []

    @app.action("run.stop")
    async def stop(ack: Any, body: Any) -> None:
        await ack()
        stopped.append(body["view"]["type"])

    async with connected(app):
        assert (await driver.act("U0BOB", "home"))["acknowledged"]

        async def published() -> Any:
            return await driver.get("/sandbox/home?as=U0BOB")

        home = await until(published)
        await driver.act("U0BOB", "click", view_id=home["id"], action_id="run.stop")
    assert stopped == ["home"]


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

    await until(said)
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
            await until(all_tried)
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

            async def kinds() -> Any:
                found = [one["kind"] for one in await driver.get("/sandbox/violations")]
                return found if len(found) == 2 else None

            assert await until(kinds) == ["unanswered_interaction", "late_acknowledgement"]
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
