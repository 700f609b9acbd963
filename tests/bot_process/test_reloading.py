"""The file is read again when it changes; what it says then is in force, all of it or none."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from agent import Approve
from agent.errors import StoreUnavailable
from agent.ports import Lease
from bot import reloading, watching_file
from tests.bot_process.reloaded import (
    ALLOW,
    ASK,
    BOB,
    DENY,
    WRONG,
    Reloaded,
    file_of,
    process,
    put,
)
from tests.bot_process.test_demo import until
from tests.store.files import with_tables


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reloading, "LOOK_SECONDS", 0.01)
    for name in ("SETTLES_SECONDS", "GONE_SECONDS"):
        monkeypatch.setattr(watching_file, name, 0.01)


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Reloaded]:
    (tmp_path / "pilothouse.yml").write_text(ASK)
    async with process(tmp_path / "pilothouse.yml", with_tables(tmp_path / "store.db")) as made:
        yield made


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def noticed(one: Reloaded, text: str) -> None:
    """Somebody changes the file, and the process notices by itself."""
    put(one.path, text)

    async def is_judged() -> bool:
        return one.reloading.judged == digest_of(text)

    async with one.reloading.going_on():
        await until(is_judged)


async def test_the_next_call_is_judged_by_what_the_file_says_now(one: Reloaded) -> None:
    assert (await one.pay()).open_approvals
    await noticed(one, ALLOW)
    assert (await one.pay()).ending == "finished"
    await noticed(one, DENY)
    (call,) = (await one.pay()).calls.values()
    assert call.result is not None
    assert (call.result.outcome, call.attempts) == ("refused", 0)
    assert "not today" in str(call.result.output)


async def test_a_link_that_points_elsewhere_is_a_change(one: Reloaded, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "pilothouse.yml").write_text(ALLOW)
    one.path.unlink()
    one.path.symlink_to("second/pilothouse.yml")
    await one.reloading.look()
    assert (await one.pay()).ending == "finished"


async def test_each_load_is_in_the_control_journal_with_the_digest_of_its_bytes(
    one: Reloaded,
) -> None:
    await noticed(one, ALLOW)
    state = await one.pay()
    first, second = await one.loads()
    assert (first.file, first.digest, first.process) == (
        *("pilothouse.yml", digest_of(ASK), "proc_1"),
    )
    assert second.digest == digest_of(ALLOW)
    assert first.policy_version != second.policy_version
    (call,) = state.calls.values()
    assert call.verdict is not None
    assert call.verdict.policy_version == second.policy_version


async def test_other_bytes_that_say_the_same_are_taken_down_too(one: Reloaded) -> None:
    await noticed(one, f"# a remark\n{ASK}")
    first, second = await one.loads()
    assert first.policy_version == second.policy_version
    assert second.digest == digest_of(f"# a remark\n{ASK}")


async def test_what_is_wrong_leaves_the_old_one_in_force_and_is_said_once(
    one: Reloaded, caplog: pytest.LogCaptureFixture
) -> None:
    await noticed(one, WRONG)
    for _ in range(2):
        await one.reloading.look()
    (said,) = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert f"{one.path}:5: policy[0].action: has to be allow, ask or deny." in said.getMessage()
    assert "stays in force" in said.getMessage()
    standing = one.reloading.standing
    assert standing.refused is not None
    assert (
        standing.refused.why == "pilothouse.yml:5: policy[0].action: has to be allow, ask or deny."
    )
    assert standing.refused.written_at is not None
    assert standing.digest == digest_of(ASK)
    assert (await one.pay()).open_approvals
    assert len(await one.loads()) == 1


#: The second rule never decides anything.
IDLE = f"{ALLOW}  - {{tool: pay, action: deny}}\n"


def never_decides(log: pytest.LogCaptureFixture) -> list[str]:
    said = [each.getMessage() for each in log.records if each.levelno == logging.WARNING]
    return [each for each in said if "this rule never decides anything" in each]


async def test_what_cant_be_meant_is_said_once_at_each_load(
    one: Reloaded, caplog: pytest.LogCaptureFixture
) -> None:
    await noticed(one, IDLE)
    await one.reloading.look()
    (said,) = never_decides(caplog)
    assert said.startswith(f"{one.path}:6: policy[1]: ")
    await noticed(one, f"# a remark\n{IDLE}")
    assert len(never_decides(caplog)) == 2


async def test_and_at_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "pilothouse.yml").write_text(IDLE)
    async with process(tmp_path / "pilothouse.yml", f"sqlite:///{tmp_path / 'x.db'}"):
        assert len(never_decides(caplog)) == 1


async def test_once_it_is_mended_nothing_is_said_of_it_any_more(one: Reloaded) -> None:
    await noticed(one, WRONG)
    await noticed(one, ALLOW)
    assert one.reloading.standing.refused is None
    await noticed(one, WRONG)
    await noticed(one, ALLOW)
    assert one.reloading.standing.refused is None
    assert len(await one.loads()) == 2, "what is in force already is not loaded again"


async def test_a_file_on_which_we_fail_ourselves_is_refused_as_well(
    one: Reloaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is ours or that of a tool's module: no run has to do without what is in force."""

    def fails(path: Path, **how: object) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(reloading, "load_config", fails)
    await noticed(one, ALLOW)
    refused = one.reloading.standing.refused
    assert refused is not None
    assert "a fault of ours in loading it: RuntimeError: no such luck" in refused.why
    assert (await one.pay()).open_approvals


