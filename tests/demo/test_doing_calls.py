"""The demo's model with tools that are not the shop's: it goes by what became of each call."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import (
    Agent,
    Approve,
    Decider,
    Deny,
    Policy,
    Principal,
    Rejected,
    Runtime,
    Steer,
    Toolbox,
    tool,
)
from agent.rules.state import RunState
from bot.demo.model import DemoModel
from store import open_store
from tests.store.files import with_tables

ME = Decider(Principal("cli:me"), authority="operator")
DONE: list[str] = []


@tool(approval=False, effect="read")
def read_status(service: str) -> dict[str, str]:
    """Say what runs."""
    if service == "lost":
        raise RuntimeError("no answer")
    return {"service": service, "version": "1.4"}


@tool(approval=True, effect="once")
def deploy(service: str, version: str) -> str:
    """Deploy a version of a service."""
    if version == "0":
        raise Rejected("there is no such version")
    DONE.append(f"{service} {version}")
    return f"{service} runs {version}"


async def story(
    folder: Path, prompt: str, *decisions: Approve | Deny | Steer, dry_run: bool = False
) -> RunState:
    """A run with the decisions in their order."""
    DONE.clear()
    store = await open_store(with_tables(folder / "runs.db"))
    try:
        tools = Toolbox([read_status, deploy])
        agent = Agent("ops", DemoModel(), tools, Policy(), dry_run=dry_run)
        runtime = Runtime([agent], store)
        run_id = await runtime.start(prompt, requester=ME.principal, wait=True)
        for decision in decisions:
            ((asked, _), *_) = await runtime.approvals()
            await runtime.decide(asked.id, decision, ME, wait=True)
        return await runtime.state(run_id)
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("prompt", "decisions", "answer", "done"),
    [
        (
            "read status web",
            [],
            "read_status web: service: web, version: 1.4",
            [],
        ),
        (
            "read_status web then deploy web 1.5",
            [Approve()],
            "read_status web: service: web, version: 1.4\ndeploy web 1.5: web runs 1.5",
            ["web 1.5"],
        ),
        (
            "read_status lost then deploy web 1.5 then deploy web 1.6",
            [],
            "read_status lost: It failed: RuntimeError: no answer\n"
            "deploy web 1.5: it was not made: what was to go before it was not done.\n"
            "deploy web 1.6: it was not made: what was to go before it was not done.",
            [],
        ),
        (
            "deploy web 1.5 then deploy db 2",
            [Deny("not on a Friday")],
            "deploy web 1.5: Denied by a person. It was not executed and will not be."
            " Reason: not on a Friday\n"
            "deploy db 2: it was not made: what was to go before it was not done.",
            [],
        ),
        (
            "deploy web 0 and deploy db 2",
            [Approve(), Approve()],
            "deploy web 0: there is no such version\ndeploy db 2: db runs 2",
            ["db 2"],
        ),
        (
            "deploy web 1.5 then deploy db 2",
            [Steer(guidance="version=1.6"), Approve(), Approve()],
            "deploy web 1.6: web runs 1.6\ndeploy db 2: db runs 2",
            ["web 1.6", "db 2"],
        ),
        (
            "deploy web 1.5",
            [Steer(guidance="yes please"), Approve()],
            "deploy web 1.5: web runs 1.5",
            ["web 1.5"],
        ),
        (
            "deploy web 1.5 then read_status web",
            [Steer(guidance="read status db")],
            "deploy web 1.5: it was not made. I was told: read status db\n"
            "read_status db: service: db, version: 1.4\n"
            "read_status web: service: web, version: 1.4",
            [],
        ),
        (
            "deploy web 1.5",
            [Steer(guidance="be careful")],
            "deploy web 1.5: it was not made. I was told: be careful"
            " (I understand a call, or name=value.)",
            [],
        ),
        (
            "deploy web",
            [],
            "deploy web: Not executed and not queued. The arguments do not fit."
            " version: This is needed.",
            [],
        ),
    ],
)
async def test_calls_are_made_and_what_became_of_them_is_told(
    tmp_path: Path,
    prompt: str,
    decisions: list[Approve | Deny | Steer],
    answer: str,
    done: list[str],
) -> None:
    state = await story(tmp_path, prompt, *decisions)
    assert (state.ending, state.answer, DONE) == ("finished", answer, done)


async def test_what_steers_a_calls_values_is_told(tmp_path: Path) -> None:
    state = await story(
        tmp_path, "deploy web 1.5", Steer(args={"service": "web", "version": "1.6"})
    )
    assert DONE == ["web 1.6"]
    assert state.answer is not None
    assert state.answer.endswith("\nweb runs 1.6")
    assert "A person changed the arguments" in state.answer


@pytest.mark.parametrize(
    ("prompt", "begins"),
    [
        ("what about web", "I could not make sense of that. I am the demo's model"),
        ("refund ORD-3300 180", "I could not make sense of that. I am the demo's model"),
        ("hello", "Hello! I am the demo's model"),
        ("thanks", "You're welcome!"),
    ],
)
async def test_to_anything_else_it_says_what_it_understands(
    tmp_path: Path, prompt: str, begins: str
) -> None:
    state = await story(tmp_path, prompt)
    assert state.answer is not None
    assert state.answer.startswith(begins)
    if "model" in begins:
        assert "• `deploy SERVICE VERSION`: Deploy a version of a service." in state.answer


async def test_in_a_dry_run_it_says_what_would_have_been_made(tmp_path: Path) -> None:
    prompt = "read status web then deploy web 1.5"
    state = await story(tmp_path, prompt, Approve(), dry_run=True)
    dry = "it would have been made. This is a dry run: nothing was done."
    assert state.answer == f"read_status web: {dry}\ndeploy web 1.5: {dry}"
    assert DONE == []


async def test_what_is_said_meanwhile_is_made_too_or_dropped(tmp_path: Path) -> None:
    DONE.clear()
    store = await open_store(with_tables(tmp_path / "runs.db"))
    try:
        agent = Agent("ops", DemoModel(), Toolbox([read_status, deploy]), Policy())
        runtime = Runtime([agent], store)
        run_id = await runtime.start(
            "deploy web 1.5 then deploy web 1.6", requester=ME.principal, wait=True
        )
        await runtime.steer(run_id, "read status db", ME.principal)
        await runtime.steer(run_id, "how nice", ME.principal)
        ((asked, _),) = await runtime.approvals()
        await runtime.decide(asked.id, Approve(), ME, wait=True)
        await runtime.steer(run_id, "forget it", ME.principal)
        ((asked, _),) = await runtime.approvals()
        state = await runtime.decide(asked.id, Deny(), ME, wait=True)
    finally:
        await store.close()
    assert state.answer is not None
    assert state.answer.splitlines()[0] == "deploy web 1.5: web runs 1.5"
    assert "read_status db: service: db, version: 1.4" in state.answer
    assert state.answer.endswith("I did not understand “how nice”, and changed nothing for it.")
    assert DONE == ["web 1.5"]
