"""Where a run is seen."""

from __future__ import annotations

import pytest

from bot.slack.ids import link_to_thread

SANDBOX = "http://127.0.0.1:3333/api/"


@pytest.mark.parametrize(
    ("place", "status", "api_url", "link"),
    [
        ("slack:T1/C1/1.25", "C1/1.5", None, "https://app.slack.com/client/T1/C1/thread/C1-1.25"),
        ("slack:T1/C1/", "C1/1.5", None, "https://app.slack.com/client/T1/C1/thread/C1-1.5"),
        ("slack:T1/C1/", None, None, None),
        ("slack:T1/C1/", "", None, None),
        ("elsewhere", None, None, None),
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
