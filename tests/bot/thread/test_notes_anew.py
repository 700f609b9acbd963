"""A note of what people say while a call waits, which was deleted or can't be edited: what is said later gets one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.ports import ThreadMessage
from agent.rules.ids import RunId
from bot.slack.thread.digests import NOT_EDITABLE
from bot.slack.thread.notes_anew import notes_anew
from tests.agent.rules.happenings import said
from tests.agent.rules.histories import approved, waiting
from tests.bot.thread.scene import CHANNEL, Scene

NOTE = "guidance:apr_1"
SOME_TIME = datetime(2026, 11, 30, tzinfo=UTC)
FIRST = waiting().then(said("only half", ref="slack:T0PILOT:C0SUPPORT:1796000000.000100"))
SECOND = FIRST.then(said("for ORD-5", ref="slack:T0PILOT:C0SUPPORT:1796000000.000200"))
THIRD = SECOND.then(said("by Friday", ref="slack:T0PILOT:C0SUPPORT:1796000000.000300"))


async def noted(scene: Scene) -> RunId:
    """The first words stand there, to be used."""
    run_id = await scene.begin(FIRST)
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    assert "only half" in str(shown[NOTE])
    await scene.settled()
    return run_id


async def test_one_that_was_deleted_is_posted_again_with_what_is_said_later(scene: Scene) -> None:
    run_id = await noted(scene)
    inside = scene.sandbox.inside
    ts = scene.messages(run_id)[NOTE][0]["ts"]
    inside.posting.delete(inside.workspace.channel(CHANNEL), ts)
    await scene.go_on(run_id, SECOND)
    (note,) = (await scene.until_drawn(run_id, step=0.2))[NOTE]
    assert note["ts"] > ts
    assert "guidance.use" in str(note["blocks"])
    assert "for ORD-5" in str(note["blocks"])


def test_what_another_build_has_posted_is_no_note_of_ours() -> None:
    row = ThreadMessage(NOTE, "posted", f"{CHANNEL}/1.2", f"x{NOT_EDITABLE}", SOME_TIME)
    theirs = [replace(row, key=f"{NOTE}:{end}") for end in ("U0BOB", "7:U0BOB", "\u00b2")]
    (note,) = notes_anew(SECOND.state, {one.key: one for one in (row, *theirs)}, {})
    assert note.key == f"{NOTE}:{SECOND.state.said[-1].news}"


@pytest.mark.parametrize("code", ["cant_update_message", "edit_window_closed"])
async def test_where_one_can_not_be_edited_another_stands_below_it_once(
    scene: Scene, code: str
) -> None:
    run_id = await noted(scene)
    scene.sandbox.faults.add(error=code, method="chat.update", times=1000)
    await scene.go_on(run_id, SECOND)
    shown = await scene.until_drawn(run_id, step=0.2)
    (second,) = (key for key in shown if key.startswith(f"{NOTE}:"))
    assert "for ORD-5" in str(shown[second][0]["blocks"])
    posts = len(scene.sandbox.calls("chat.postMessage"))
    await scene.store.threads.try_now(run_id)
    await scene.until_drawn(run_id, step=0.2)
    await scene.settled()
    assert len(scene.sandbox.calls("chat.postMessage")) == posts
    await scene.go_on(run_id, THIRD)
    shown = await scene.until_drawn(run_id, step=0.2)
    third, *others = (key for key in shown if key.startswith(f"{NOTE}:") and key != second)
    assert (others, len(shown[third])) == ([], 1)
    assert "by Friday" in str(shown[third][0]["blocks"])
    # From here on it can.
    scene.sandbox.faults.heal()
    await scene.go_on(run_id, THIRD.then(approved(1)))
    shown = await scene.until_drawn(run_id, step=0.2)
    assert "guidance.use" not in str(shown[third][0]["blocks"])
    assert len([key for key in shown if key.startswith(NOTE)]) == 3
