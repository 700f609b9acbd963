"""What an app reads of a person: all that a profile has at Slack, and a picture."""

from __future__ import annotations

import struct

from tests.sandbox.driving import Driver


async def test_a_profile_has_what_apps_read_of_it(driver: Driver) -> None:
    alice = (await driver.slack.users_info(user="U0ALICE"))["user"]
    assert alice["profile"]["first_name"] == "Alice"
    unsaid = ("last_name", "title", "phone", "status_text", "status_emoji")
    assert {alice["profile"][name] for name in unsaid} == {""}
    assert "locale" not in alice
    asked = await driver.slack.users_info(user="U0ALICE", include_locale=True)
    assert asked["user"]["locale"] == "en-US"


async def test_a_persons_picture_is_fetched_in_each_size_and_there_is_no_other(
    driver: Driver,
) -> None:
    profile = (await driver.slack.users_info(user="U0ALICE"))["user"]["profile"]
    addresses = {name: url for name, url in profile.items() if name.startswith("image_")}
    assert len(addresses) == 6
    for name, url in addresses.items():
        async with driver.http.get(url) as answer:
            assert answer.content_type == "image/png"
            width, height = struct.unpack(">II", (await answer.read())[16:24])
            assert f"image_{width}" == f"image_{height}" == name
    for wrong in ("U0NOBODY-48", "U0ALICE-49", f"U0ALICE-{'9' * 5000}"):
        async with driver.http.get(f"{driver.running.url}/faces/{wrong}.png") as answer:
            assert answer.status == 404