async def test_how_long_what_ended_is_kept_is_what_the_file_says_now(one: Reloaded) -> None:
    said = []
    # What is wrong changes nothing.
    for written in ("", "{payloads: 30d}", "{payloads: thirty}", ""):
        await noticed(one, f"{ASK}retention: {written}\n" if written else f"{ASK}# as before\n")
        said.append(one.reloading.retention.keeps_all)
    assert said == [True, False, False, True]


async def test_a_file_that_is_gone_leaves_the_old_one_in_force(one: Reloaded) -> None:
    one.path.unlink()
    await one.reloading.look()
    standing = one.reloading.standing
    assert standing.refused is not None
    assert standing.refused.why == "pilothouse.yml can't be read: No such file or directory."
    assert (await one.pay()).open_approvals


async def test_a_rule_for_a_tool_that_nobody_has_is_wrong_then_too(one: Reloaded) -> None:
    await noticed(one, file_of("{tool: send, action: deny}"))
    refused = one.reloading.standing.refused
    assert refused is not None
    assert "no agent has a tool send; there are: pay." in refused.why


async def test_what_takes_a_restart_is_named_and_the_rest_holds(
    one: Reloaded, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    more = file_of(
        "{tool: pay, action: allow}", tools="tests.bot_process.paying, agent.tools.asking"
    )
    await noticed(one, more)
    assert one.reloading.standing.needs_restart == ("agents.payer.tools",)
    told = "pilothouse.yml: needs a restart: agents.payer.tools; the rest holds"
    assert told in [each.getMessage() for each in caplog.records]
    assert (await one.pay()).ending == "finished"


async def test_what_cannot_be_taken_down_is_not_in_force_until_it_can(
    one: Reloaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a verdict would name a policy of which nothing is known."""
    put(one.path, ALLOW)

    async def away(agent: str) -> None:
        raise StoreUnavailable("The database is away.")

    with monkeypatch.context() as while_away:
        while_away.setattr(one.runtime.store.control, "newest_policy", away)
        with pytest.raises(StoreUnavailable):
            await one.reloading.look()
        assert one.reloading.standing.digest == digest_of(ASK)
    await one.reloading.look()
    assert one.reloading.standing.digest == digest_of(ALLOW)


async def test_a_yes_is_asked_for_again_where_the_new_file_wants_more_and_people_are_told_why(
    one: Reloaded,
) -> None:
    state = await one.pay()
    (asked,) = state.open_approvals
    decided = await one.runtime.decide(asked.id, Approve(), BOB)
    await noticed(one, file_of("{tool: pay, action: ask, approvers: {users: [U0ALICE]}}"))
    state = await one.runtime.settle(decided.run_id)
    (again,) = state.open_approvals
    assert again.requested.again_because == (
        "the policy now asks others than those who approved it"
    )
    assert again.approvers.users == ("U0ALICE",)


async def test_what_a_freeze_window_kept_goes_on_once_the_window_is_taken_out(
    one: Reloaded,
) -> None:
    always = 'freeze: [{tools: pay, from: "00:00", to: "24:00", zone: UTC}]\n'
    await noticed(one, ALLOW + always)
    state = await one.pay()
    assert state.halts
    await noticed(one, ALLOW)
    assert await one.runtime.recover() == [state.run_id], "it has fallen due"
    assert (await one.runtime.state(state.run_id)).ending == "finished"


async def test_a_card_is_decided_by_those_whom_it_names(one: Reloaded) -> None:
    """Who is asked is part of the question; what they allow is judged anew before it runs."""
    (asked,) = (await one.pay()).open_approvals
    await noticed(one, DENY)
    state = await one.runtime.decide(asked.id, Approve(), BOB, wait=True)
    (call,) = state.calls.values()
    assert state.approvals[asked.id].status == "approved"
    assert call.result is not None
    assert (call.result.outcome, call.attempts) == ("refused", 0)


async def test_the_same_where_the_file_changes_while_the_run_is_being_put_aside(
    one: Reloaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was planned by the old file, and is let go when the new one has had all runs go on."""
    always = 'freeze: [{tools: pay, from: "00:00", to: "24:00", zone: UTC}]\n'
    await noticed(one, ALLOW + always)
    leases = one.runtime.store.run_leases
    suspend = leases.suspend

    async def late(lease: Lease, *, seen_seq: int, until: datetime | None) -> bool:
        if until is not None:
            put(one.path, ALLOW)
            await one.reloading.look()
        return await suspend(lease, seen_seq=seen_seq, until=until)

    monkeypatch.setattr(leases, "suspend", late)
    state = await one.pay()
    assert state.halts
    left = await one.runtime.store.control.wake_released(10, with_windows=True)
    assert left == 0, "it has fallen due"
    assert await one.runtime.recover() == [state.run_id]
    assert (await one.runtime.state(state.run_id)).ending == "finished"


async def test_tools_that_never_end_being_imported_keep_nothing_from_going_on(
    one: Reloaded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    (tmp_path / "hanging_tools.py").write_text(
        f"from pathlib import Path\nPath({str(gate)!r}).read_text()\n"
    )
    put(one.path, file_of("{tool: pay, action: allow}", tools="hanging_tools"))
    try:
        with monkeypatch.context() as impatient:
            # What does end is given its time again.
            impatient.setattr(reloading, "LOAD_SECONDS", 0.2)
            async with asyncio.timeout(10):
                await one.reloading.look()
    finally:
        # So that no thread is left: who reads comes to an end, and who has not come so far finds nothing to wait for.
        writing = os.open(gate, os.O_RDWR)
        gate.unlink()
        os.close(writing)
    assert one.reloading.standing.refused is not None
    assert "takes longer than 0.2 s" in one.reloading.standing.refused.why
    assert (await one.pay()).open_approvals, "the old file holds"
    await noticed(one, ALLOW)
    assert (await one.pay()).ending == "finished"
