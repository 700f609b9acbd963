"""Who a principal is now: looked up like somebody who clicks, and nobody where that fails."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from agent.ports import Directory
from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from agent.rules.requesters import Requester, RequesterKind
from bot.sandbox.opened import OpenSandbox
from bot.slack.clients import slack_client
from bot.slack.directory import SlackDirectory
from bot.slack.people import KEPT_SECONDS, CouldNotLookUp, People
from tests.bot.slack.workspace import Seconds

BOB = Principal("slack:T0PILOT:U0BOB")
ONE_EACH = Approvers(groups=("S0FINANCE",), one_from_each=("S0LEGAL",))


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
async def people(sandbox: OpenSandbox, seconds: Seconds) -> People:
    return People(slack_client("xoxb-sandbox", sandbox.api_url), seconds=seconds)


@pytest.fixture
async def directory(people: People) -> Directory:
    return SlackDirectory(people)


async def test_a_member_is_found_with_those_of_the_groups_that_they_are_in(
    directory: Directory,
) -> None:
    found = await directory.find(BOB, ["S0FINANCE", "S0GONE"])
    assert found == Decider(BOB, "U0BOB", frozenset({"S0FINANCE"}))


async def test_whoever_holds_the_database_is_the_operator(directory: Directory) -> None:
    found = await directory.find(Principal("cli:root"), ["S0FINANCE"])
    assert found == Decider(Principal("cli:root"), authority="operator")


@pytest.mark.parametrize(
    "principal",
    [
        "slack:T0PILOT:U0CAROL",
        "slack:T0OTHER:U0DAVE",
        "slack:T0PILOT:U0DAVE",
        "slack:T0OTHER:U0BOB",
        "slack:T0PILOT:U0ERIN",
        "slack:T0PILOT:U0PILOT",
        "slack:T0PILOT:U0NOBODY",
        "slack:T0PILOT",
        "code:checker",
        "token:ci",
        "",
    ],
)
async def test_who_may_decide_nothing_is_nobody(directory: Directory, principal: str) -> None:
    assert await directory.find(Principal(principal), ["S0FINANCE"]) is None


async def test_a_failed_look_up_is_nobody(directory: Directory, sandbox: OpenSandbox) -> None:
    fault = {"method": "users.info", "error": "internal_error"}
    sandbox.faults.add(**fault)
    assert await directory.find(BOB, ["S0FINANCE"]) is None
    assert await directory.find(BOB, ["S0FINANCE"]) is not None


async def test_a_group_that_is_not_told_is_one_that_they_are_not_in(
    directory: Directory, sandbox: OpenSandbox
) -> None:
    fault = {"method": "usergroups.users.list", "error": "internal_error"}
    sandbox.faults.add(**fault)
    assert await directory.find(BOB, ["S0FINANCE"]) == Decider(BOB, "U0BOB")


async def test_what_was_told_holds_for_a_minute_and_no_longer(
    directory: Directory, sandbox: OpenSandbox, seconds: Seconds
) -> None:
    users = sandbox.inside.workspace.users
    assert await directory.find(BOB, []) is not None
    users["U0BOB"] = replace(users["U0BOB"], deleted=True)
    assert await directory.find(BOB, []) is not None
    seconds.ahead += KEPT_SECONDS
    assert await directory.find(BOB, []) is None


async def test_the_groups_that_must_each_say_yes_are_looked_up_for_whoever_decides(
    people: People, sandbox: OpenSandbox
) -> None:
    legal = replace(sandbox.inside.workspace.groups["S0FINANCE"], id="S0LEGAL")
    sandbox.inside.workspace.groups["S0LEGAL"] = legal
    found = await people.decider("U0BOB", "T0PILOT", asked=ONE_EACH)
    assert found.groups == {"S0FINANCE", "S0LEGAL"}


async def test_for_whom_somebody_speaks_must_be_told_where_each_group_counts(
    people: People, sandbox: OpenSandbox
) -> None:
    fault = {"method": "usergroups.users.list", "error": "internal_error", "contains": "S0LEGAL"}
    sandbox.faults.add(**{**fault, "times": 1})
    with pytest.raises(CouldNotLookUp, match="who may decide this"):
        await people.decider("U0BOB", "T0PILOT", asked=ONE_EACH)


@pytest.mark.parametrize(
    ("principal", "kind"),
    [
        ("slack:T0PILOT:U0BOB", "member"),
        ("slack:T0PILOT:U0CAROL", "guest"),
        ("slack:T0OTHER:U0DAVE", "stranger"),
        ("slack:T0OTHER:U0BOB", "stranger"),
        ("slack:T0PILOT:U0ERIN", "deactivated"),
        ("slack:T0PILOT:U0PILOT", "bot"),
        ("cli:root", "operator"),
    ],
)
async def test_of_which_kind_a_requester_is(
    directory: Directory, principal: str, kind: str
) -> None:
    found = await directory.requester(Principal(principal), [])
    assert found == Requester(cast(RequesterKind, kind), frozenset())


async def test_a_requester_is_found_with_their_groups(directory: Directory) -> None:
    found = await directory.requester(BOB, ["S0FINANCE", "S0GONE"])
    assert found == Requester("member", frozenset({"S0FINANCE"}))


@pytest.mark.parametrize(
    ("principal", "why"),
    [
        ("slack:T0PILOT:U0NOBODY", "Slack does not say (user_not_found)"),
        ("token:ci", "that is nobody in Slack"),
    ],
)
async def test_whoever_can_not_be_found_is_of_no_known_kind(
    directory: Directory, principal: str, why: str
) -> None:
    found = await directory.requester(Principal(principal), [])
    assert (found.kind, found.why) == (None, why)


@pytest.mark.parametrize(
    ("method", "found"),
    [
        ("users.info", Requester(None, frozenset({"S0FINANCE"}), "Slack did not say just now")),
        ("usergroups.users.list", Requester("member", None, "Slack did not say just now")),
    ],
)
async def test_what_slack_does_not_say_of_a_requester_is_not_known(
    directory: Directory, sandbox: OpenSandbox, method: str, found: Requester
) -> None:
    sandbox.faults.add(method=method, error="internal_error")
    assert await directory.requester(BOB, ["S0FINANCE"]) == found
    again = await directory.requester(BOB, ["S0FINANCE"])
    assert again == Requester("member", frozenset({"S0FINANCE"}))
