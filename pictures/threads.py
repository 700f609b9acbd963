"""Pictures of what stands in a thread besides its cards, of cards elsewhere, and of what one person is told."""

from __future__ import annotations

from collections.abc import Iterator

from agent.errors import NotAllowed
from agent.rules.control import GrantGiven
from agent.rules.events import ApprovalDecided, RunFailed, RunFinished
from agent.rules.ids import ApprovalId, CallId, GrantId, RunId
from agent.rules.interventions import MessageReceived, RunCancelled, RunHeld, StopRequested
from agent.rules.parts import Delivery
from agent.rules.standing import Grant
from bot.slack.cards.card import card_of
from bot.slack.cards.elsewhere import announced, closed_message, with_way_back
from bot.slack.cards.grants import ToolsGrant, grants_blocks, grants_text
from bot.slack.cards.guidance import notes
from bot.slack.cards.live import newest_page
from bot.slack.cards.more import why_text
from bot.slack.cards.refusals import closed_error, refusal_text, store_unavailable_text
from bot.slack.cards.timeline import timeline_message
from bot.slack.cards.timeline_words import Links
from bot.slack.thread.standing import Standing
from pictures.acts import DAY, MINUTE, refund, waiting
from pictures.approvals import done
from pictures.cards import FIRST, edited_card, shown
from pictures.picture import DESK, Picture, Told
from tests.agent.rules.happenings import HOUR, expired
from tests.agent.rules.histories import (
    ALICE,
    BEGAN,
    BOB,
    FINANCE,
    FRANK,
    History,
    approved,
    begun,
    call_started,
    judged,
    replied,
    returned,
)

APR_1, APR_2 = ApprovalId("apr_1"), ApprovalId("apr_2")
_CARDS = dict.fromkeys((APR_1, APR_2), "http://127.0.0.1:3333/archives/C0SUPPORT/p1796000000000200")


def statuses() -> Iterator[Picture]:
    asked = waiting(refund())
    yes = done(asked.then(approved(1), after=7 * MINUTE))
    finished = yes.then(RunFinished(answer="ORD-3300 was refunded: $180.00 (re_1042)."))
    failed = yes.then(RunFailed(error="The model could not be reached for an hour."))
    held = asked.then(RunHeld(by=BOB, reason="The shop is being moved."), after=MINUTE)
    stopped = asked.then(StopRequested(by=ALICE), RunCancelled(), after=MINUTE)
    told = [
        *shown(asked, "status"),
        *shown(held, "status"),
        *shown(asked, "status", blocked=_BLOCKED),
    ]
    yield Picture("status", held.now, tuple(told))
    ends = [
        one for history in (finished, failed, stopped) for one in shown(history, "status", "answer")
    ]
    yield Picture("status-ended", finished.now, tuple(ends), width=DESK)


def streamed() -> Iterator[Picture]:
    """In a direct message: Slack makes these blocks of what it is sent."""
    history = begun("refund ORD-3300 180")
    for number, title in enumerate(("Look up an order", "Check the balance", "Refund an order"), 1):
        is_judged = judged(number).model_copy(update={"title": title})
        history = history.then(replied(number)).then(is_judged)
        history = history.then(call_started(number, history.now))
        history = history.then(returned(number)) if number < 3 else history
    state = history.state
    tasks = [
        {"type": "task_card", "task_id": one["id"], "title": one["title"], "status": one["status"]}
        for one in newest_page(state).chunks(state.run_id)
    ]
    told = (*shown(history, "status"), Told(newest_page(state).message.text, tuple(tasks)))
    yield Picture("streamed", history.now, told, channel="D0ALICE", seen_by="U0ALICE")


_BLOCKED = {
    "code": "missing_tool",
    "message": "refunds has no tool process_refund any more.",
    "fix": "Put the tool back; the run goes on by itself.",
}


def long_answers() -> Iterator[Picture]:
    days = (f"{number + 1}. ORD-{3300 + number}: $180.00, refunded\n" for number in range(900))
    answer = f"All refunds of November:\n\n{''.join(days)}"
    finished = done(waiting(refund()).then(approved(1), after=7 * MINUTE))
    finished = finished.then(RunFinished(answer=answer))
    yield Picture("answer-long", finished.now, shown(finished, "answer"))


def said_since() -> Iterator[Picture]:
    """On the card itself."""
    asked = waiting(refund(amount=160))
    for number, (by, text) in enumerate(
        ((FRANK, "Hold your horses, 60 I said!"), (ALICE, "use only 60")), 1
    ):
        wrote = MessageReceived(by=by, text=text, ref=f"slack:T0PILOT:C0:{number}.2")
        asked = asked.then(wrote, after=MINUTE)
    told = edited_card(asked, {"slack:T0PILOT:C0:2.2": _CARDS[APR_1]})
    yield Picture("said-since", asked.now, told)


