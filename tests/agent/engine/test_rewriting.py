"""Messages that are edited or deleted while a run lives, and what comes with them, through the façade."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from agent import tool
from agent.errors import NotFound
from agent.ports import ModelReply, ModelRequest
from agent.rules.ids import Principal, SessionId
from agent.rules.parts import GivenFile, Quoted
from agent.rules.transcript import ToolMessage, UserMessage
from tests.agent.engine.bench import ALICE, calls, says
from tests.agent.engine.replicas import replicas

BOB = Principal("slack:T0PILOT:U0BOB")
SESSION = SessionId("ses_1")
ROOT, REF = "C1/1.0", "C1/1.1"
SENT: list[str] = []


@tool
def send() -> str:
    """Send."""
    SENT.append("sent")
    return "sent"


class Interrupted:
    """Wants to send at once; somebody does something meanwhile. Then it says what it was told last."""

    name = "interrupted"

    def __init__(self) -> None:
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def reply(self, request: ModelRequest) -> ModelReply:
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            await happens()
            return calls(("send", "{}"))
        dropped = sum(isinstance(message, ToolMessage) for message in request.messages)
        said = [one.text for one in request.messages if isinstance(one, UserMessage)]
        return says(f"{dropped} dropped; {said[-1]}")


async def test_an_edit_while_the_model_thinks_is_what_the_run_ends_with(url: str) -> None:
    SENT.clear()
    model = Interrupted()
    async with replicas(url) as several:
        ours = await several.runtime([send], model=model)
        other = await several.runtime([send], model=model)

        async def edits() -> None:
            for _ in range(2):  # It is delivered twice.
                assert await other.edit_message(ROOT, "do not send", ALICE, SESSION)
            assert not await other.edit_message(ROOT, "send all", BOB, SESSION)

        model.meanwhile = edits
        key = "k-1"
        run_id = await ours.start("send", requester=ALICE, session=SESSION, ref=ROOT, key=key)
        state = await ours.settle(run_id)
        assert (state.answer, SENT) == ("1 dropped; do not send", [])
        assert state.form == 6
        assert not await other.edit_message(ROOT, "too late", ALICE, SESSION)
        assert not await other.delete_message(ROOT, ALICE, SESSION)
        # The request may be delivered once more, as it was.
        again = await other.start("send", requester=ALICE, session=SESSION, ref=ROOT, key=key)
        assert again == run_id
        assert await ours.replay(run_id) == []


async def test_a_request_that_is_deleted_while_the_model_thinks_stops_its_run(url: str) -> None:
    SENT.clear()
    model = Interrupted()
    async with replicas(url) as several:
        ours = await several.runtime([send], model=model)
        other = await several.runtime([send], model=model)

        async def deletes() -> None:
            assert not await other.delete_message(ROOT, BOB, SESSION)
            assert await other.delete_message(ROOT, ALICE, SESSION)

        model.meanwhile = deletes
        run_id = await ours.start("send", requester=ALICE, session=SESSION, ref=ROOT)
        state = await ours.settle(run_id)
        assert (state.ending, SENT) == ("cancelled", [])
        assert state.stop is not None
        assert state.stop.by == ALICE
        assert await other.delete_message(ROOT, ALICE, SESSION), "it is gone already"
        # Delivered once more, it begins nothing.
        assert (await other.steer(run_id, "send", ALICE, ref=ROOT)).run_id == run_id
        assert await ours.replay(run_id) == []


async def test_a_message_that_is_deleted_is_not_said_again_when_it_is_delivered_again(
    url: str,
) -> None:
    async with replicas(url) as several:
        runtime = await several.runtime(model=Interrupted())
        run_id = await runtime.start("go", requester=ALICE, session=SESSION)
        await runtime.steer(run_id, "all of it", BOB, ref=REF)
        assert await runtime.delete_message(REF, BOB, SESSION)
        await runtime.steer(run_id, "all of it", BOB, ref=REF)
        assert (await runtime.settle(run_id)).answer == "0 dropped; go"
        with pytest.raises(NotFound, match="No message has the id C1/9"):
            await runtime.edit_message("C1/9", "x", BOB, SESSION)
        with pytest.raises(NotFound):
            await runtime.delete_message(REF, BOB, SessionId("ses_2"))


async def test_a_run_has_the_id_and_the_place_and_all_that_it_is_given(url: str) -> None:
    quoted, file = Quoted(by=BOB, text="mine too"), GivenFile(name="a.txt", text="ORD-1")
    async with replicas(url) as several:
        runtime = await several.runtime(model=Interrupted())
        mine = runtime.new_run_id()
        first = await runtime.start(
            "go", requester=ALICE, run_id=mine, place="C1", quoted=[quoted], files=[file], wait=True
        )
        assert first == mine
        began = await runtime.state(first)
        next_one = await runtime.steer(
            first, "and now?", BOB, ref=REF, place="C1:1", quoted=[quoted], files=[file]
        )
        assert (began.place, next_one.place, next_one.ref) == ("C1", "C1:1", REF)
        for state in (began, next_one):
            assert (state.quoted, state.files) == ((quoted,), (file,))
        assert await runtime.edit_message(REF, "and then?", BOB, began.session)
        assert (await runtime.settle(next_one.run_id)).answer == "0 dropped; and then?"
        assert await runtime.replay(next_one.run_id) == []


async def test_what_a_run_has_ended_without_having_heard_reaches_the_next_one_as_it_is_then(
    url: str,
) -> None:
    async with replicas(url) as several:
        runtime = await several.runtime(model=Interrupted())
        run_id = await runtime.start("go", requester=ALICE, session=SESSION, ref=ROOT)
        await runtime.steer(run_id, "all of it", BOB, ref=REF)
        await runtime.stop(run_id, ALICE)
        assert await runtime.edit_message(REF, "half of it", BOB, SESSION)
        assert await runtime.delete_message(ROOT, ALICE, SESSION)
        next_one = await runtime.steer(run_id, "and now?", ALICE)
        told = str(next_one.past)
        assert ("half of it" in told, "all of it" in told, "go" in told) == (True, False, False)
        assert not await runtime.edit_message(REF, "none of it", BOB, SESSION), "it is told"
        assert (await runtime.settle(next_one.run_id)).answer == "0 dropped; and now?"
        assert [await runtime.replay(one) for one in (run_id, next_one.run_id)] == [[], []]
