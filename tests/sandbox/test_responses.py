"""Response URLs: what an app can do with one, depending on where it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.driving import Driver, buttons
from tests.sandbox.hearing import Hearing, Json


async def respond(driver: Driver, url: str, body: Json) -> tuple[int, Any]:
    async with driver.http.post(url, json=body) as response:
        is_json = response.content_type == "application/json"
        return response.status, await response.json() if is_json else await response.text()


async def clicked(app: Hearing) -> tuple[str, Json]:
    """The response URL of a click, and where the message is."""
    place = await app.post(buttons("go"))
    await app.act("click", **place, action_id="go")
    return app.heard[-1]["response_url"], place


async def ephemerals(app: Hearing) -> list[Json]:
    found: list[Json] = await app.driver.get("/sandbox/ephemerals?as=U0BOB")
    return found


async def test_a_response_is_private_unless_it_says_otherwise(app: Hearing) -> None:
    url, place = await clicked(app)
    assert await respond(app.driver, url, {"text": "psst"}) == (200, "ok")
    aloud = {"text": "hear", "response_type": "in_channel", "thread_ts": place["ts"]}
    aloud["metadata"] = {"event_type": "x", "event_payload": {"y": 1}}
    assert await respond(app.driver, url, aloud) == (200, "ok")
    assert [one["text"] for one in await ephemerals(app)] == ["psst"]
    _, reply = await app.driver.messages("C0OPS", place["ts"])
    assert (reply["text"], reply["metadata"]["event_type"]) == ("hear", "x")


async def test_a_message_is_replaced_and_deleted_by_a_click_on_it(app: Hearing) -> None:
    url, place = await clicked(app)
    await respond(app.driver, url, {"replace_original": True, "text": "new"})
    (message,) = await app.driver.messages("C0OPS")
    assert (message["ts"], message["text"]) == (place["ts"], "new")
    await respond(app.driver, url, {"delete_original": True})
    assert await app.driver.messages("C0OPS") == []
    assert await respond(app.driver, url, {"replace_original": True, "text": "newer"}) == (
        404,
        {"ok": False, "error": "message_not_found"},
    )
    assert app.violations == [], "the app could not know"


async def test_an_ephemeral_is_changed_only_by_a_click_on_it(app: Hearing) -> None:
    posted = await app.driver.slack.chat_postEphemeral(
        channel="C0OPS", user="U0BOB", text="?", blocks=buttons("go")
    )
    place = {"channel": "C0OPS", "ts": posted["message_ts"]}
    with pytest.raises(Exception, match="message_not_found"):
        await app.driver.slack.chat_update(**place, text="new")
    status, _ = await app.driver.request(
        "POST", "/sandbox/act", {"as": "U0FRANK", "do": "click", **place, "action_id": "go"}
    )
    assert status == 404, "only Bob sees it"
    await app.act("click", **place, action_id="go")
    url = app.heard[-1]["response_url"]
    await respond(app.driver, url, {"replace_original": True, "text": "new"})
    assert [one["text"] for one in await ephemerals(app)] == ["new"]
    await respond(app.driver, url, {"delete_original": True})
    assert await ephemerals(app) == []


async def test_a_command_has_no_original_to_replace_or_delete(app: Hearing) -> None:
    await app.act("command", channel="C0OPS", command="/agent", text="x")
    url = app.heard[-1]["response_url"]
    assert app.heard[-1]["text"] == "x"
    for text in ("one", "two"):
        body = {"text": text, "replace_original": True}
        assert (await respond(app.driver, url, body))[0] == 200
    assert (await respond(app.driver, url, {"delete_original": True}))[0] == 200
    assert [one["text"] for one in await ephemerals(app)] == ["one", "two"]


async def test_a_shortcut_at_a_message_is_answered_where_the_app_is_not(app: Hearing) -> None:
    place = await app.post(buttons("go"))
    app.driver.sandbox.workspace.channels["C0OPS"].members.remove("U0PILOT")
    await app.act("shortcut", callback_id="x", **place)
    payload = app.heard[-1]
    assert (payload["type"], payload["message_ts"]) == ("message_action", place["ts"])
    assert payload["message"]["text"] == "?"
    said = {"text": "here", "response_type": "in_channel"}
    assert (await respond(app.driver, payload["response_url"], said))[0] == 200
    assert (await app.driver.messages("C0OPS"))[-1]["text"] == "here"


async def test_a_global_shortcut_happens_nowhere(app: Hearing) -> None:
    await app.act("shortcut", callback_id="x")
    payload = app.heard[-1]
    assert (payload["type"], payload["callback_id"]) == ("shortcut", "x")
    assert not {"channel", "message", "response_url", "view"} & set(payload)


async def test_an_answer_that_breaks_a_limit_is_noted(app: Hearing) -> None:
    app.answers = [{"blocks": [{"type": "section"}]}]
    said = await app.act("command", channel="C0OPS", command="/agent", text="x")
    assert (said["acknowledged"], said["error"]) == (True, "invalid_blocks")
    assert app.violations == ["refused_acknowledgement"]
    assert await ephemerals(app) == []
    status, _ = await respond(app.driver, app.heard[-1]["response_url"], {"text": ""})
    assert status == 404
    assert app.violations == ["refused_acknowledgement", "limit"]
