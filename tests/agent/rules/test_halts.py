"""What switches and freeze windows keep of a run, and what comes next then."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import CorruptJournal, NoSuchSwitch
from agent.rules.control import SwitchTurned
from agent.rules.decisions import Decider
from agent.rules.freeze import FreezeWindow
from agent.rules.halts import halts_of
from agent.rules.ids import CallId, Principal
from agent.rules.interventions import HaltsChanged
from agent.rules.parts import Halt
from agent.rules.rule import People
from agent.rules.shapes import run_shape
from agent.rules.standing import Switch
from agent.rules.steps import (
    AskModel,
    AwaitCalls,
    JudgeCalls,
    RecoverCall,
    RequestApprovals,
    StartCalls,
    Suspend,
    next_step,
)
from agent.rules.switches import may_switch, switch_named
from agent.rules.waiting import waited
from tests.agent.rules.happenings import HOUR, held, resumed, stop_wanted
from tests.agent.rules.histories import (
    BEGAN,
    BOB,
    TERM,
    approved,
    asked,
    begun,
    call_started,
    judged,
    replied,
    returned,
    waiting,
)
from tests.agent.rules.stepping import Row, follow

C1, C2 = CallId("call_1"), CallId("call_2")
ALL = Halt(switch="all", by=BOB, at=BEGAN, reason="a drill")
UNTIL = BEGAN + HOUR


def halted(*halts: Halt) -> HaltsChanged:
    return HaltsChanged(halts=halts)


def window(*call_ids: CallId) -> Halt:
    return Halt(
        window="process_refund: every day", call_ids=call_ids, until=UNTIL, ends="Fri 24:00"
    )


def switch(name: str, *, is_on: bool = True) -> Switch:
    return Switch(SwitchTurned(switch=name, is_on=is_on, by=BOB, reason="a drill"), 3, BEGAN)


TABLES: dict[str, list[Row]] = {
    "a switch of all": [
        (halted(ALL), Suspend("switch")),
        (halted(), AskModel()),
        (replied(1), JudgeCalls((C1,))),
        (halted(ALL), Suspend("switch")),
        (halted(), JudgeCalls((C1,))),
        (judged(1), StartCalls((C1,))),
        (halted(ALL), Suspend("switch")),
        (held(), Suspend("hold")),
        (resumed(), Suspend("switch")),
    ],
    "a call that is kept, and another": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (judged(1), JudgeCalls((C2,))),
        (judged(2), StartCalls((C1, C2))),
        (halted(Halt(switch="tool:x", call_ids=(C1,))), StartCalls((C2,))),
        (call_started(2, BEGAN), Suspend("retry", until=BEGAN + TERM)),
        (returned(2), Suspend("switch")),
        (halted(window(C1)), Suspend("window", until=UNTIL)),
        (halted(), StartCalls((C1,))),
    ],
    "a question beside a call that is kept": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (judged(1), JudgeCalls((C2,))),
        (judged(2, "ask"), StartCalls((C1,))),
        (halted(window(C1)), RequestApprovals((C2,))),
        (asked(2, approval=1), Suspend("approvals", until=UNTIL)),
        (approved(1), StartCalls((C2,))),
        (halted(window(C1, C2)), Suspend("window", until=UNTIL)),
    ],
}


@pytest.mark.parametrize("name", TABLES)
def test_what_comes_next(name: str) -> None:
    follow(TABLES[name])


def test_once_the_window_has_ended_the_call_may_start() -> None:
    history = begun().then(replied(1), judged(1), halted(window(C1)))
    assert next_step(history.state, UNTIL - timedelta(seconds=1)) == Suspend("window", until=UNTIL)
    assert next_step(history.state, UNTIL) == StartCalls((C1,))


def test_what_runs_is_waited_for_and_a_lost_one_is_not_begun_once_more() -> None:
    started = begun().then(replied(1), judged(1, effect="idempotent"), call_started(1, BEGAN))
    whole = started.then(halted(ALL))
    assert next_step(whole.state, BEGAN, frozenset({C1})) == AwaitCalls()
    later = BEGAN + 2 * HOUR
    assert next_step(started.state, later) == RecoverCall(C1)
    kept = started.then(halted(Halt(switch="tool:x", call_ids=(C1,))))
    assert next_step(kept.state, later) == Suspend("switch")


def test_an_effect_that_may_not_run_twice_is_looked_up_all_the_same() -> None:
    started = begun().then(replied(1), judged(1, effect="once"), call_started(1, BEGAN))
    assert next_step(started.then(halted(ALL)).state, BEGAN + 2 * HOUR) == RecoverCall(C1)


def test_what_waited_says_so_and_for_how_long() -> None:
    history = begun().then(halted(ALL)).then(halted(), after=HOUR).then(halted(ALL), after=HOUR)
    shape = run_shape(history.state, now=history.now + HOUR)
    assert (shape["status"], shape["waiting_for"]) == ("waiting", "switch")
    assert waited(history.state, history.now + HOUR) == 2 * HOUR


def test_of_a_call_that_is_not_there_nothing_can_be_kept() -> None:
    with pytest.raises(CorruptJournal):
        _ = begun().then(halted(window(C1))).state


class TestWhatIsKept:
    def test_of_switches_that_are_on(self) -> None:
        state = begun().then(replied(1), judged(1)).state
        names = ("all", "agent:refunds", "agent:other", "tool:process_*", "tool:other")
        kept = halts_of(state, [switch(name) for name in names], (), BEGAN, frozenset())
        assert [(h.switch, h.call_ids) for h in kept] == [
            ("all", ()),
            ("agent:refunds", ()),
            ("tool:process_*", (C1,)),
        ]
        assert (kept[0].by, kept[0].at, kept[0].reason) == (BOB, BEGAN, "a drill")
        assert halts_of(state, [switch("all", is_on=False)], (), BEGAN, frozenset()) == ()

    def test_nothing_of_a_call_that_waits_for_people_or_is_in_flight(self) -> None:
        tool = [switch("tool:process_refund")]
        assert halts_of(waiting().state, tool, (), BEGAN, frozenset()) == ()
        started = begun().then(replied(1), judged(1), call_started(1, BEGAN)).state
        assert halts_of(started, tool, (), BEGAN, frozenset({C1})) == ()
        assert len(halts_of(started, tool, (), BEGAN, frozenset())) == 1

    def test_nothing_of_a_run_that_is_to_end(self) -> None:
        state = begun().then(stop_wanted()).state
        assert halts_of(state, [switch("all")], (), BEGAN, frozenset()) == ()

    def test_of_windows_that_are_open(self) -> None:
        state = begun().then(replied(1), judged(1)).state
        written = {"tools": "process_*", "from": "00:00", "to": "24:00", "zone": "UTC"}
        one = FreezeWindow.model_validate(written)
        (kept,) = halts_of(state, (), [one], BEGAN, frozenset())
        assert kept.until == one.ends_at(BEGAN)
        other = FreezeWindow.model_validate({**written, "tools": "deploy.*"})
        assert halts_of(state, (), [other], BEGAN, frozenset()) == ()


class TestSwitchesByName:
    AGENTS, TOOLS = ("Refunds", "both"), ("pay", "git.push", "both")

    def named(self, said: str) -> str:
        return switch_named(said, self.AGENTS, self.TOOLS, lambda tool: tool in self.TOOLS)

    @pytest.mark.parametrize(
        ("said", "switch"),
        [
            ("all", "all"),
            ("ALL", "all"),
            ("refunds", "agent:Refunds"),
            ("agent:REFUNDS", "agent:Refunds"),
            ("pay", "tool:pay"),
            ("tool:pay", "tool:pay"),
            ("git.*", "tool:git.*"),
            ("tool:both", "tool:both"),
            ("agent:both", "agent:both"),
        ],
    )
    def test_is_one_thing(self, said: str, switch: str) -> None:
        assert self.named(said) == switch

    @pytest.mark.parametrize(
        ("said", "says"),
        [
            ("both", "agent:both or tool:both"),
            ("Pay", "no agent and no tool"),
            ("tool:refunds", "no agent and no tool"),
            ("agent:pay", "no agent and no tool"),
            ("svn.*", "no agent and no tool"),
            ("", "no agent and no tool"),
            ("tool:", "no agent and no tool"),
        ],
    )
    def test_or_is_refused(self, said: str, says: str) -> None:
        with pytest.raises(NoSuchSwitch, match=says):
            self.named(said)


def test_owners_and_the_operator_may_turn_one_and_code_may_not() -> None:
    owners = People(users=("U0BOB",), groups=("S0FINANCE",))
    by = Principal("slack:T0PILOT:U0BOB")
    assert may_switch(owners, Decider(by, user="U0BOB"))
    assert may_switch(owners, Decider(by, user="U0X", groups=frozenset({"S0FINANCE"})))
    assert may_switch(People(), Decider(by, authority="operator"))
    assert not may_switch(owners, Decider(by, user="U0X"))
    assert not may_switch(owners, Decider(by, user="U0BOB", authority="code"))
    assert not may_switch(People(), Decider(by))
