"""The demo's page is given its guided tour; a sandbox alone has none."""

from __future__ import annotations

from pathlib import Path

from bot.demo.tour import TOUR
from bot.sandbox.page.server import FOLDER
from bot.sandbox.state import Sandbox
from tests.sandbox.driving import driving

ROOT = Path(__file__).parents[2]


async def test_a_page_hears_of_a_tour_only_where_there_is_one() -> None:
    async with driving() as driver:
        assert (await driver.get("/sandbox/workspace"))["tour"] == []
    async with driving(tour=TOUR) as driver:
        assert (await driver.get("/sandbox/workspace"))["tour"] == list(TOUR)


def test_the_page_knows_what_each_step_asks_for() -> None:
    workspace = Sandbox().workspace
    script = "".join((FOLDER / name).read_text() for name in ("tour.js", "tour_card.js"))
    *steps, end = TOUR
    assert len(steps) == 3
    # As the README tells it.
    assert steps[0]["help"]["write"] in (ROOT / "README.md").read_text()
    assert set(end) == {"title", "text"}
    for step in steps:
        asked = step["help"]
        assert workspace.users[asked.get("as", "U0ALICE")]
        assert workspace.channels[asked.get("channel", "C0SUPPORT")]
        assert all(f".{name}" in script for name in (*asked, *step["done"]))
