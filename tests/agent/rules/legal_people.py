"""What people may do to a legal history at any time."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st

from agent.errors import PilothouseError
from agent.rules.control import GrantRevoked
from agent.rules.decisions import Approve, Decider, decide
from agent.rules.events import Event
from agent.rules.grants import GrantWish, give
from agent.rules.ids import ApprovalId, GrantId, Principal
from agent.rules.interventions import HaltsChanged
from agent.rules.parts import Halt
from agent.rules.people import ask_again, delete, edit, hold, resume, say, stop
from agent.rules.state import Approval
from tests.agent.rules.histories import ALICE, BEGAN, BOB, reopened
from tests.agent.rules.legal_choices import DECIDERS, DECISIONS, GRANTS, WORDS
from tests.agent.rules.legal_world import World

#: Where the run's own words stand, and where what is said to it may.
REFS = ("0", "1", "2")
#: When people say that they edited it.
EDITED_AT = (None, *(BEGAN + timedelta(minutes=n) for n in range(3)))


def intervene(world: World) -> tuple[Event, ...]:
    """One thing that somebody wants, or nothing: it may be refused, or be so already."""
    state = world.state
    if world.draw(st.integers(0, 2)):
        return ()
    expired = [
        one.id
        for one in state.approvals.values()
        if one.status == "expired" and one.superseded_by is None
    ]
    wishes = ["none", "say"] + ["edit"] * 2 + ["delete"] * world.seldom(2)
    wishes += ["hold"] * world.seldom(3) + ["stop"] * world.seldom(6)
    wishes += ["resume"] * 4 * (state.held is not None)
    wishes += ["switch off"] * world.seldom(4) + ["let go on"] * 4 * bool(state.halts)
    wishes += ["decide"] * 6 * bool(state.open_approvals)
    wishes += ["ask again"] * 3 * bool(expired)
    wishes += ["reopen"] * 4 * (state.ending == "failed")
    wishes += ["revoke"] * (bool(world.grants) and world.seldom(4))
    try:
        match world.draw(st.sampled_from(wishes)):
            case "say":
                ref = world.draw(st.sampled_from([None, "1", "2"]))
                return say(state, ALICE, world.draw(st.sampled_from(WORDS)), ref)
            case "edit":
                ref, text = world.draw(st.sampled_from(REFS)), world.draw(st.sampled_from(WORDS))
                return edit(state, ALICE, ref, text, world.draw(st.sampled_from(EDITED_AT)))
            case "delete":
                return delete(state, ALICE, world.draw(st.sampled_from(REFS)))
            case "hold":
                return hold(state, BOB, "lunch")
            case "resume":
                return resume(state, ALICE)
            case "switch off" | "let go on" as wish:
                # What an engine writes for a switch, once somebody has turned it.
                switched_off = Halt(switch="all", by=BOB, at=world.now, reason="a drill")
                is_alive = not state.is_ended and state.stop is None
                halts = (switched_off,) if wish == "switch off" else ()
                return (HaltsChanged(halts=halts),) if is_alive and halts != state.halts else ()
            case "stop":
                return stop(state, BOB)
            case "decide":
                return _decide(world, world.draw(st.sampled_from(state.open_approvals)))
            case "ask again":
                approval_id = world.draw(st.sampled_from(expired))
                return ask_again(state, approval_id, world.draw(st.sampled_from(DECIDERS)))
            case "revoke":
                grant_id = world.draw(st.sampled_from(world.grants)).id
                world.note(GrantRevoked(grant_id=grant_id, by=BOB))
                return ()
            case "reopen":
                return (reopened(),)
            case _:
                return ()
    except PilothouseError:
        return ()


def _decide(world: World, approval: Approval) -> tuple[Event, ...]:
    may_grant = approval.kind == "call" and _may_grant(world, approval)
    decision = world.draw(st.sampled_from(DECISIONS[approval.kind] + GRANTS * 4 * may_grant))
    decider = world.draw(st.sampled_from(DECIDERS))
    events = decide(
        world.state,
        approval.id,
        decision,
        decider,
        now=world.now,
        judge=world.judge(),
        next_approval_id=ApprovalId(f"apr_{next(world.numbers)}"),
        voters=_voters(world, approval),
    )
    if not isinstance(decision, Approve) or decision.grant is None:
        return events
    return _with_grant(world, approval, decision.grant, decider, events)


def _may_grant(world: World, approval: Approval) -> bool:
    verdict = world.state.call(approval.requested.of_call).verdict
    return verdict is not None and verdict.granting is not None


def _with_grant(
    world: World,
    approval: Approval,
    wish: GrantWish,
    decider: Decider,
    events: tuple[Event, ...],
) -> tuple[Event, ...]:
    """Others like it are allowed too, for a while, which the yes names."""
    grant_id = GrantId(f"grt_{next(world.numbers)}")
    world.note(give(world.state, approval, wish, decider.word, now=world.now, grant_id=grant_id))
    return tuple(event.model_copy(update={"grant": grant_id}) for event in events)


def _voters(world: World, approval: Approval) -> dict[Principal, Decider | None] | None:
    """Those who voted, as they are found now: as they were, or not at all."""
    if world.draw(st.booleans()):
        return None
    known = {one.principal: one for one in DECIDERS}
    voters = [vote.voted.by for vote in approval.votes]
    return {by: None if world.seldom(4) else known[by] for by in voters}
