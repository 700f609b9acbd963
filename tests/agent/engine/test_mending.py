"""What was lost or changed beside the journals stops no run, and lets nothing happen that nobody allowed."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from agent import tool
from agent.errors import CorruptJournal, DecisionRefused, NotFound
from agent.rules.control import StampedControl, SwitchTurned
from agent.rules.decisions import Approve, Decider
from agent.rules.ids import ApprovalId, EventId, Principal, RunId
from agent.rules.state import RunState
from agent.runtime import Runtime
from store import open_store
from store.lost_approvals import REST
from tests.agent.engine.bench import OPERATOR, TERM, Bench, bench, calls, says
from tests.store.database import ask

done: list[str] = []


@tool(approval=True)
def act(name: str) -> str:
    """Act.

    Args:
        name: On what.
    """
    done.append(name)
    return "done"


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    done.clear()


async def ask_three(b: Bench) -> list[RunState]:
    return [await b.play(str(number)) for number in range(3)]


async def test_of_three_waiting_runs_the_one_whose_approval_was_lost_goes_on_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}')), says("Done.")]) as b:
        states = await ask_three(b)
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        asked = [state.open_approvals[0].id for state in states]
        ask(url, "DELETE FROM approvals WHERE approval_id = ?", asked[1])
        # Another process, begun anew.
        store = await open_store(url, clock=b.clock)
        try:
            restarted = Runtime(list(b.engine.agents.values()), store)
            with caplog.at_level(logging.WARNING):
                for approval_id in asked:
                    await restarted.decide(approval_id, Approve(), OPERATOR, wait=True)
            ended = [await restarted.state(state.run_id) for state in states]
        finally:
            await store.close()
        assert [state.ending for state in ended] == ["finished"] * 3
        assert done == ["x", "x", "x"]
        assert caplog.text.count("mended beside") == 1
        assert f"approval {asked[1]}: missing" in caplog.text


async def test_a_bot_that_begins_mends_what_waits(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}'))]) as b:
        states = await ask_three(b)
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        assert await b.runtime.mend() == []
        right = sorted(ask(url, "SELECT * FROM approvals"))
        ask(url, "DELETE FROM approvals")
        assert sorted(await b.runtime.mend()) == sorted(state.run_id for state in states)
        assert sorted(ask(url, "SELECT * FROM approvals")) == right
        assert await b.runtime.mend() == []


async def test_what_is_asked_in_a_run_that_is_lost_hides_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}'))]) as b:
        lost, *others = await ask_three(b)
        ask(f"sqlite:///{tmp_path / 'runs.db'}", "DELETE FROM runs WHERE run_id = ?", lost.run_id)
        waiting = await b.runtime.approvals()
        assert [one.id for one, _ in waiting] == [state.open_approvals[0].id for state in others]
        assert f"{lost.run_id} is left out" in caplog.text


async def test_a_bot_that_begins_mends_switches_and_limits_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(tmp_path, [act], [says("Done.")]) as b:
        turned = SwitchTurned(switch="kill", is_on=True, by=OPERATOR.principal)
        await b.store.control.record([StampedControl(EventId("evt_1"), b.clock.now(), turned)])
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        for go_on in (b.runtime.mend, b.runtime.recover):
            ask(url, "DELETE FROM switches")
            ask(url, "INSERT INTO limits (limit_key, used) VALUES ('a day', '7')")
            with pytest.raises(CorruptJournal):
                await b.store.control.switches()
            await go_on()
            assert [switch.is_on for switch in await b.store.control.switches()] == [True]
            assert await b.store.limits.used(["a day"]) == {"a day": 0}
            ask(url, "DELETE FROM limits")
        assert "switch kill: its row is missing" in caplog.text
        ask(url, "UPDATE control_journal SET body = '{'")
        assert await b.runtime.mend() == []
        assert "can't be mended" in caplog.text


async def test_an_approval_that_nobody_asked_for_is_not_found(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}'))]) as b:
        await b.play()
        nobodys = ApprovalId("apr_0")
        with pytest.raises(NotFound):
            await b.runtime.approval(nobodys)
        with pytest.raises(NotFound):
            await b.runtime.decide(nobodys, Approve(), OPERATOR)


async def test_what_never_was_is_searched_for_only_so_often(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}'))]) as b:
        lost = (await b.play()).open_approvals[0].id
        ask(f"sqlite:///{tmp_path / 'runs.db'}", "DELETE FROM approvals")
        assert (await b.runtime.approval(lost))[0].status == "pending"
        for approval_id in (ApprovalId("apr_0"), lost):
            with pytest.raises(NotFound):
                await b.runtime.approval(approval_id)
        b.clock.advance(REST)
        assert (await b.runtime.approval(lost))[0].status == "pending"


async def test_whoever_looks_or_may_not_decide_mends_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}')), says("Done.")]) as b:
        lost = (await b.play()).open_approvals[0].id
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        ask(url, "DELETE FROM approvals")
        assert (await b.runtime.approval(lost))[0].id == lost
        with pytest.raises(DecisionRefused):
            await b.runtime.decide(lost, Approve(), Decider(Principal("slack:T1:U9"), "U9"))
        assert ask(url, "SELECT * FROM approvals") == []
        await b.runtime.decide(lost, Approve(), OPERATOR)
        assert ask(url, "SELECT status FROM approvals") == [("approved",)]


async def test_a_row_that_somebody_set_to_approved_lets_nothing_run(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}')), says("Done.")]) as b:
        state = await b.play()
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        ask(url, "UPDATE approvals SET status = 'approved'")
        ask(url, "UPDATE runs SET wake_at = 0")
        await b.work()
        assert done == []
        assert ask(url, "SELECT status FROM approvals") == [("pending",)]
        await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
        await b.work()
        assert done == ["x"]


async def test_a_row_that_contradicts_its_journal_is_mended_when_somebody_decides(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}')), says("Done.")]) as b:
        state = await b.play()
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        for damage in (
            "UPDATE approvals SET status = 'denied'",
            "UPDATE runs SET status = 'failed'",
        ):
            ask(url, damage)
        await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
        await b.work()
        assert (await b.runtime.state(state.run_id)).answer == "Done."


async def test_a_row_that_contradicts_its_journal_is_mended_when_somebody_stops_the_run(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}')), says("Done.")]) as b:
        state = await b.play()
        ask(f"sqlite:///{tmp_path / 'runs.db'}", "UPDATE runs SET status = 'failed'")
        stopped = await b.runtime.stop(state.run_id, OPERATOR.principal)
        assert stopped.ending == "cancelled"


async def test_one_that_can_not_be_read_keeps_no_other_from_being_mended(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}'))]) as b:
        states = await ask_three(b)
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        ask(url, "DELETE FROM approvals")
        ask(url, "UPDATE journal SET body = '{}' WHERE run_id = ?", states[0].run_id)
        assert sorted(await b.runtime.mend()) == sorted(state.run_id for state in states[1:])


async def test_recover_takes_up_a_run_whose_time_was_lost(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [says("Done.")]) as b:
        run_id: RunId = await b.start()
        ask(f"sqlite:///{tmp_path / 'runs.db'}", "UPDATE runs SET wake_at = NULL")
        assert await b.store.run_leases.claim("p", TERM, 1) == []
        assert await b.runtime.recover() == [run_id]
        assert (await b.runtime.state(run_id)).answer == "Done."


@pytest.mark.parametrize("named", ["run_that_is_not_there", "another"])
async def test_a_row_that_leads_to_another_run_keeps_nobody_from_deciding(
    tmp_path: Path, named: str
) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}')), says("Done.")]) as b:
        first, second, _ = await ask_three(b)
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        ask(
            url, "UPDATE journal SET body = body || ' ' WHERE seq = 1 AND run_id = ?", second.run_id
        )
        wrong = second.run_id if named == "another" else named
        approval_id = first.open_approvals[0].id
        ask(url, "UPDATE approvals SET run_id = ? WHERE approval_id = ?", wrong, approval_id)
        state = await b.runtime.decide(approval_id, Approve(), OPERATOR)
        assert state.run_id == first.run_id


async def test_one_that_can_not_be_mended_keeps_no_other_from_it(tmp_path: Path) -> None:
    async with bench(tmp_path, [act], [calls(("act", '{"name": "x"}')), says("Done.")]) as b:
        first, second, _ = await ask_three(b)
        url = f"sqlite:///{tmp_path / 'runs.db'}"
        ask(url, "DELETE FROM approvals")
        ask(url, "UPDATE runs SET session = 'elsewhere' WHERE run_id = ?", first.run_id)
        await b.runtime.start("go", requester=Principal("cli:ann"), session=first.session)
        assert second.run_id in await b.runtime.mend()
