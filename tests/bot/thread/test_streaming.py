"""In a direct message a run's progress and its answer are streamed, as far as Slack lets them be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from bot.slack.ids import Place
from tests.agent.rules.histories import (
    approved,
    asked,
    begun,
    call_started,
    judged,
    replied,
    returned,
)
from tests.bot.thread.mortal import MortalClient, mortal
from tests.bot.thread.scene import TEAM, Message, Scene, eventually

ANSWER = "Refund of $180.00 for ORD-3300 is complete."
STREAMED = ("chat.startStream", "chat.appendStream", "chat.stopStream")


class Talk:
    """Alice's direct message to us, and the run that it began: each thing happens a second after the one before."""

    def __init__(self, scene: Scene, channel: str, ts: str) -> None:
        self.scene, self.channel, self.ts = scene, channel, ts
        self.history = begun()
        self.run_id = RunId("")

    @classmethod
    async def begin(cls, scene: Scene) -> Talk:
        inside = scene.sandbox.inside
        alice, channel = inside.workspace.user("U0ALICE"), inside.workspace.direct("U0ALICE")
        said, _ = inside.posting.say(alice, channel, "refund it", [], None)
        talk = cls(scene, channel.id, said["ts"])
        scene.clock.advance(1)
        place = str(Place(TEAM, talk.channel, talk.ts))
        talk.run_id = await scene.begin(talk.history, place=place)
        return talk

    async def then(self, *events: Any, drawn: bool = True) -> None:
        self.scene.clock.advance(1)
        self.history = self.history.then(*events)
        await self.scene.go_on(self.run_id, self.history)
        if drawn:
            await self.drawn()

    async def starts(self, number: int, *, drawn: bool = True) -> None:
        await self.then(replied(number), judged(number), drawn=False)
        await self.then(call_started(number, self.scene.clock.now()), drawn=drawn)

    async def finishes(self, answer: str = ANSWER) -> None:
        await self.then(replied(text=answer), RunFinished(answer=answer))

    async def drawn(self) -> None:
        await self.scene.until_drawn(self.run_id, step=1)

    def said(self) -> list[Message]:
        return self.scene.sandbox.messages(self.channel, self.ts)[1:]

    def ours(self, key: str) -> list[Message]:
        return self.scene.messages(self.run_id).get(key, [])

    def streams(self) -> list[tuple[str, Mapping[str, Any]]]:
        """What was sent to them, in order."""
        calls = [one for one in self.scene.sandbox.calls() if one["method"] in STREAMED]
        return [(one["method"].removeprefix("chat."), one["arguments"]) for one in calls]

    def growing(self) -> list[Message]:
        return [one for one in self.said() if one.get("streaming_state") == "in_progress"]

    def are_ended_by_slack(self) -> None:
        """All that has been streamed for half a second."""
        object.__setattr__(self.scene.sandbox.inside.guesses, "stream_seconds", 0.5)

    def status(self) -> str | None:
        session = self.scene.sandbox.inside.sessions.session(self.channel, self.ts)
        return None if session is None else session.status


def tasks(message: Message) -> list[tuple[str, str]]:
    cards = [one for one in message["blocks"] if one["type"] == "task_card"]
    return [(one["title"], one["status"]) for one in cards]


async def test_progress_grows_and_becomes_the_answer(scene: Scene) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.drawn()
    assert talk.status() == "processing"
    assert talk.growing() == []
    await talk.starts(1)
    (grows,) = talk.growing()
    assert tasks(grows) == [("Refund an order", "in_progress")]
    await talk.then(returned(1))
    await talk.starts(2)
    (grows,) = talk.growing()
    assert [status for _, status in tasks(grows)] == ["complete", "in_progress"]
    await talk.then(returned(2))
    await talk.finishes()
    (answer,) = talk.ours("answer")
    assert answer["ts"] == grows["ts"]
    assert answer["text"] == ANSWER
    assert talk.growing() == []
    assert talk.status() == "active"
    assert len(talk.said()) == 2
    assert await scene.differs(talk.run_id) == []
    scene.sandbox.assert_no_violations()


async def test_an_answer_before_which_nothing_was_done_is_streamed_as_well(scene: Scene) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.finishes()
    assert [method for method, _ in talk.streams()] == ["startStream", "stopStream"]
    (answer,) = talk.ours("answer")
    assert answer["text"] == ANSWER
    assert talk.growing() == []


