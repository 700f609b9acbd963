"""What the façade knows of effects, and takes down of policies."""

from __future__ import annotations

import asyncio

import pytest

from agent import Approve, Committed, Policy, Rejected, Rule, Runtime, Settle, tool
from agent.control_record import Source, record_policies
from agent.errors import NotFound
from agent.rules.control import PolicyLoaded
from agent.rules.ids import OperationId, RunId
from agent.rules.receipts import KnownEffect
from agent.tools.declare import Tool
from tests.agent.engine.bench import OPERATOR, TERM, calls, says
from tests.agent.engine.replicas import Replicas, begin, replicas
from tests.store.database import ask
from tests.store.tampering import rewrite_control, setting

FREE = Policy(rules=(Rule(tool="act", action="allow"),))
STRICT = Policy(rules=(Rule(tool="act", action="deny"),))


async def effect_of_the_call(runtime: Runtime, run_id: RunId) -> KnownEffect:
    (call,) = (await runtime.state(run_id)).calls.values()
    return await runtime.receipt(call.operation_id)


async def after_calling(several: Replicas, act: Tool) -> tuple[Runtime, RunId]:
    """A run that has called ``act`` once and has ended, or waits."""
    runtime = await several.runtime([act], [calls((act.name, "{}")), says("done")])
    run_id = await begin(runtime)
    await runtime.settle(run_id)
    return runtime, run_id


