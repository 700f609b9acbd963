"""Who someone is, as Slack tells; and what happens when it does not."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from agent.rules.parts import Approvers
from bot.sandbox.opened import OpenSandbox
from bot.slack.clients import slack_client
from bot.slack.ids import SlackUser
from bot.slack.people import CouldNotLookUp, NotEligible, People

FINANCE = Approvers(groups=("S0FINANCE",))


class Hands:
    """A clock that is moved by hand."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
async def people(sandbox: OpenSandbox, hands: Hands) -> People:
    return People(slack_client("xoxb-sandbox", sandbox.api_url), seconds=hands)


async def test_a_member_is_who_the_payload_says(people: People) -> None:
    assert await people.member("U0ALICE", "T0PILOT") == SlackUser("T0PILOT", "U0ALICE")


async def test_a_payload_without_a_workspace_gets_that_of_the_profile(people: People) -> None:
    assert await people.member("U0ALICE", None) == SlackUser("T0PILOT", "U0ALICE")


@pytest.mark.parametrize(
    ("user", "team", "why"),
    [
        ("U0CAROL", "T0PILOT", "guests"),
        ("U0DAVE", "T0OTHER", "another workspace"),
        ("U0DAVE", "T0PILOT", "another workspace"),
        ("U0DAVE", None, "another workspace"),
        ("U0ALICE", "T0OTHER", "another workspace"),
        ("U0ERIN", "T0PILOT", "deactivated"),
        ("U0PILOT", "T0PILOT", "apps"),
        ("U0NOBODY", "T0PILOT", "can't be found in this workspace"),
    ],
)
async def test_whoever_is_no_full_member_may_neither_start_nor_decide(
    people: People, user: str, team: str | None, why: str
) -> None:
    with pytest.raises(NotEligible, match=why):
        await people.member(user, team)
    with pytest.raises(NotEligible, match=why):
        await people.decider(user, team, asked=FINANCE)


async def test_a_decider_has_the_groups_that_they_are_in(people: People) -> None:
    decider = await people.decider(
        "U0BOB", "T0PILOT", asked=Approvers(groups=("S0FINANCE", "S0NONE"))
    )
    assert decider.principal == "slack:T0PILOT:U0BOB"
    assert decider.groups == {"S0FINANCE"}
    alice = await people.decider("U0ALICE", "T0PILOT", asked=FINANCE)
    assert alice.groups == frozenset()


async def test_an_answer_is_kept_for_less_than_a_minute(
    people: People, sandbox: OpenSandbox, hands: Hands
) -> None:
    bob = sandbox.inside.workspace.users["U0BOB"]
    await people.member("U0BOB")
    sandbox.inside.workspace.users["U0BOB"] = replace(bob, deleted=True)
    hands.seconds += 59
    await people.member("U0BOB")
    hands.seconds += 1
    with pytest.raises(NotEligible, match="deactivated"):
        await people.member("U0BOB")


async def test_many_who_click_at_once_cost_one_question_each_and_one_about_their_group(
    people: People, sandbox: OpenSandbox
) -> None:
    clicks = ["U0BOB", "U0FRANK"] * 15
    found = await asyncio.gather(
        *(people.decider(user, "T0PILOT", asked=FINANCE) for user in clicks)
    )
    assert [one.user for one in found] == clicks
    assert {one.groups for one in found} == {frozenset({"S0FINANCE"})}
    assert (_asked_of_groups(sandbox), len(sandbox.calls("users.info"))) == (1, 2)


async def test_whoever_gives_up_leaves_the_others_the_answer(
    people: People, sandbox: OpenSandbox
) -> None:
    sandbox.faults.add(method="users.info", latency=0.2)
    first, second = (asyncio.create_task(people.member("U0BOB")) for _ in range(2))
    await sandbox.until(lambda: sandbox.calls("users.info"), "Slack is asked")
    first.cancel()
    assert (await second).user == "U0BOB"
    assert first.cancelled()
    assert len(sandbox.calls("users.info")) == 1