async def test_what_grows_is_ended_before_anybody_is_asked_and_goes_on_in_a_new_message(
    scene: Scene,
) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.starts(1)
    await talk.then(returned(1))
    await talk.then(replied(2), judged(2, "ask"), asked(2, approval=1))
    assert talk.growing() == []
    assert talk.status() == "suspended"
    methods = [(one["method"], str(one["arguments"])) for one in scene.sandbox.calls()]
    stopped = next(i for i, (method, _) in enumerate(methods) if method == "chat.stopStream")
    card = next(i for i, (_, said) in enumerate(methods) if "approval.approve" in said)
    assert stopped < card
    await talk.then(approved(1))
    await talk.then(call_started(2, scene.clock.now()))
    (grows,) = talk.growing()
    assert tasks(grows) == [("Refund an order", "in_progress")]
    await talk.then(returned(2))
    await talk.finishes()
    assert talk.ours("answer")[0]["ts"] == grows["ts"]
    (before,) = talk.ours("live:1")
    assert [status for _, status in tasks(before)] == ["complete"]


@pytest.mark.parametrize("fault", [{"error": "internal_error"}, {"ratelimited": True}])
async def test_a_card_is_posted_also_where_what_grows_can_not_be_ended_now(
    scene: Scene, fault: dict[str, Any]
) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.starts(1)
    scene.sandbox.faults.add(method="chat.stopStream", **fault)
    await talk.then(returned(1), replied(2), judged(2, "ask"), asked(2, approval=1), drawn=False)
    await eventually(lambda: talk.ours("approval:apr_1"))
    await talk.drawn()
    assert talk.growing() == []


async def test_it_ends_before_slack_ends_it_and_is_gone_on_with_by_edits(scene: Scene) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.starts(1)
    (grows,) = talk.growing()
    for _ in range(5):
        scene.clock.advance(60)
        scene.wake()
        await scene.settled()
    assert talk.growing() == []
    assert talk.status() == "processing"
    (ended,) = talk.ours("live:1")
    assert (ended["ts"], ended["streaming_state"]) == (grows["ts"], "completed")
    await talk.then(returned(1))
    (edited,) = talk.ours("live:1")
    assert "✓ Refund an order" in str(edited["blocks"])
    await talk.finishes()
    assert talk.ours("answer")[0]["ts"] != grows["ts"]
    scene.sandbox.assert_no_violations()


async def test_what_slack_has_ended_by_itself_is_made_good_by_an_edit(scene: Scene) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.starts(1)
    (grows,) = talk.growing()
    talk.are_ended_by_slack()
    await talk.then(returned(1))
    (left,) = [one for one in talk.said() if one["ts"] == grows["ts"]]
    assert "✓ Refund an order" in str(left["blocks"])
    assert "task_card" not in str(left["blocks"])
    await talk.finishes()
    assert len(talk.ours("answer")) == 1


async def test_what_somebody_has_stopped_in_slack_grows_no_more(scene: Scene) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.starts(1)
    inside = scene.sandbox.inside
    assert inside.streams.stop_by_person(inside.workspace.direct("U0ALICE"), talk.ts)
    await talk.then(returned(1))
    assert talk.growing() == []
    assert [status for _, status in tasks(talk.ours("live:1")[0])] == ["complete"]
    await talk.finishes()
    assert [one["text"] for one in talk.ours("answer")] == [ANSWER]


async def test_an_answer_that_finds_its_stream_ended_is_posted_below_it(scene: Scene) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.starts(1)
    (grows,) = talk.growing()
    talk.are_ended_by_slack()
    await talk.then(returned(1), replied(text=ANSWER), RunFinished(answer=ANSWER))
    assert scene.refused("chat.stopStream")
    left, answer = talk.said()[1:]
    assert left["ts"] == grows["ts"]
    assert "✓ Refund an order" in str(left["blocks"])
    assert answer["text"] == ANSWER


@pytest.mark.parametrize("method", STREAMED)
async def test_an_answer_of_slacks_that_is_lost_leaves_nothing_twice(
    scene: Scene, method: str
) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    scene.sandbox.faults.add(method=method, drop_after_commit=True)
    await talk.starts(1)
    await talk.then(returned(1))
    await talk.finishes()
    assert [one["text"] for one in talk.said() if ANSWER in one["text"]] == [ANSWER]
    assert len(talk.said()) == 2
    assert len(scene.sandbox.calls("chat.startStream")) == 1
    assert talk.growing() == []


@pytest.mark.parametrize("method", STREAMED)
async def test_whatever_is_wrong_with_streams_a_card_and_the_answer_come(
    scene: Scene, method: str
) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    scene.sandbox.faults.add(method=method, error="internal_error", times=1000)
    await talk.starts(1, drawn=False)
    await scene.settled()
    asks = (replied(2), judged(2, "ask"), asked(2, approval=1))
    await talk.then(returned(1), *asks, drawn=False)
    await eventually(lambda: talk.ours("approval:apr_1"))
    await talk.then(approved(1), drawn=False)
    await talk.then(call_started(2, scene.clock.now()), drawn=False)
    for _ in range(8):
        scene.clock.advance(60)
        scene.wake()
        await scene.settled()
    await talk.then(returned(2), drawn=False)
    await talk.finishes()
    assert [one["text"] for one in talk.ours("answer")] == [ANSWER]


