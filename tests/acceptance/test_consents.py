"""The auditor finds what was begun under a grant that was never given, or is for something else, or stood no more."""

from __future__ import annotations

import copy

import pytest

from tests.acceptance.approvals import violations
from tests.acceptance.consents import Json
from tests.acceptance.test_approvals import SEVERAL, only, read, row_of


def under_a_grant() -> tuple[list[Json], list[Json]]:
    """A run in which Bob's yes to one call lets another happen too, and the control journal."""
    journal = read(SEVERAL)
    yes = only(journal, "approval_decided", approval_id="apr_6")
    yes.update(action="approve", grant="grt_1")
    judged = copy.deepcopy(only(journal, "call_judged", call_id="call_4"))
    judged["call_id"] = "call_5"
    judged["verdict"].update(action="allow", grant="grt_1")
    number = row_of(journal, only(journal, "call_refused"))
    row = journal[number]
    begun = {"kind": "call_started", "call_id": "call_5", "attempt": 1, "grant": "grt_1"}
    journal[number : number + 1] = [{**row, "event": judged}, {**row, "event": begun}]
    given = {
        "kind": "grant_given",
        "grant_id": "grt_1",
        **{key: yes[key] for key in ("by", "user", "groups", "authority")},
        "agent": "refunds",
        "tool": "process_refund",
        "where": {"order": "ORD-3300"},
        "run_id": row["run_id"],
        "session": None,
        "expires_at": "2026-11-29T12:06:21Z",
    }
    at = "2026-11-29T12:06:17Z"
    beside: list[Json] = [
        {"kind": "policy_loaded", "agent": "refunds"},
        {"kind": "grant_revoked", "grant_id": "grt_of_before"},
    ]
    return journal, [{"at": at, "event": event} for event in (given, *beside)]


@pytest.mark.parametrize("until", ["2026-11-29T12:06:21Z", None])
def test_in_a_run_under_a_grant_that_holds_nothing_is_found(until: str | None) -> None:
    journal, control = under_a_grant()
    control[0]["event"]["expires_at"] = until
    assert violations([journal], control=control) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"tool": "wire_money"}, "which is for something else"),
        ({"agent": "orders"}, "which is for something else"),
        ({"where": {"order": "ORD-1"}}, "which is for other values"),
        ({"where": {"note": "x"}}, "which is for other values"),
        ({"run_id": "run_other"}, "which is for another run"),
        ({"run_id": None, "session": "session_other"}, "which is for another conversation"),
        ({"expires_at": "2026-11-29T12:06:19Z"}, "which was over by then"),
        ({"grant_id": "grt_2"}, "grt_1, which nobody gave"),
        ({"by": "slack:T0PILOT:U0GRACE"}, "grt_1, which nobody gave"),
        ({"groups": []}, "U0BOB is nobody who may decide it"),
    ],
)
def test_a_grant_that_is_for_something_else_is_found(change: Json, found: str) -> None:
    journal, control = under_a_grant()
    control[0]["event"].update(change)
    told = "; ".join(violations([journal], control=control))
    assert found in told, told


def test_a_grant_that_was_given_with_no_yes_is_found() -> None:
    journal, control = under_a_grant()
    only(journal, "approval_decided", approval_id="apr_6")["action"] = "deny"
    assert "grt_1, which nobody gave" in str(violations([journal], control=control))


def test_a_grant_for_what_takes_several_yeses_is_found() -> None:
    journal, control = under_a_grant()
    only(journal, "call_judged", call_id="call_5")["verdict"]["approvers"]["count"] = 2
    assert "grt_1, which had too few yeses" in str(violations([journal], control=control))


def test_a_call_that_was_allowed_by_a_grant_alone_is_under_it_whatever_its_start_says() -> None:
    journal, control = under_a_grant()
    del only(journal, "call_started", call_id="call_5")["grant"]
    assert violations([journal], control=control) == []
    assert "grt_1, which nobody gave" in str(violations([journal]))


@pytest.mark.parametrize(
    ("given", "revoked", "found"),
    [
        ("12:06:21", None, ["which was given later"]),
        ("12:06:17", "12:06:18", []),
        ("12:06:10", "12:06:13", ["which was revoked by then"]),
        ("12:06:10", "12:07:14", []),
    ],
)
def test_a_grant_that_did_not_stand_then_is_found(
    given: str, revoked: str | None, found: list[str]
) -> None:
    journal, control = under_a_grant()
    control[0]["at"] = f"2026-11-29T{given}Z"
    if revoked is not None:
        gone = {"kind": "grant_revoked", "grant_id": "grt_1"}
        # Whoever revokes it once more changes nothing.
        control += [{"at": f"2026-11-29T{at}Z", "event": gone} for at in (revoked, "12:08:00")]
    told = violations([journal], control=control)
    assert [one.split("grt_1, ")[1] for one in told] == found
