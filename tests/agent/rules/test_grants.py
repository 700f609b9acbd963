"""Which calls a standing consent covers: one thing changed at a time, and it does no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.rules.control import GrantGiven
from agent.rules.decisions import Decider
from agent.rules.grants import covers, under_grant
from agent.rules.ids import GrantId, Principal, RunId, SessionId
from agent.rules.judgement import Judgement
from agent.rules.parts import Approvers, Granting
from agent.rules.standing import Grant
from tests.agent.rules.histories import (
    AS_BOB,
    BEGAN,
    FINANCE,
    History,
    asked,
    begun,
    denied,
    judged,
    replied,
)
from tests.agent.rules.judges import RefundJudge

HOUR = timedelta(hours=1)
BOTH = Granting(scopes=("run", "thread"), longest=8 * HOUR)
NOW = BEGAN + HOUR
STATE = begun().then(replied(1)).state


def judgement(
    amount: int = 180, granting: Granting | None = BOTH, approvers: Approvers = FINANCE
) -> Judgement:
    judged = RefundJudge(asks_above=0, approvers=approvers)(
        "process_refund", {"order": "ORD-3300", "amount": amount}
    )
    verdict = judged.verdict.model_copy(update={"granting": granting})
    return replace(judged, verdict=verdict)


def given(decider: Decider = AS_BOB, **changes: object) -> Grant:
    fields: dict[str, object] = {
        "grant_id": GrantId("grt_1"),
        "by": decider.principal,
        "user": decider.user,
        "groups": tuple(decider.groups),
        "authority": decider.authority,
        "agent": STATE.agent,
        "tool": "process_refund",
        "where": dict(judgement().args),
        "run_id": STATE.run_id,
    }
    return Grant(GrantGiven.model_validate({**fields, **changes}), 1, BEGAN)


def test_what_it_was_given_for_is_covered_and_named() -> None:
    assert covers(given(), judgement(), STATE, NOW)
    allowed = under_grant(judgement(), [given()], STATE, NOW)
    assert (allowed.verdict.action, allowed.verdict.grant) == ("allow", "grt_1")


COVERED: dict[str, Grant] = {
    "any arguments": given(where={}),
    "one argument": given(where={"order": "ORD-3300"}),
    "the session": given(run_id=None, session=STATE.session),
    "the agent": given(run_id=None),
    "until later": given(expires_at=NOW + timedelta(microseconds=1)),
    "by the operator": given(Decider(Principal("cli:ops"), authority="operator")),
}
NOT_COVERED: dict[str, Grant] = {
    "another agent": given(agent="other"),
    "another tool": given(tool="process"),
    "another run": given(run_id=RunId("run_other")),
    "another session": given(run_id=None, session=SessionId("ses_other")),
    "other arguments": given(where={"order": "ORD-1"}),
    "an argument that is not there": given(where={"card": None}),
    "over": given(expires_at=NOW),
    "revoked": replace(given(), revoked_seq=2),
    "given longer ago than the rule allows": replace(given(), at=NOW - 8 * HOUR),
    "by somebody who may not decide": given(Decider(Principal("slack:T0PILOT:U0X"), "U0X")),
    "by the requester": given(Decider(STATE.requester, "U0ALICE", frozenset({"S0FINANCE"}))),
}


@pytest.mark.parametrize("what", COVERED)
def test_covered(what: str) -> None:
    assert covers(COVERED[what], judgement(), STATE, NOW)


@pytest.mark.parametrize("what", NOT_COVERED)
def test_not_covered(what: str) -> None:
    assert not covers(NOT_COVERED[what], judgement(), STATE, NOW)
    assert under_grant(judgement(), [NOT_COVERED[what]], STATE, NOW) == judgement()


@pytest.mark.parametrize(
    "today",
    [
        lambda: judgement(granting=None),
        lambda: judgement(granting=Granting(scopes=("thread",))),
        lambda: judgement(granting=Granting(scopes=("run",), longest=HOUR)),
        lambda: judgement(approvers=FINANCE.model_copy(update={"count": 2})),
        lambda: judgement(approvers=Approvers(users=("U0CAROL",))),
        lambda: replace(judgement(), is_question=True),
    ],
    ids=["no grants", "not for runs", "not so long", "two yeses", "others", "a question"],
)
def test_a_stricter_rule_asks(today: Callable[[], Judgement]) -> None:
    assert under_grant(today(), [given(where={})], STATE, NOW).verdict.action == "ask"


def test_what_is_refused_stays_so() -> None:
    verdict = judgement().verdict.model_copy(update={"action": "deny"})
    denied = replace(judgement(), verdict=verdict)
    assert under_grant(denied, [given()], STATE, NOW) == denied


def test_an_exact_no_beats_it() -> None:
    history: History = begun().then(replied(1), judged(1), asked(1), denied(1))
    (approval,) = history.state.approvals.values()
    args = dict(approval.requested.args)
    today = replace(judgement(), args=args)
    assert not covers(given(where={}), today, history.state, NOW)
    assert covers(given(where={}), judgement(90), history.state, NOW)


def test_the_first_that_covers_it_is_named() -> None:
    grants = [NOT_COVERED["over"], given(grant_id="grt_2"), given(grant_id="grt_3")]
    assert under_grant(judgement(), grants, STATE, NOW).verdict.grant == "grt_2"
