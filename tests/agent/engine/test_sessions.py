"""A conversation over several runs: each is told of those before it."""

from __future__ import annotations

from agent import Agent, Approve, Policy, Runtime, Toolbox, ToolContext, tool
from agent.ports import ModelReply
from agent.rules.ids import Principal, RunId
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage
from tests.agent.engine.bench import ALICE, OPERATOR, InTurn, calls, says
from tests.agent.engine.replicas import Replicas, begin, replicas
from tests.store.database import ask

BOB = Principal("slack:T0PILOT:U0BOB")
RAN: list[str] = []


@tool(approval=True, effect="idempotent")
def send(context: ToolContext) -> str:
    """Send."""
    RAN.append("send")
    return "sent to Carol"


async def served(several: Replicas, *replies: ModelReply | Exception) -> tuple[Runtime, InTurn]:
    model = InTurn(*replies)
    return await several.runtime([send], model=model), model


def newest(model: InTurn) -> list[str]:
    """What the model was last told."""
    return [_words(message) for message in model.requests[-1].messages]


def _words(message: Message) -> str:
    match message:
        case UserMessage(is_note=True):
            return "note"
        case UserMessage(text=text):
            return f"user: {text}"
        case AssistantMessage(text=text, calls=calls):
            return f"model: {text}{', '.join(call.tool for call in calls)}"
        case ToolMessage(output=output):
            return f"result: {output}"


async def go_on(runtime: Runtime, run_id: RunId, prompt: str) -> RunId:
    """One more run in the session of this one."""
    session = (await runtime.state(run_id)).session
    return await runtime.start(prompt, requester=BOB, session=session, wait=True)


async def test_the_next_run_is_told_what_was_said_and_done_and_does_none_of_it_again(
    url: str,
) -> None:
    RAN.clear()
    async with replicas(url) as several:
        runtime, model = await served(
            several, calls(("send", "{}")), says("It is sent."), says("To Carol."), says("Yes.")
        )
        asked = await runtime.settle(await begin(runtime, "send it"))
        first = await runtime.decide(asked.open_approvals[0].id, Approve(), OPERATOR, wait=True)
        assert first.ending == "finished"
        second = await go_on(runtime, first.run_id, "to whom?")
        before = ["user: send it", "model: send", "result: sent to Carol", "model: It is sent."]
        assert newest(model) == [*before, "note", "user: to whom?"]
        await go_on(runtime, second, "is that all?")
        told = [*before, "user: to whom?", "model: To Carol.", "note", "user: is that all?"]
        assert newest(model) == told
        assert RAN == ["send"]
        state = await runtime.state(second)
        assert (state.calls, state.model_calls) == ({}, 1)


async def test_words_to_an_ended_run_begin_one_that_knows_what_it_had_said(url: str) -> None:
    async with replicas(url) as several:
        runtime, model = await served(several, says("I look."), says("Soon."))
        first = await runtime.start("look", requester=ALICE, wait=True)
        await runtime.steer(first, "when?", BOB, wait=True)
        assert newest(model) == ["user: look", "model: I look.", "note", "user: when?"]


async def test_a_session_of_its_own_knows_of_no_other(url: str) -> None:
    async with replicas(url) as several:
        runtime, model = await served(several, says("one"), says("two"))
        await runtime.start("a", requester=ALICE, wait=True)
        await runtime.start("b", requester=ALICE, wait=True)
        assert newest(model) == ["user: b"]


async def test_a_run_that_was_stopped_is_told_to_have_been(url: str) -> None:
    async with replicas(url) as several:
        runtime, model = await served(several, calls(("send", "{}")), says("No."))
        first = (await runtime.settle(await begin(runtime, "send it"))).run_id
        await runtime.steer(first, "to everybody", BOB)
        await runtime.stop(first, BOB)
        state = await runtime.state(await go_on(runtime, first, "was it sent?"))
        assert state.said == (), "what a person stopped is not wanted any more"
        never = "result: Not executed and not queued: the run ended first."
        told = ["user: send it", "model: send", never, "user: to everybody", "note", "note"]
        assert newest(model) == [*told, "user: was it sent?"]


async def test_one_that_cant_be_read_does_not_keep_the_next_from_beginning(url: str) -> None:
    async with replicas(url) as several:
        runtime, model = await served(several, says("one"), says("two"), says("three"), says("4"))
        first = await runtime.start("a", requester=ALICE, wait=True)
        second = await go_on(runtime, first, "b")
        session = (await runtime.state(first)).session
        ask(url, f"UPDATE journal SET body = 'x' WHERE run_id = '{second}'")
        third = await runtime.start("c", requester=ALICE, session=session, wait=True)
        # Of what came before it, it is known.
        assert newest(model) == ["user: a", "model: one", "note", "note", "user: c"]
        note = model.requests[-1].messages[2]
        assert isinstance(note, UserMessage)
        assert "1 more run of" in note.text
        ask(url, f"UPDATE journal SET body = 'x' WHERE run_id IN ('{first}', '{third}')")
        await runtime.start("d", requester=ALICE, session=session, wait=True)
        assert newest(model) == ["note", "note", "user: d"]


async def test_a_conversation_goes_on_with_its_agent_where_none_is_named(url: str) -> None:
    async with replicas(url) as several:
        one, other = (
            Agent(name, InTurn(says("a"), says("b")), Toolbox(), Policy())
            for name in ("one", "other")
        )
        runtime = Runtime([one, other], await several.open())
        first = await runtime.start("a", requester=ALICE, agent="Other", wait=True)
        second = await go_on(runtime, first, "b")
        assert (await runtime.state(second)).agent == "other"
        # One of its own is with the first.
        third = await runtime.start("c", requester=ALICE, wait=True)
        assert (await runtime.state(third)).agent == "one"
