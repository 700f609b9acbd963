"""The same seed and the same acts give the same record, to the byte."""

from __future__ import annotations

from typing import Any

import aiohttp

from bot.sandbox.ids import Ids
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from tests.sandbox.driving import MOMENT, bolt_app, buttons, client_of, connected, modal, text_input


async def settled(sandbox: OpenSandbox) -> None:
    """Until everything that was sent has been acknowledged."""

    def all_acknowledged() -> bool:
        entries = sandbox.inside.record.calls()
        sent = {one["envelope_id"] for one in entries if one["kind"] == "delivery"}
        return sent == {one["envelope_id"] for one in entries if one["kind"] == "acknowledgement"}

    await sandbox.until(all_acknowledged, "all is acknowledged")


async def story(port: int, seed: int) -> tuple[int, bytes]:
    """A message, a click, a modal, and a response; the port, and the record that is left."""
    async with open_sandbox(Sandbox(seed=seed, clock=MOMENT), port=port) as sandbox:
        app = bolt_app(sandbox)

        @app.event("message")
        async def message() -> None: ...

        @app.action("steer")
        async def steer(ack: Any, body: Any, client: Any) -> None:
            await client.views_open(trigger_id=body["trigger_id"], view=modal(text_input("a")))
            await ack()

        @app.view("steer")
        async def submitted(ack: Any) -> None:
            await ack()

        async with connected(app):
            await sandbox.act("U0BOB", "message", channel="D0BOB", text="hello")
            await settled(sandbox)
            posted = await client_of(sandbox).chat_postMessage(
                channel="D0BOB", text="?", blocks=buttons("steer")
            )
            await settled(sandbox)
            clicked = await sandbox.act(
                "U0BOB", "click", channel="D0BOB", ts=posted["ts"], action_id="steer"
            )
            await sandbox.act("U0BOB", "submit", view_id=clicked["view_id"], values={"a": "x"})
            await settled(sandbox)
            async with (
                aiohttp.ClientSession() as http,
                http.get(f"{sandbox.url}/sandbox/calls") as response,
            ):
                return sandbox.port, await response.read()


async def test_the_same_seed_and_acts_give_the_same_record() -> None:
    port, first = await story(0, seed=1)
    assert len(first) > 5000
    assert await story(port, seed=1) == (port, first)
    _, other = await story(port, seed=2)
    assert other != first


def test_what_one_part_draws_changes_nothing_for_another() -> None:
    one, other = Ids(1), Ids(1)
    for _ in range(5):
        one.new("Ev")
        one.secret()
        one.chance("chat.update")
    assert one.new("V") == other.new("V")
    assert one.token(5) == other.token(5)
    assert one.chance("chat.postMessage") == other.chance("chat.postMessage")


def test_without_a_seed_nothing_comes_twice() -> None:
    ids = Ids()
    drawn = [(ids.new("V"), ids.secret(), ids.token(16), ids.uuid()) for _ in range(200)]
    for kind in zip(*drawn, strict=True):
        assert len(set(kind)) == 200