async def test_another_process_goes_on_with_what_grows(scene: Scene) -> None:
    drawer = await scene.draw("bot-1")
    talk = await Talk.begin(scene)
    await talk.starts(1)
    (grows,) = talk.growing()
    await scene.ended(drawer)
    scene.bury("bot-1")
    await scene.draw("bot-2", store=await scene.second_store())
    await talk.then(returned(1))
    (still,) = talk.growing()
    assert (still["ts"], tasks(still)) == (grows["ts"], [("Refund an order", "complete")])
    await talk.finishes()
    assert talk.ours("answer")[0]["ts"] == grows["ts"]
    assert len(scene.sandbox.calls("chat.startStream")) == 1


@pytest.mark.parametrize("why", ["feature_disabled", "unknown_method", "missing_scope"])
async def test_where_slack_takes_no_streams_all_is_posted_and_it_is_not_tried_each_time(
    scene: Scene, why: str
) -> None:
    await scene.draw()
    for method in ("chat.startStream", "agents.sessions.setStatus"):
        scene.sandbox.faults.add(method=method, error=why, times=10)
    talk = await Talk.begin(scene)
    await talk.starts(1)
    await talk.then(returned(1))
    await talk.starts(2)
    await talk.then(returned(2))
    await talk.finishes()
    assert [one["text"] for one in talk.ours("answer")] == [ANSWER]
    assert len(talk.said()) == 2
    assert len(scene.sandbox.calls("chat.startStream")) == 1
    assert len(scene.sandbox.calls("agents.sessions.setStatus")) == 1


async def test_a_long_answer_stands_in_messages_of_its_own(scene: Scene) -> None:
    await scene.draw()
    talk = await Talk.begin(scene)
    await talk.starts(1)
    (grows,) = talk.growing()
    await talk.then(returned(1))
    await talk.finishes("word " * 3000)
    assert talk.growing() == []
    (answer,) = talk.ours("answer")
    assert answer["ts"] != grows["ts"]
    assert talk.ours("answer:2")
    scene.sandbox.assert_no_violations()


async def test_in_a_channel_nothing_is_streamed(scene: Scene) -> None:
    await scene.draw()
    run_id = await scene.begin(begun().then(replied(1)).then(judged(1)))
    await scene.until_drawn(run_id, step=1)
    called = {one["method"] for one in scene.sandbox.calls()}
    assert called.isdisjoint({*STREAMED, "agents.sessions.setStatus"})


#: No thread here takes more calls than that to be shown.
ENOUGH = 12


async def drawn_by(talk: Talk, name: str, client: MortalClient | None) -> bool:
    """Until all is shown. Did they die of it before?"""
    scene, run_id = talk.scene, talk.run_id
    drawer = await scene.draw(name, client=client)

    async def is_over() -> bool:
        has_died = client is not None and client.died.is_set()
        return has_died or await scene.is_drawn_by_now(run_id, step=4)

    await eventually(is_over, 0.002)
    await scene.ended(drawer)
    scene.bury(name)
    return client is not None and client.died.is_set()


@pytest.mark.parametrize("is_done", [False, True], ids=["unheard", "done"])
@pytest.mark.parametrize("is_at_the_end", [False, True], ids=["begins", "ends"])
async def test_whoever_dies_while_it_grows_the_next_one_ends_it_and_the_answer_stands_once(
    scene: Scene, is_at_the_end: bool, is_done: bool
) -> None:
    for call in range(1, ENOUGH):
        talk = await Talk.begin(scene)
        await talk.starts(1, drawn=False)
        if is_at_the_end:
            await drawn_by(talk, f"before-{call}", None)
            await talk.then(returned(1), drawn=False)
            await talk.then(replied(text=ANSWER), RunFinished(answer=ANSWER), drawn=False)
        has_died = await drawn_by(talk, f"mortal-{call}", mortal(scene, call, is_done=is_done))
        if not is_at_the_end:
            await talk.then(returned(1), drawn=False)
            await talk.then(replied(text=ANSWER), RunFinished(answer=ANSWER), drawn=False)
        await drawn_by(talk, f"after-{call}", None)
        assert [one["text"] for one in talk.said()[1:]] == [ANSWER]
        assert talk.growing() == []
        assert await scene.differs(talk.run_id) == []
        if not has_died:
            break
    assert 2 < call < ENOUGH - 1
