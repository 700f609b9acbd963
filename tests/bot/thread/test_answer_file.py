"""An answer that is too long for messages: its beginning, and all of it in a file below, once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from bot.sandbox.tokens import BOT_SCOPES
from bot.sandbox.workspace import BOT_TOKEN
from tests.agent.rules.histories import History, begun, replied
from tests.bot.thread.mortal import mortal
from tests.bot.thread.scene import Scene, eventually
from tests.bot.thread.test_files import ANNOUNCE, COMPLETE, content, files
from tests.examples import every

WORDS = "".join(f"line {number}\n" for number in range(3000))


def answered(words: str = WORDS) -> History:
    return begun().then(replied(text=words)).then(RunFinished(answer=words))


async def look_again(scene: Scene, run_id: RunId) -> None:
    """Somebody asks for the thread to be tried."""
    await scene.store.threads.try_now(run_id)
    scene.wake()
    await scene.settled()
    await scene.until_drawn(run_id, step=0.5)


async def test_it_begins_in_a_message_and_is_whole_in_a_file_below(scene: Scene) -> None:
    run_id = await scene.begin(answered())
    await scene.draw()
    (beginning,) = (await scene.until_drawn(run_id, step=2))["answer"]
    (file,) = files(scene)
    assert file["thread_ts"] == beginning["thread_ts"]
    assert beginning["ts"] < file["ts"]
    assert [one["name"] for one in file["files"]] == ["answer.md"]
    assert content(scene, file) == WORDS
    assert "`answer.md` below" in json.dumps(beginning["blocks"])
    assert "answer:2" not in scene.messages(run_id)
    before = len(scene.sandbox.calls())
    await look_again(scene, run_id)
    assert len(files(scene)) == 1
    assert [
        one["method"] for one in scene.sandbox.calls()[before:] if "files." in one["method"]
    ] == []


@pytest.mark.parametrize("method", [ANNOUNCE, "upload", COMPLETE])
async def test_whichever_answer_of_slacks_is_lost_it_is_there_once(
    scene: Scene, method: str
) -> None:
    scene.sandbox.faults.add(method=method, drop_after_commit=True)
    run_id = await scene.begin(answered())
    await scene.draw()
    await scene.until_drawn(run_id, step=5)
    assert len(files(scene)) == 1


async def test_at_whatever_call_somebody_dies_the_next_one_puts_it_there_once(scene: Scene) -> None:
    other = await scene.second_store()
    for call in range(1, 15, every(3)):
        run_id, was = await scene.begin(answered()), len(files(scene))
        client = mortal(scene, call, is_done=True)
        first = await scene.draw(f"dies-{call}", scene.store, client)

        async def is_over(client: Any = client, run_id: RunId = run_id) -> bool:
            return client.died.is_set() or await scene.is_drawn_by_now(run_id, step=20)

        await eventually(is_over, 0.002)
        died = client.died.is_set()
        await scene.ended(first)
        scene.bury(f"dies-{call}")
        second = await scene.draw(f"lives-{call}", other)
        await scene.until_drawn(run_id, step=20)
        await scene.ended(second)
        scene.bury(f"lives-{call}")
        assert len(files(scene)) == was + 1
        if not died:
            return
    pytest.fail("it never got to its end")


@pytest.mark.parametrize("error", ["file_uploads_disabled", "missing_scope"])
async def test_where_slack_takes_no_file_it_takes_as_many_messages_as_it_needs(
    scene: Scene, error: str
) -> None:
    if error == "missing_scope":
        scopes = set(BOT_SCOPES) - {"files:write"}
        scene.sandbox.inside.tokens.add(BOT_TOKEN, scopes)
    else:
        scene.sandbox.faults.add(method=ANNOUNCE, error=error, times=1000)
    run_id = await scene.begin(answered())
    first = await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.5)
    parts = [shown[key][0] for key in ("answer", "answer:2", "answer:3", "answer:4")]
    texts = [block["text"]["text"] for one in parts for block in one["blocks"]]
    assert "".join(texts) == WORDS
    # Another process, which has met no refusal, leaves it at that.
    await scene.ended(first)
    scene.sandbox.faults.heal()
    scene.sandbox.inside.tokens.add(BOT_TOKEN, BOT_SCOPES)
    await scene.draw("bot-2")
    await look_again(scene, run_id)
    assert scene.messages(run_id)["answer"] == [parts[0]]
    assert files(scene) == []


async def test_one_that_slack_never_shares_is_not_uploaded_for_ever(scene: Scene) -> None:
    scene.sandbox.faults.add(method=COMPLETE, unshared=True, times=1000)
    run_id = await scene.begin(answered())
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls(COMPLETE))
    await scene.settled()
    assert not await scene.is_drawn(run_id)
    scene.pass_time(25 * 3600)
    await scene.until_drawn(run_id)
    assert len(scene.sandbox.calls(COMPLETE)) <= 2