class TestReceipt:
    async def test_is_found_by_the_operation_id(self, url: str) -> None:
        @tool(approval=False)
        def act() -> Committed:
            """Act."""
            return Committed("ok", external_id="ch_1")

        async with replicas(url) as several:
            runtime, run_id = await after_calling(several, act)
            (call,) = (await runtime.state(run_id)).calls.values()
            assert await effect_of_the_call(runtime, run_id) == KnownEffect(
                operation_id=call.operation_id,
                run_id=run_id,
                call_id=call.id,
                tool="act",
                call_status="ok",
                attempts=1,
                status="committed",
                external_id="ch_1",
            )

    async def test_tells_a_refusal_of_the_outside_system(self, url: str) -> None:
        @tool(approval=False)
        def act() -> None:
            """Act."""
            raise Rejected("no funds")

        async with replicas(url) as several:
            known = await effect_of_the_call(*await after_calling(several, act))
            assert (known.status, known.call_status) == ("rejected", "error")

    async def test_tells_what_nobody_knows_and_what_a_person_said_of_it(self, url: str) -> None:
        @tool(approval=False)
        def act() -> None:
            """Act."""
            raise RuntimeError("the line broke")

        async with replicas(url) as several:
            runtime, run_id = await after_calling(several, act)
            known = await effect_of_the_call(runtime, run_id)
            assert (known.status, known.call_status) == ("unknown", "unknown")
            (review,) = (await runtime.state(run_id)).open_approvals
            await runtime.decide(review.id, Settle("happened"), OPERATOR)
            known = await effect_of_the_call(runtime, run_id)
            assert (known.status, known.call_status) == ("committed", "happened")

    async def test_never_guesses_of_what_was_begun_and_not_heard_of(self, url: str) -> None:
        begun = asyncio.Event()

        @tool(approval=False)
        async def act() -> None:
            """Act."""
            begun.set()
            await asyncio.Event().wait()

        async with replicas(url) as several:
            runtime = await several.runtime([act], [calls(("act", "{}")), says("done")])
            run_id = await begin(runtime)
            worker = runtime.worker(process_id="w")
            working = asyncio.create_task(worker.run())
            await begun.wait()
            known = await effect_of_the_call(runtime, run_id)
            await worker.stop()
            await working
            assert (known.status, known.call_status, known.attempts) == ("unknown", "started", 1)

    async def test_tells_that_nothing_was_begun(self, url: str) -> None:
        @tool
        def act() -> None:
            """Act."""

        async with replicas(url) as several:
            runtime, run_id = await after_calling(several, act)
            known = await effect_of_the_call(runtime, run_id)
            assert (known.status, known.call_status, known.attempts) == ("none", "waiting", 0)

    async def test_is_none_of_what_only_reads(self, url: str) -> None:
        @tool(approval=False, effect="read")
        def act() -> str:
            """Act."""
            return "seen"

        async with replicas(url) as several:
            known = await effect_of_the_call(*await after_calling(several, act))
            assert (known.status, known.call_status, known.attempts) == ("none", "ok", 1)

    async def test_of_an_unknown_operation_is_not_found(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime()
            with pytest.raises(NotFound, match="No operation has the id op_0"):
                await runtime.receipt(OperationId("op_0"))


async def loaded(runtime: Runtime) -> list[tuple[str, str, str]]:
    events = [one.event for one in await runtime.store.control.read()]
    return [
        (event.agent, event.policy_version, event.build)
        for event in events
        if isinstance(event, PolicyLoaded)
    ]


async def begins(runtime: Runtime, build: str) -> None:
    await record_policies(runtime.store, runtime.agents, Source(build))


class TestPolicies:
    async def test_are_taken_down_when_they_are_others_than_before(self, url: str) -> None:
        async with replicas(url) as several:
            free = await several.runtime(policy=FREE)
            strict = await several.runtime(policy=STRICT)
            await begins(free, "1.0")
            await begins(free, "1.1")
            assert await loaded(free) == [("tester", FREE.version, "1.0")]
            await begins(strict, "1.1")
            await begins(free, "1.0")
            assert [version for _, version, _ in await loaded(free)] == [
                *(FREE.version, STRICT.version, FREE.version)
            ]

    async def test_of_a_live_worker_that_seem_to_be_others_are_named_with_a_warning(
        self, url: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with replicas(url) as several:
            free = await several.runtime(policy=FREE)
            strict = await several.runtime(policy=STRICT)
            await begins(free, "1.0")
            await free.store.processes.join(free.process("proc_1", draws=True))
            await begins(free, "1.0")
            assert not caplog.records
            await begins(strict, "1.1")
            assert [one.getMessage() for one in caplog.records] == [
                f"agent tester is judged by policy {FREE.version} in proc_1, as it seems"
            ]

    async def test_are_taken_down_once_by_processes_that_begin_together(self, url: str) -> None:
        async with replicas(url) as several:
            runtimes = [await several.runtime(policy=FREE) for _ in range(3)]
            await asyncio.gather(*(begins(runtime, "1.0") for runtime in runtimes))
            assert len(await loaded(runtimes[0])) == 1

    async def test_are_taken_down_though_a_newer_build_wrote_what_this_one_can_not_read(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(policy=FREE)
            await begins(runtime, "1.0")
            rewrite_control(several.url, 1, setting(kind="weather_changed"))
            for _ in range(2):
                await begins(runtime, "1.1")
            assert ask(several.url, "SELECT count(*) FROM control_journal") == [(1,)]
            strict = await several.runtime(policy=STRICT)
            for _ in range(2):
                await begins(strict, "1.1")
            assert ask(several.url, "SELECT count(*) FROM control_journal") == [(2,)]


async def test_the_runtime_is_usable_without_a_bot(url: str) -> None:
    """Approve in one process what another one asked."""

    @tool
    def act() -> str:
        """Act."""
        return "done"

    replies = [calls(("act", "{}")), says("All done.")]
    async with replicas(url) as several:
        one, two = [await several.runtime([act], replies) for _ in range(2)]
        run_id = await begin(one)
        await one.settle(run_id)
        ((approval, state),) = await two.approvals()
        assert state.run_id == run_id
        state = await two.decide(approval.id, Approve(), OPERATOR, wait=True)
        assert state.answer == "All done."
        assert await two.store.processes.alive(TERM) == []
