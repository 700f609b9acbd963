"""What is changed of people and user groups: looked up, and told."""

from __future__ import annotations

from tests.sandbox.hearing import Hearing


async def test_whoever_enters_and_leaves_a_group_is_told_and_looked_up(app: Hearing) -> None:
    told = await app.act(
        "set_group", user="U0ALICE", group="S0FINANCE", members=["U0FRANK", "U0CAROL"]
    )
    assert told["acknowledged"]
    (event,) = [one["event"] for one in app.heard]
    assert (event["type"], event["subteam_id"]) == ("subteam_members_changed", "S0FINANCE")
    assert (event["added_users"], event["removed_users"]) == (["U0CAROL"], ["U0BOB"])
    found = await app.driver.slack.usergroups_users_list(usergroup="S0FINANCE")
    assert found["users"] == ["U0FRANK", "U0CAROL"]


async def test_a_deactivated_person_is_told_and_looked_up(app: Hearing) -> None:
    for do, deleted in (("deactivate", True), ("reactivate", False)):
        await app.act(do, user="U0ALICE", whom="U0BOB")
        event = app.heard[-1]["event"]
        assert (event["type"], event["user"]["id"]) == ("user_change", "U0BOB")
        assert event["user"]["deleted"] is deleted
        found = await app.driver.slack.users_info(user="U0BOB")
        assert found["user"]["deleted"] is deleted