def guidance() -> Iterator[Picture]:
    asked = waiting(refund())
    wrote = MessageReceived(
        by=ALICE, text="Only half of it, please: 90.", ref="slack:T0PILOT:C0:1.2"
    )
    said = asked.then(wrote, after=MINUTE)
    written = _note_of(said)
    used = ApprovalDecided(
        approval_id=APR_1,
        action="steer",
        guidance=wrote.text,
        ref=wrote.ref,
        by=BOB,
        user="U0BOB",
        groups=("S0FINANCE",),
    )
    after = said.then(used, after=MINUTE)
    told = (*shown(said, written, links=_CARDS), *shown(after, FIRST, written))
    yield Picture("guidance", after.now, told)
    two = waiting(refund("ORD-1", 150), refund("ORD-2", 220), prompt="refund both")
    also = MessageReceived(by=BOB, text="Not before Monday.", ref="slack:T0PILOT:C0:1.3")
    talk = two.then(wrote, also, after=MINUTE)
    one_used = two.then(wrote, after=MINUTE).then(used, after=MINUTE)
    both = (
        *shown(talk, _note_of(talk), links=_CARDS),
        *shown(one_used, _note_of(one_used), links=_CARDS),
    )
    yield Picture("guidance-several", one_used.now, both)


def _note_of(history: History) -> str:
    (note,) = notes(history.state)
    return note.key


def elsewhere() -> Iterator[Picture]:
    asked = waiting(refund(delivery=Delivery(card="C0OPS")))
    standing = {APR_1: Standing(("C0OPS",))}
    told = shown(asked, "status", FIRST, standing=standing)
    yield Picture("elsewhere-thread", asked.now, told)
    state, link = asked.state, "http://127.0.0.1:3333/archives/C0SUPPORT/p1796000000000100"
    card = announced(state.approvals[APR_1], card_of(state.approvals[APR_1], state))
    there = Told.posted(with_way_back(card, state, link))
    yield Picture("elsewhere", asked.now, (there,), channel="C0OPS", in_thread=False)
    yes = done(asked.then(approved(1), after=7 * MINUTE))
    said = Told.posted(closed_message(yes.state.approvals[APR_1], yes.state))
    yield Picture("not-editable", yes.now, (there, said), channel="C0OPS", in_thread=False)


def refusals() -> Iterator[Picture]:
    asked = waiting(refund())
    approval, call = asked.state.approvals[APR_1], asked.state.calls[CallId("call_1")]
    yes = done(asked.then(approved(1), after=7 * MINUTE)).state
    late = asked.then(expired(1), after=DAY)
    not_theirs = NotAllowed(APR_1, FINANCE, "only @finance can")
    said = (
        refusal_text(not_theirs, asked.state),
        refusal_text(closed_error(yes.approvals[APR_1], yes), yes),
        refusal_text(closed_error(late.state.approvals[APR_1], late.state), late.state),
        store_unavailable_text(RunId("run_1")),
    )
    told = tuple(Told(one, (), to="U0ALICE") for one in said)
    yield Picture("private", late.now, told, seen_by="U0ALICE", in_thread=False)
    why = Told(why_text(approval, call, asked.state), (), to="U0BOB")
    yield Picture("why", asked.now, (why,), in_thread=False)


def grants() -> Iterator[Picture]:
    for_run = GrantGiven(
        grant_id=GrantId("grt_1"),
        by=BOB,
        agent="refunds",
        tool="process_refund",
        where={"order": "ORD-3300", "amount": 180},
        run_id=RunId("run_1"),
        expires_at=BEGAN + 4 * HOUR,
        reason="Both halves of one order.",
    )
    for_agent = GrantGiven(
        grant_id=GrantId("grt_2"), by=BOB, agent="refunds", tool="search_policy", where={}
    )
    held = [
        ToolsGrant(Grant(for_run, 1, BEGAN), refund().title, refund().parameters),
        ToolsGrant(Grant(for_agent, 2, BEGAN + MINUTE), "Look up the policy"),
    ]
    told = Told(grants_text(held), grants_blocks(held), to="U0BOB")
    yield Picture("grants", BEGAN + HOUR, (told,), in_thread=False)


def time_lines() -> Iterator[Picture]:
    asked = waiting(refund())
    yes = done(asked.then(approved(1, note="Checked with the shop."), after=7 * MINUTE))
    finished = yes.then(RunFinished(answer="ORD-3300 was refunded: $180.00 (re_1042)."))
    link = "http://127.0.0.1:3333/archives/C0SUPPORT/p1796000000000100"
    links = Links(root=link, cards={APR_1: link}, ends={0: link})
    told = timeline_message(finished.recorded, finished.state, links)
    one = Told(told.text, told.blocks, to="U0ALICE")
    yield Picture("journal", finished.now, (one,), seen_by="U0ALICE", in_thread=False)
