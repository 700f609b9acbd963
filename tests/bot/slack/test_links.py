"""Where a run is seen."""

from __future__ import annotations

from typing import Any

import pytest

from agent.ports import ThreadMessage
from agent.rules.interventions import MessageReceived
from bot.slack.ids import Address, link_to_thread
from bot.slack.thread.posted import posted, where_said, words_at
from tests.agent.rules.histories import ALICE, BEGAN, begun

SANDBOX = "http://127.0.0.1:3333/api/"


@pytest.mark.parametrize(
    ("place", "status", "api_url", "link"),
    [
        ("slack:T1/C1/1.25", "C1/1.5", None, "https://app.slack.com/client/T1/C1/thread/C1-1.25"),
        ("slack:T1/C1/", "C1/1.5", None, "https://app.slack.com/client/T1/C1/thread/C1-1.5"),
        ("slack:T1/C1/", None, None, None),
        ("slack:T1/C1/", "", None, None),
        ("elsewhere", None, None, None),
        # Whoever starts a run may give any text.
        *((text, "C1/1.5", None, None) for text in ("slack:", "slack:T1", "slack:T1/C1")),
        *((text, "C1/1.5", None, None) for text in ("slack:T1/C1/1.25/", "slack://", "slack:/C1/")),
        ("slack:T1/C1/1.25", None, SANDBOX, "http://127.0.0.1:3333/archives/C1/p125"),
        (
            *("slack:T1/C1/1.25", None, "https://slack.com/api/"),
            "https://app.slack.com/client/T1/C1/thread/C1-1.25",
        ),
    ],
)
def test_a_thread_is_found_by_its_ids(
    place: str, status: str | None, api_url: str | None, link: str | None
) -> None:
    assert link_to_thread(place, status, api_url) == link


URL = "https://pilot.slack.com/"


def rows(**addresses: str | None) -> dict[str, ThreadMessage]:
    """Keys with an underscore for a colon."""
    return {
        key.replace("_", ":"): ThreadMessage(key, "posted", address, "x", BEGAN)
        for key, address in addresses.items()
    }


@pytest.mark.parametrize(
    ("place", "thread"),
    [("slack:T1/C1/1.25", "1.25"), ("slack:T1/C1/", "1.5")],
    ids=["a person's thread", "our own"],
)
def test_a_link_to_a_reply_opens_its_thread(place: str, thread: str) -> None:
    known = rows(status="C1/1.5", approval_a="C1/1.6", answer="C1/1.7", approval_b=None)
    known |= rows(approval_a_C1="C1/1.8", approval_a_U1="D1/1.9", reminder_a_1="C1/2.1")
    links = {key: one.link(URL) for key, one in posted(known, place).items()}
    in_thread = f"?thread_ts={thread}&amp;cid=C1"
    assert links == {
        "status": f"{URL}archives/C1/p15{in_thread if thread == '1.25' else ''}",
        "approval:a": f"{URL}archives/C1/p16{in_thread}",
        "answer": f"{URL}archives/C1/p17{in_thread}",
        # Posted at a place of their own: there they are no replies.
        "approval:a:C1": f"{URL}archives/C1/p18",
        "approval:a:U1": f"{URL}archives/D1/p19",
        "reminder:a:1": f"{URL}archives/C1/p21",
    }
    said = where_said(["slack:T1:C1:3.5", f"slack:T1:C1:{thread}", "x"], known, place)
    assert [one.link(URL) for one in said.values()] == [
        f"{URL}archives/C1/p35{in_thread}",
        f"{URL}archives/C1/p{thread.replace('.', '')}",
    ]


def test_only_what_was_said_in_a_channel_is_linked_to_from_elsewhere() -> None:
    history = begun(place="slack:T1/C1/1.25")
    for at in ("C1:3.5", "D1:3.6"):
        history = history.then(MessageReceived(by=ALICE, text="60", ref=f"slack:T1:{at}"))
    link = Address("C1", "3.5", "1.25").link(URL)
    assert words_at(history.state, {}, URL) == {"slack:T1:C1:3.5": link}
    assert words_at(history.state, {}, None) == {}


@pytest.mark.parametrize("text", ["", "C1", "C1/", "/1.5", "C1/now", "C1/1.5/1.6", b"C1/1.5", 7])
def test_what_is_no_address_is_none_whatever_a_column_had(text: Any) -> None:
    assert not Address.is_one(text)
