"""Who someone is, as Slack tells; and what happens when it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.sandbox.app import RunningSandbox
from bot.sandbox.faults import Fault
from bot.slack.clients import slack_client
from bot.slack.ids import SlackUser
from bot.slack.people import CouldNotLookUp, NotEligible, People


class Hands:
    """A clock that is moved by hand."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
async def people(sandbox: RunningSandbox, hands: Hands) -> People:
    return People(slack_client("xoxb-sandbox", sandbox.api_url), seconds=hands)


async def test_a_member_is_who_the_payload_says(people: People) -> None:
    assert await people.may_start("U0ALICE", "T0PILOT") == SlackUser("T0PILOT", "U0ALICE")


async def test_a_payload_without_a_workspace_gets_that_of_the_profile(people: People) -> None:
    assert await people.may_start("U0ALICE", None) == SlackUser("T0PILOT", "U0ALICE")


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
        ("U0NOBODY", "T0PILOT", "could not look you up"),
    ],
)
async def test_whoever_is_no_full_member_may_neither_start_nor_decide(
    people: People, user: str, team: str | None, why: str
) -> None:
    with pytest.raises(NotEligible, match=why):
        await people.may_start(user, team)
    with pytest.raises(NotEligible, match=why):
        await people.decider(user, team, groups=["S0FINANCE"])


async def test_a_decider_has_the_groups_that_they_are_in(people: People) -> None:
    decider = await people.decider("U0BOB", "T0PILOT", groups=["S0FINANCE", "S0NONE"])
    assert decider.principal == "slack:T0PILOT:U0BOB"
    assert decider.groups == {"S0FINANCE"}
    alice = await people.decider("U0ALICE", "T0PILOT", groups=["S0FINANCE"])
    assert alice.groups == frozenset()


async def test_an_answer_is_kept_for_less_than_a_minute(
    people: People, sandbox: RunningSandbox, hands: Hands
) -> None:
    bob = sandbox.sandbox.workspace.users["U0BOB"]
    await people.member("U0BOB")
    sandbox.sandbox.workspace.users["U0BOB"] = replace(bob, deleted=True)
    hands.seconds += 59
    await people.member("U0BOB")
    hands.seconds += 1
    with pytest.raises(NotEligible, match="deactivated"):
        await people.member("U0BOB")


async def test_a_failed_look_up_is_a_no_and_is_not_kept(
    people: People, sandbox: RunningSandbox
) -> None:
    sandbox.sandbox.faults.waiting.append(Fault.parse({"method": "users.info", "status": 500}))
    with pytest.raises(CouldNotLookUp):
        await people.member("U0BOB", "T0PILOT")
    assert (await people.member("U0BOB", "T0PILOT")).user == "U0BOB"
