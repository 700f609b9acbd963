"""The auditor finds what it looks for: in journals of whole stories nothing, in each forged one what was forged."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.acceptance.approvals import length_of, violations
from tests.acceptance.consents import Json
from tests.agent.rules.golden import JOURNALS

GOLDEN = sorted(path.stem for path in JOURNALS.glob("*.jsonl"))
SEVERAL = "0.1.0-asked-of-several"


def read(name: str) -> list[Json]:
    lines = (JOURNALS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def only(journal: list[Json], kind: str, number: int = 0, **fields: Any) -> Json:
    """The event of this kind with these fields."""
    events = [row["event"] for row in journal if row["event"]["kind"] == kind]
    found: list[Json] = [one for one in events if fields.items() <= one.items()]
    return found[number]


@pytest.mark.parametrize("name", GOLDEN)
def test_in_the_journals_of_whole_stories_nothing_is_found(name: str) -> None:
    assert violations([read(name)]) == []


def other_arguments(journal: list[Json]) -> None:
    only(journal, "call_judged", 1, call_id="call_2")["args"]["amount"] = 900


def another_preview(journal: list[Json]) -> None:
    only(journal, "approval_requested", approval_id="apr_4")["preview"] = "900 to card 43"


def by_a_stranger(journal: list[Json]) -> None:
    yes = only(journal, "approval_decided", approval_id="apr_4")
    yes.update(by="slack:T0PILOT:U0EVE", user="U0EVE", groups=[])


def by_who_asked(journal: list[Json]) -> None:
    yes = only(journal, "approval_decided", approval_id="apr_4")
    yes.update(by="slack:T0PILOT:U0ALICE", user="U0ALICE")


def one_person_twice(journal: list[Json]) -> None:
    vote = only(journal, "approval_voted", approval_id="apr_4")
    yes = only(journal, "approval_decided", approval_id="apr_4")
    yes.update({key: vote[key] for key in ("by", "user", "groups")})


def twice_for_one_group(journal: list[Json]) -> None:
    only(journal, "approval_decided", approval_id="apr_4")["groups"] = ["S0FINANCE"]


def after_its_expiry(journal: list[Json]) -> None:
    only(journal, "approval_requested", approval_id="apr_4")["expires_at"] = "2026-11-29T12:00:00Z"


def a_denial(journal: list[Json]) -> None:
    only(journal, "approval_decided", approval_id="apr_4")["action"] = "deny"


def decided_twice(journal: list[Json]) -> None:
    yes = next(
        row
        for row in journal
        if row["event"]["kind"] == "approval_decided" and row["event"]["approval_id"] == "apr_4"
    )
    journal.insert(journal.index(yes), copy.deepcopy(yes))


def asked_of_nobody(journal: list[Json]) -> None:
    journal[:] = [row for row in journal if row["event"].get("approval_id") != "apr_4"]


def an_old_yes(journal: list[Json]) -> None:
    only(journal, "call_judged", 1, call_id="call_2")["verdict"]["valid_for"] = "PT0S"


def begun_twice(journal: list[Json]) -> None:
    start = next(row for row in journal if row["event"]["kind"] == "call_started")
    journal.insert(journal.index(start), copy.deepcopy(start))


def a_grant_of_nobodys(journal: list[Json]) -> None:
    only(journal, "call_started")["grant"] = "grt_1"


YES: Json = {"kind": "approval_decided", "approval_id": "apr_4"}


def row_of(journal: list[Json], event: Json) -> int:
    return next(number for number, row in enumerate(journal) if row["event"] is event)


def before(journal: list[Json], event: Json, **inserted: Any) -> None:
    """This happened in the moment before that."""
    number = row_of(journal, event)
    journal.insert(number, {**journal[number], "event": inserted})


def the_yes(journal: list[Json]) -> Json:
    return only(journal, **YES)


def the_start(journal: list[Json]) -> Json:
    return only(journal, "call_started")


def another_tool(journal: list[Json]) -> None:
    only(journal, "model_replied")["calls"][1]["tool"] = "wire_money"


def another_schema(journal: list[Json]) -> None:
    only(journal, "call_judged", 1, call_id="call_2")["schema_digest"] = "another"


def another_preview_at_its_start(journal: list[Json]) -> None:
    only(journal, "call_previewed", 3)["preview"] = "90 to card 44"


def by_somebody_else_s_id(journal: list[Json]) -> None:
    the_yes(journal)["user"] = "U0BOB"


def by_the_same_id_in_another_workspace(journal: list[Json]) -> None:
    the_yes(journal)["by"] = "slack:T0EVIL:U0GRACE"


def by_a_person_as_operator(journal: list[Json]) -> None:
    the_yes(journal)["authority"] = "operator"


def by_a_person_as_code(journal: list[Json]) -> None:
    the_yes(journal)["authority"] = "code"


def an_answer_by_who_asked(journal: list[Json]) -> None:
    only(journal, "approval_requested", approval_id="apr_1")["approvers"]["requester"] = False


def a_vote_of_a_stranger(journal: list[Json]) -> None:
    vote = only(journal, "approval_voted", approval_id="apr_4")
    vote.update(by="slack:T0PILOT:U0EVE", user="U0EVE", groups=[])


def for_no_group_that_is_said(journal: list[Json]) -> None:
    del the_yes(journal)["groups"]


def for_nothing_that_is_said(journal: list[Json]) -> None:
    del the_yes(journal)["groups"], the_yes(journal)["user"]


def one_of_two_that_was_not_counted(journal: list[Json]) -> None:
    the_yes(journal)["not_counted"] = ["slack:T0PILOT:U0BOB"]


def at_the_moment_of_its_expiry(journal: list[Json]) -> None:
    only(journal, "approval_requested", approval_id="apr_4")["expires_at"] = "2026-11-29T12:06:08Z"


def expired_before_it_was_decided(journal: list[Json]) -> None:
    before(journal, the_yes(journal), kind="approval_expired", approval_id="apr_4")


def expired_before_it_was_used(journal: list[Json]) -> None:
    before(journal, the_start(journal), kind="approval_expired", approval_id="apr_4")


def superseded_before_it_was_decided(journal: list[Json]) -> None:
    asked = only(journal, "approval_requested", approval_id="apr_4")
    before(journal, the_yes(journal), **{**asked, "approval_id": "apr_40", "supersedes": "apr_4"})


def a_yes_after_the_decision(journal: list[Json]) -> None:
    vote = only(journal, "approval_voted", approval_id="apr_4")
    before(journal, the_start(journal), **vote)


def a_yes_after_a_denial(journal: list[Json]) -> None:
    before(journal, the_yes(journal), **{**the_yes(journal), "action": "deny"})


def an_answer_of_a_stranger(journal: list[Json]) -> None:
    answer = only(journal, "approval_decided", approval_id="apr_1")
    answer.update(by="slack:T0PILOT:U0EVE", user="U0EVE")


def by_who_asked_where_they_may_and_are_not_named(journal: list[Json]) -> None:
    only(journal, "approval_requested", approval_id="apr_4")["approvers"]["requester"] = True
    the_yes(journal).update(by="slack:T0PILOT:U0ALICE", user="U0ALICE", groups=[])


def one_of_two_that_was_too_old(journal: list[Json]) -> None:
    vote = only(journal, "approval_voted", approval_id="apr_4")
    journal[row_of(journal, vote)]["at"] = "2026-11-29T11:06:09Z"


def begun_after_a_stop(journal: list[Json]) -> None:
    before(journal, the_start(journal), kind="stop_requested")


def begun_after_a_stop_and_a_resume(journal: list[Json]) -> None:
    before(journal, the_start(journal), kind="stop_requested")
    before(journal, the_start(journal), kind="run_resumed")


def begun_while_it_was_held(journal: list[Json]) -> None:
    before(journal, the_start(journal), kind="run_held")


def begun_after_the_end(journal: list[Json]) -> None:
    before(journal, the_start(journal), kind="run_failed")


def decided_after_a_stop(journal: list[Json]) -> None:
    before(journal, the_yes(journal), kind="stop_requested")


def a_reading_that_was_asked_about(journal: list[Json]) -> None:
    only(journal, "call_judged", 1, call_id="call_2")["effect"] = "read"
    only(journal, **YES)["action"] = "deny"


def begun_twice_by_a_stricter_tool(journal: list[Json]) -> None:
    only(journal, "call_judged", 1, call_id="call_2")["effect"] = "idempotent"
    before(journal, the_start(journal), **{**the_start(journal), "effect": "once"})
    only(journal, "call_started", 1)["effect"] = "once"


@pytest.mark.parametrize(
    ("forge", "found"),
    [
        (other_arguments, "was begun as something else than apr_4 said yes to"),
        (another_preview, "was begun as something else than apr_4 said yes to"),
        (by_a_stranger, "is nobody who may decide it"),
        (by_who_asked, "asked for the run, and may not decide it"),
        (one_person_twice, "had too few yeses"),
        (twice_for_one_group, "had too few yeses"),
        (after_its_expiry, "was decided after its expiry"),
        (a_denial, "nobody had said yes to it"),
        (decided_twice, "was decided twice"),
        (asked_of_nobody, "nobody had said yes to it"),
        (an_old_yes, "too old by then"),
        (begun_twice, "nothing says that it had not happened"),
        (a_grant_of_nobodys, "which nobody gave"),
        (another_tool, "was begun as something else than apr_4 said yes to"),
        (another_schema, "was begun as something else than apr_4 said yes to"),
        (another_preview_at_its_start, "would have done something else by then"),
        (by_somebody_else_s_id, "U0GRACE is not U0BOB of here"),
        (by_the_same_id_in_another_workspace, "T0EVIL:U0GRACE is not U0GRACE of here"),
        (by_a_person_as_operator, "is no operator"),
        (by_a_person_as_code, "is no code"),
        (an_answer_by_who_asked, "asked for the run, and may not decide it"),
        (a_vote_of_a_stranger, "U0EVE is nobody who may decide it"),
        (for_no_group_that_is_said, "U0GRACE is nobody who may decide it"),
        (for_nothing_that_is_said, "U0GRACE is nobody who may decide it"),
        (one_of_two_that_was_not_counted, "had too few yeses"),
        (at_the_moment_of_its_expiry, "was decided after its expiry"),
        (expired_before_it_was_decided, "was decided, though nobody had decided it in time"),
        (expired_before_it_was_used, "was begun by apr_4, though nobody had decided it in time"),
        (superseded_before_it_was_decided, "apr_4 was decided, though it was superseded"),
        (a_yes_after_the_decision, "apr_4 was decided twice"),
        (a_yes_after_a_denial, "call_2 was begun, and nobody had said yes to it"),
        (an_answer_of_a_stranger, "apr_1: slack:T0PILOT:U0EVE is nobody who may decide it"),
        (by_who_asked_where_they_may_and_are_not_named, "U0ALICE is nobody who may decide it"),
        (one_of_two_that_was_too_old, "too old by then"),
        (begun_after_a_stop, "call_2 was begun, though the run was to stop"),
        (begun_after_a_stop_and_a_resume, "call_2 was begun, though the run was to stop"),
        (begun_while_it_was_held, "call_2 was begun, though the run was held"),
        (begun_after_the_end, "call_2 was begun, though the run had ended"),
        (decided_after_a_stop, "apr_4 was decided, though the run was to stop"),
        (a_reading_that_was_asked_about, "nobody had said yes to it"),
        (begun_twice_by_a_stricter_tool, "nothing says that it had not happened"),
    ],
)
def test_what_is_forged_is_found(forge: Callable[[list[Json]], None], found: str) -> None:
    journal = read(SEVERAL)
    forge(journal)
    told = "; ".join(violations([journal]))
    assert found in told, told


def test_who_is_in_a_group_is_not_taken_from_the_journal_where_it_is_known() -> None:
    groups = {"S0FINANCE": ["U0BOB"], "S0LEGAL": ["U0GRACE"]}
    assert violations([read(SEVERAL)], groups) == []
    told = violations([read(SEVERAL)], {**groups, "S0LEGAL": ["U0IVY"]})
    assert any("U0GRACE is nobody who may decide it" in one for one in told)


def held_and_resumed(journal: list[Json]) -> None:
    before(journal, the_start(journal), kind="run_held")
    before(journal, the_start(journal), kind="run_resumed")


def failed_and_reopened(journal: list[Json]) -> None:
    before(journal, the_start(journal), kind="run_failed")
    before(journal, the_start(journal), kind="run_reopened")


def safe_to_begin_again(journal: list[Json]) -> None:
    only(journal, "call_judged", 1, call_id="call_2")["effect"] = "idempotent"
    before(journal, the_start(journal), **the_start(journal))


def another_preview_where_it_may_differ(journal: list[Json]) -> None:
    only(journal, "call_judged", 1, call_id="call_2")["preview_must_match"] = False
    another_preview_at_its_start(journal)


def by_an_operator_alone(journal: list[Json]) -> None:
    del journal[row_of(journal, only(journal, "approval_voted", approval_id="apr_4"))]
    the_yes(journal).update(by="cli:root", user=None, groups=[], authority="operator")


def by_one_who_is_named(journal: list[Json]) -> None:
    asked = only(journal, "approval_requested", approval_id="apr_6")
    asked["approvers"].update(users=["U0BOB"], groups=[])
    only(journal, "approval_decided", approval_id="apr_6")["groups"] = []


def asked_by_an_operator(journal: list[Json]) -> None:
    only(journal, "run_started")["requester"] = "cli:root"
    del journal[row_of(journal, only(journal, "approval_decided", approval_id="apr_1"))]


@pytest.mark.parametrize(
    "change",
    [
        held_and_resumed,
        failed_and_reopened,
        safe_to_begin_again,
        another_preview_where_it_may_differ,
        by_an_operator_alone,
        by_one_who_is_named,
        asked_by_an_operator,
    ],
)
def test_nothing_is_found_in_what_may_be(change: Callable[[list[Json]], None]) -> None:
    journal = read(SEVERAL)
    change(journal)
    assert violations([journal]) == []


def test_those_who_are_asked_as_well_may_decide_from_then_on() -> None:
    legal = {"by": "slack:T0PILOT:U0GRACE", "user": "U0GRACE", "groups": ["S0LEGAL"]}
    yes = {"kind": "approval_decided", "approval_id": "apr_1", "action": "deny", **legal}
    journal = read("0.1.0-people-and-time")
    before(journal, only(journal, "approval_expired"), **yes)
    told = "; ".join(violations([journal]))
    assert "U0GRACE" not in told, told
    journal = read("0.1.0-people-and-time")
    before(journal, only(journal, "approval_escalated"), **yes)
    told = "; ".join(violations([journal]))
    assert "apr_1: slack:T0PILOT:U0GRACE is nobody who may decide it" in told, told


@pytest.mark.parametrize(("outcome", "count"), [("not_happened", 0), ("happened", 1)])
def test_only_what_people_say_did_not_happen_is_begun_again(outcome: str, count: int) -> None:
    journal = read("0.1.0-effect-unknown")
    only(journal, "approval_decided", approval_id="apr_5")["outcome"] = outcome
    before(journal, only(journal, "model_replied", 1), **the_start(journal))
    told = [one for one in violations([journal]) if "was begun again" in one]
    assert len(told) == count, told
    assert len(violations([journal])) == count


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ("PT1H30M", timedelta(hours=1, minutes=30)),
        ("P1DT2S", timedelta(days=1, seconds=2)),
        ("PT0.5S", timedelta(seconds=0.5)),
    ],
)
def test_lengths_are_read_as_they_are_written(written: str, length: timedelta) -> None:
    assert length_of(written) == length
