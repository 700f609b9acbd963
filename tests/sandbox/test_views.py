"""Modals and App Home through the SDK: ids, stack, hash."""

from __future__ import annotations

from typing import Any

from tests.sandbox.driving import Driver, modal
from tests.sandbox.refusals import error_of


async def opened(driver: Driver, user: str = "U0BOB", **view: Any) -> Any:
    trigger_id = driver.sandbox.triggers.issue(user)
    return (await driver.slack.views_open(trigger_id=trigger_id, view=modal(**view)))["view"]


async def test_a_view_is_updated_by_the_apps_own_id(driver: Driver) -> None:
    first = await opened(driver, external_id="run-1")
    updated = await driver.slack.views_update(
        external_id="run-1", view=modal(external_id="run-1"), hash=first["hash"]
    )
    assert updated["view"]["id"] == first["id"]
    assert updated["view"]["hash"] != first["hash"]
    stale = driver.slack.views_update(view_id=first["id"], view=modal(), hash=first["hash"])
    assert await error_of(stale) == "hash_conflict"
    unknown = driver.slack.views_update(external_id="run-2", view=modal())
    assert await error_of(unknown) == "not_found"
    neither = driver.slack.api_call("views.update", json={"view": modal()})
    assert await error_of(neither) == "invalid_arguments"


async def test_the_apps_own_ids_are_unique(driver: Driver) -> None:
    await opened(driver, external_id="run-1")
    other = await opened(driver, "U0FRANK")
    trigger_id = driver.sandbox.triggers.issue("U0FRANK")
    for again in (driver.slack.views_open, driver.slack.views_push):
        call = again(trigger_id=trigger_id, view=modal(external_id="run-1"))
        assert await error_of(call) == "duplicate_external_id"
        trigger_id = driver.sandbox.triggers.issue("U0FRANK")
    renamed = driver.slack.views_update(view_id=other["id"], view=modal(external_id="run-1"))
    assert await error_of(renamed) == "duplicate_external_id"


async def test_three_modals_lie_on_each_other_at_most(driver: Driver) -> None:
    root = await opened(driver)
    push, issue = driver.slack.views_push, driver.sandbox.triggers.issue
    second = await push(trigger_id=issue("U0BOB"), view=modal())
    assert second["view"]["previous_view_id"] == second["view"]["root_view_id"] == root["id"]
    third = await push(trigger_id=issue("U0BOB"), view=modal())
    assert third["view"]["root_view_id"] == root["id"]
    fourth = push(trigger_id=issue("U0BOB"), view=modal())
    assert await error_of(fourth) == "push_limit_reached"
    nothing_open = push(trigger_id=issue("U0FRANK"), view=modal())
    assert await error_of(nothing_open) == "not_found"


async def test_app_home_keeps_its_id_and_changes_its_hash(driver: Driver) -> None:
    publish, view = driver.slack.views_publish, {"type": "home", "blocks": []}
    first = (await publish(user_id="U0BOB", view=view))["view"]
    second = (await publish(user_id="U0BOB", view=view, hash=first["hash"]))["view"]
    assert second["id"] == first["id"]
    stale = publish(user_id="U0BOB", view=view, hash=first["hash"])
    assert await error_of(stale) == "hash_conflict"


async def test_a_view_may_come_as_a_string_of_json(driver: Driver) -> None:
    trigger_id = driver.sandbox.triggers.issue("U0BOB")
    form = {"trigger_id": trigger_id, "view": '{"type": "modal"'}
    assert await error_of(driver.slack.api_call("views.open", data=form)) == "invalid_arguments"
    text = '{"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": []}'
    found = await driver.slack.api_call("views.open", data=form | {"view": text})
    assert found["view"]["title"]["text"] == "T"
