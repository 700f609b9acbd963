"""The check by Slack's published types finds what does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.slack_types.checking import misfits

TEXT = {"type": "plain_text", "text": "Approve"}
BUTTON = {"type": "button", "action_id": "a", "text": TEXT, "value": "apr_1"}
MODAL = {"type": "modal", "title": TEXT, "blocks": [{"type": "divider"}]}


def actions(**of_button: Any) -> list[dict[str, Any]]:
    return [{"type": "actions", "elements": [BUTTON | of_button]}]


@pytest.mark.parametrize(
    ("blocks", "wrong"),
    [
        (actions(style="loud"), "message[0].elements[0].style"),
        (actions(value=7), "message[0].elements[0].value"),
        (actions(colour="red"), "message[0].elements[0]: colour is not known"),
        (actions(text="Approve"), "message[0].elements[0].text"),
        ([{"type": "section", "text": {"type": "mrkdwn"}}], "message[0].text: no text"),
        ([{"type": "header"}], "message[0]: no text"),
        ([{"type": "banner"}], "message[0].type"),
        ({}, "message: {} is not of type array"),
    ],
)
def test_blocks_that_do_not_fit_are_named_with_their_place(blocks: Any, wrong: str) -> None:
    assert any(one.startswith(wrong) for one in misfits(blocks, "message")), misfits(
        blocks, "message"
    )


def test_what_fits_is_let_through() -> None:
    assert misfits(actions(style="danger"), "message") == []
    assert misfits(MODAL, "modal") == []


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"title": None}, "modal.title"),
        ({"type": "home"}, "modal.type"),
        ({"submit": "Send"}, "modal.submit"),
        ({"size": 3}, "modal: size is not known"),
    ],
)
def test_a_modal_that_does_not_fit_is_named(change: dict[str, Any], wrong: str) -> None:
    assert any(one.startswith(wrong) for one in misfits(MODAL | change, "modal"))
