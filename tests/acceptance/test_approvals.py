"""The auditor finds what it looks for: in journals of whole stories nothing, in each forged one what was forged."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.approvals import Json, violations
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
