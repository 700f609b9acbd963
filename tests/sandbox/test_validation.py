"""blocks.validate, through the SDK."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox.driving import Driver, buttons, modal, plain


async def refusal(call: Any) -> Any:
    with pytest.raises(SlackApiError) as error:
        await call
    return error.value.response.data


async def test_what_is_right_is_told_so(driver: Driver) -> None:
    validate = driver.slack.blocks_validate
    await validate(blocks=buttons("a"))
    await validate(message={"text": "x", "blocks": buttons("a")})
    await validate(view=modal())
    await validate(view={"type": "home", "blocks": buttons("a")})


async def test_what_is_wrong_is_told_with_its_place(driver: Driver) -> None:
    validate = driver.slack.blocks_validate
    wrong = [{"type": "section", "text": {"type": "invalid", "text": "x"}}]
    answer = await refusal(validate(blocks=wrong))
    assert answer["error"] == "invalid_blocks"
    (found,) = answer["errors"]
    assert (found["code"], found["pointer"]) == ("failed_constraint", "/0/text/type")
    answer = await refusal(validate(message={"blocks": [{}]}))
    assert answer["error"] == "invalid_message"
    assert answer["errors"] == [
        {
            "code": "missing_field",
            "field": "type",
            "message": "missing required field: type",
            "pointer": "/blocks/0",
        }
    ]
    answer = await refusal(validate(view=modal(title=plain("x" * 25))))
    assert answer["error"] == "invalid_view"
    assert answer["errors"][0]["pointer"] == "/title/text"
    assert await driver.get("/sandbox/violations") == [], "asking breaks no rule"


async def test_exactly_one_thing_is_validated(driver: Driver) -> None:
    for given in ({}, {"blocks": buttons("a"), "view": modal()}, {"view": "[1]"}, {"view": "{"}):
        answer = await refusal(driver.slack.blocks_validate(**given))
        assert answer["error"] == "invalid_arguments"