async def test_a_failure_is_told_to_all_who_wait_for_it_and_asked_again_by_the_next(
    people: People, sandbox: OpenSandbox
) -> None:
    sandbox.faults.add(method="users.info", status=500)
    told = await asyncio.gather(*(people.member("U0BOB") for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in told] == [CouldNotLookUp] * 3
    assert (await people.member("U0BOB")).user == "U0BOB"


async def test_a_failed_look_up_is_a_no_and_is_not_kept(
    people: People, sandbox: OpenSandbox
) -> None:
    sandbox.faults.add(method="users.info", status=500)
    with pytest.raises(CouldNotLookUp):
        await people.member("U0BOB", "T0PILOT")
    assert (await people.member("U0BOB", "T0PILOT")).user == "U0BOB"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("internal_error", "who may decide this just now. Please try again in a minute"),
        ("missing_scope", r"Slack does not tell us who may decide this \(missing_scope\)"),
    ],
)
async def test_whoever_may_be_in_a_group_that_is_unknown_is_not_said_to_be_outside(
    people: People, sandbox: OpenSandbox, error: str, why: str
) -> None:
    fault = {"method": "usergroups.users.list", "error": error, "times": 2}
    sandbox.faults.add(**fault)
    with pytest.raises(CouldNotLookUp, match=why):
        await people.decider("U0BOB", "T0PILOT", asked=FINANCE)
    by_name = Approvers(users=("U0BOB",), groups=("S0FINANCE",))
    assert (await people.decider("U0BOB", "T0PILOT", asked=by_name)).groups == frozenset()


async def test_a_group_that_does_not_matter_may_stay_unknown(
    people: People, sandbox: OpenSandbox
) -> None:
    fault = {"method": "usergroups.users.list", "error": "internal_error", "contains": "S0OTHER"}
    sandbox.faults.add(**fault)
    alice = await people.decider("U0ALICE", "T0PILOT", asked=FINANCE, also=["S0OTHER"])
    assert alice.groups == frozenset()


async def test_a_group_that_slack_does_not_have_has_nobody_in_it(people: People) -> None:
    gone = Approvers(groups=("S0GONE",))
    assert (await people.decider("U0BOB", "T0PILOT", asked=gone)).groups == frozenset()


@pytest.mark.parametrize(
    ("team", "why"),
    [("T0PILOT", None), ("T0OTHER", "another workspace"), (None, "which workspace")],
)
async def test_a_profile_without_a_workspace_is_believed_only_with_the_payloads(
    people: People, sandbox: OpenSandbox, team: str | None, why: str | None
) -> None:
    alice = sandbox.inside.workspace.users["U0ALICE"]
    sandbox.inside.workspace.users["U0ALICE"] = replace(alice, team_id="")
    if why is None:
        assert await people.member("U0ALICE", team) == SlackUser("T0PILOT", "U0ALICE")
    else:
        with pytest.raises(NotEligible, match=why):
            await people.member("U0ALICE", team)


async def test_slacks_own_word_for_a_failure_is_logged(
    people: People, sandbox: OpenSandbox, caplog: pytest.LogCaptureFixture
) -> None:
    fault = {"method": "users.info", "error": "missing_scope"}
    sandbox.faults.add(**fault)
    with pytest.raises(CouldNotLookUp, match="missing_scope"):
        await people.member("U0BOB", "T0PILOT")
    assert "Could not look up U0BOB: SlackApiError (missing_scope)" in caplog.text


async def test_not_before_is_obeyed_and_told_to_everybody(
    people: People, sandbox: OpenSandbox, hands: Hands
) -> None:
    sandbox.faults.add(ratelimited=True, method="usergroups.users.list", retry_after=8)
    for _ in range(3):
        with pytest.raises(CouldNotLookUp):
            await people.decider("U0BOB", "T0PILOT", asked=FINANCE)
    sandbox.assert_no_violations()
    asked = _asked_of_groups(sandbox)
    hands.seconds += 9
    with suppress(CouldNotLookUp):  # The sandbox's own clock has not moved.
        await people.decider("U0BOB", "T0PILOT", asked=FINANCE)
    assert (asked, _asked_of_groups(sandbox)) == (1, 2)


def _asked_of_groups(sandbox: OpenSandbox) -> int:
    return len(sandbox.calls("usergroups.users.list"))


async def test_who_is_in_a_channel_is_read_page_by_page_and_kept(
    people: People, sandbox: OpenSandbox, hands: Hands
) -> None:
    many = [f"U0MANY{number:04}" for number in range(1_200)]
    sandbox.inside.workspace.channel("C0OPS").members.extend(many)
    inside = await people.in_channel("C0OPS")
    assert inside is not None
    assert {"U0ALICE", many[0], many[-1]} <= inside
    assert "U0CAROL" not in inside
    hands.seconds += 59
    await people.in_channel("C0OPS")
    assert len(sandbox.calls("conversations.members")) == 3
    hands.seconds += 1
    await people.in_channel("C0OPS")
    assert len(sandbox.calls("conversations.members")) == 6


async def test_of_a_channel_with_more_people_than_are_read_nothing_is_known(
    people: People, sandbox: OpenSandbox
) -> None:
    many = [f"U0MANY{number:04}" for number in range(5_000)]
    sandbox.inside.workspace.channel("C0OPS").members.extend(many)
    assert await people.in_channel("C0OPS") is None
    assert await people.in_channel("C0OPS") is None
    assert len(sandbox.calls("conversations.members")) == 10
