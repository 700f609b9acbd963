"""Whatever a person, a model or a tool writes, Slack takes what we send."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.control import GrantGiven
from agent.rules.events import ApprovalRequested, CallJudged, ModelFailed, RunFailed, RunFinished
from agent.rules.ids import GrantId, Principal
from agent.rules.parts import Approvers, Granting
from agent.rules.standing import Grant
from agent.rules.state import Approval, RunState
from bot.slack.cards.answer import answer_messages
from bot.slack.cards.approval import approval_message
from bot.slack.cards.card import card_of
from bot.slack.cards.forms import approve_modal, deny_modal, grant_modal
from bot.slack.cards.grants import ToolsGrant, grants_blocks, grants_text, revoked_text
from bot.slack.cards.in_full import is_in_slack_itself
from bot.slack.cards.message import Announcement
from bot.slack.cards.modals import answer_modal, read_steer, steer_errors, steer_modal
from bot.slack.cards.more import why_text
from bot.slack.cards.view_all import view_all_modal
from bot.slack.ids import APPROVE
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    BEGAN,
    SECOND,
    History,
    answered,
    approved,
    asked,
    begun,
    call_started,
    denied,
    guided,
    judged,
    left_unknown,
    previewed,
    replied,
    returned,
    settled,
    steered,
)
from tests.bot.cards.checking import (
    check_form,
    check_message,
    check_text,
    check_view_limits,
    shown,
)
from tests.bot.cards.stories import questioned, yes
from tests.examples import examples

MENTIONS = {"@U0ALICE", "@U0BOB", "!subteam^S0FINANCE", *(f"@U{n}" for n in range(40))}
MANY = Approvers(groups=("S0FINANCE",), users=tuple(f"U{n}" for n in range(40)), count=40)

NASTY = (
    "",
    " \n ",
    "😀" * 4000,
    "👨‍👩‍👧" * 1500,
    "é" * 3000,
    "x" * 45_000,
    "& < >" * 2000,
    "```\n*APPROVED by <@U1>* <https://evil|click>\n```" * 50,
    "<!channel> <!here> <!everyone> <!subteam^S1> <@U1> @channel <!date^0^x|y>",
    "‮txt.exe‬ ​⁠﻿\u00ad",
    "\ud800 lone",
    "\x00\x1b[31m\r\u2028",
    "&lt;b&gt; :fire: ~~~ `x`",
    "a\n" * 5000,
    "-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 3000,
    "||||||||" * 1000,
    "pаypal ΑBC ｐay " * 50 + "аx" * 2000,
)
nasty = st.integers(0, len(NASTY) - 1).map(NASTY.__getitem__)
text = nasty | st.text(max_size=300)
value: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=8,
)
args = st.dictionaries(st.text(min_size=1, max_size=30) | st.just("password"), value, max_size=8)
many = st.integers(0, 200).map(lambda n: {f"argument_{i}": f"value {i}" for i in range(n)})
every_args = args | many


def _parameters(named: Mapping[str, JsonValue], title: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"title": title} for name in named}}


def _waiting(named: Mapping[str, JsonValue], words: str, preview: str | None = None) -> History:
    """A run in which everything that can hold foreign words holds these."""
    call = judged(1, "ask", args=named)
    question = asked(1, args={}).model_dump() | {
        "args": dict(named),
        "title": words,
        "reason": words,
        "rule": words,
        "preview": preview,
    }
    history = begun(words).then(replied(1))
    history = history.then(_titled(call, named, words))
    return history.then(ApprovalRequested.model_validate(question))


def _titled(call: CallJudged, named: Mapping[str, JsonValue], words: str) -> CallJudged:
    return call.model_copy(update={"title": words, "parameters": _parameters(named, words)})


def _question(state: RunState) -> tuple[Approval, Call]:
    return next(iter(state.approvals.values())), next(iter(state.calls.values()))


def _check(history: History) -> None:
    state = history.state
    for wanted in desired(state):
        # Slack writes the message of a file.
        if wanted.file is None:
            check_message(wanted.message, MENTIONS)
    for approval in state.approvals.values():
        if approval.status != "pending":
            assert APPROVE not in json.dumps(card_of(approval, state).blocks)


@settings(deadline=None, max_examples=examples(8))
@given(every_args, text, st.none() | text)
def test_a_pending_card_is_within_all_limits(
    named: dict[str, JsonValue], words: str, preview: str | None
) -> None:
    history = _waiting(named, words, preview)
    _check(history)
    state = history.state
    approval, call = _question(state)
    card = json.dumps(desired(state)[1].message.first.blocks)
    assert (f'"{APPROVE}"' in card) == is_in_slack_itself(approval, call)


def _voted(named: Mapping[str, JsonValue], words: str, preview: str | None, votes: int) -> History:
    """A card with all that can stand on it: many yeses with their notes, and asked again."""
    call = judged(1, "ask", args=named, approvers=MANY, can_preview=True, valid_for=90 * SECOND)
    history = begun(words).then(replied(1)).then(_titled(call, named, words))
    said = dict.fromkeys(("title", "reason", "rule", "again_because"), words)
    question = asked(1, args={}, approvers=MANY).model_copy(
        update={**said, "args": dict(named), "preview": preview}
    )
    history = history.then(previewed(1, preview, None if preview else words), question)
    for number in range(votes):
        history = history.then(yes(Principal(f"slack:T0PILOT:U{number}"), note=words))
    return history


@settings(deadline=None, max_examples=examples(8))
@given(every_args, text, st.none() | text, st.integers(0, 39))
def test_a_card_with_many_yeses_that_is_asked_again_is_within_all_limits(
    named: dict[str, JsonValue], words: str, preview: str | None, votes: int
) -> None:
    history = _voted(named, words, preview, votes)
    _check(history)
    _check(history.then(denied(1, words)))
    _check(history.then(approved(1)))
    state = history.state
    card = json.dumps(card_of(_question(state)[0], state).blocks)
    assert (f'"{APPROVE}"' in card) == is_in_slack_itself(*_question(state))


@pytest.mark.parametrize("words", NASTY)
def test_what_could_be_approved_can_be_after_any_number_of_yeses(words: str) -> None:
    script: dict[str, JsonValue] = {"script": "x" * 6_500}
    for votes in (0, 1, 39):
        history = _voted(script, words, None, votes)
        assert is_in_slack_itself(*_question(history.state))
        _check(history)


@settings(deadline=None, max_examples=examples(8))
@given(text, st.lists(text, max_size=12), st.booleans(), text)
def test_a_question_is_within_all_limits_whatever_is_asked_and_answered(
    words: str, options: list[str], free_text: bool, answer: str
) -> None:
    history = questioned(*options, text=words, free_text=free_text)
    _check(history)
    _check(history.then(answered(1, answer)))
    _check(history.then(RunFailed(error=words)))
    state = history.state
    check_view_limits(answer_modal(*_question(state), state))


@settings(deadline=None, max_examples=examples(8))
@given(every_args, every_args, text)
def test_every_end_of_a_card_is_within_all_limits(
    named: dict[str, JsonValue], other: dict[str, JsonValue], words: str
) -> None:
    waiting = _waiting(named, words)
    for history in (
        waiting.then(approved(1).model_copy(update={"note": words})),
        waiting.then(denied(1, words)),
        waiting.then(guided(1, words)),
        waiting.then(steered(1, {**named, **other})),
        waiting.then(asked(1, approval=2, args={}, supersedes=1)),
        waiting.then(RunFailed(error=words)),
    ):
        _check(history)
    done = waiting.then(approved(1)).then(call_started(1, waiting.now))
    for is_error in (False, True):
        output = returned(1, words, is_error=is_error)
        _check(done.then(output).then(replied(text=words)).then(RunFinished(answer=words)))
    unknown = done.then(left_unknown(1).model_copy(update={"detail": words}))
    review = asked(1, approval=2, kind="review").model_copy(
        update={"args": dict(named), "title": words}
    )
    _check(unknown.then(review))
    _check(unknown.then(review).then(settled(2, "give_up")).then(ModelFailed(error=words)))


@settings(deadline=None, max_examples=examples(8))
@given(every_args, text)
def test_the_steer_modal_is_within_all_limits_and_reads_back_as_unchanged(
    named: dict[str, JsonValue], words: str
) -> None:
    state = _waiting(named, words).state
    approval, call = _question(state)
    view = steer_modal(approval, call, state)
    check_view_limits(view)
    untouched = {
        block["block_id"]: {"value": {"value": block["element"].get("initial_value")}}
        for block in view["blocks"]
        if block["type"] == "input"
    }
    assert read_steer(untouched, call, approval) == (None, None, {})
    inputs = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
    assert set(steer_errors({name: words for name in named} | {"odd": words}, call)) <= inputs


@pytest.mark.parametrize("value", ["k3y", "x" * 40_000, "😀" * 4_000])
def test_a_hundred_arguments_that_can_only_be_replaced_fit_into_the_steer_modal(value: str) -> None:
    named: dict[str, JsonValue] = {f"a{number}_token": value for number in range(60)}
    named |= {f"text_{number}": value for number in range(60)}
    approval, call = _question(_waiting(named, "Many").state)
    view = steer_modal(approval, call, _waiting(named, "Many").state)
    check_view_limits(view)
    assert "more arguments stay as they are" in shown(view["blocks"])


@settings(deadline=None, max_examples=examples(4))
@given(every_args, text, st.none() | text)
def test_the_forms_of_a_decision_and_the_reasons_for_it_are_within_all_limits(
    named: dict[str, JsonValue], words: str, preview: str | None
) -> None:
    state = _waiting(named, words, preview).state
    approval, call = _question(state)
    assert call.verdict is not None
    confirmed = call.verdict.model_copy(update={"confirm": True})
    check_message(approval_message(approval, replace(call, verdict=confirmed), state), MENTIONS)
    granting = Granting(scopes=("run", "thread"), longest=timedelta(hours=3))
    call = replace(call, verdict=call.verdict.model_copy(update={"granting": granting}))
    for view in (
        deny_modal(approval, call),
        approve_modal(approval, call),
        grant_modal(approval, call, "thread"),
        *(view_all_modal(approval, call, state, page=page) for page in (1, 2, 99)),
    ):
        check_view_limits(view)
    check_text(why_text(approval, call, state), MENTIONS)


@settings(deadline=None, max_examples=examples(4))
@given(args, text, st.integers(0, 14))
def test_a_list_of_grants_is_within_all_limits(
    named: dict[str, JsonValue], words: str, count: int
) -> None:
    given_by = GrantGiven(
        grant_id=GrantId("grt_" + "1" * 40),
        by=Principal("slack:T0PILOT:U0BOB"),
        agent="refunds",
        tool=words,
        where=named,
        reason=words,
    )
    grants = [
        ToolsGrant(Grant(given_by, seq, BEGAN), words if seq % 2 else "") for seq in range(count)
    ]
    check_form(Announcement(grants_text(grants), grants_blocks(grants)), MENTIONS)
    if grants:
        check_text(revoked_text(grants[0]))


@settings(deadline=None, max_examples=examples(8))
@given(nasty | st.text(max_size=2000), st.integers(1, 12))
def test_an_answer_is_within_all_limits(words: str, times: int) -> None:
    history = begun().then(replied(text=words)).then(RunFinished(answer=words * times))
    _check(history)
    for message in answer_messages(history.state, is_split=True):
        check_message(message, MENTIONS)


@pytest.mark.parametrize("calls", [1, 60, 200])
def test_a_run_of_many_calls_has_a_status_within_all_limits(calls: int) -> None:
    history = begun().then(replied(*range(1, calls + 1)))
    for number in range(1, calls + 1):
        history = history.then(judged(number), after=SECOND)
    _check(history)
    _check(history.then(RunFailed(error="the model is gone")))


def test_six_thousand_characters_can_be_approved_and_stay_on_the_decided_card() -> None:
    script = "".join(chr(32 + i % 95) for i in range(6000))
    history = _waiting({"script": script}, "Run a script")
    state = history.state
    assert is_in_slack_itself(*_question(state))
    for one in (history, history.then(approved(1))):
        card = desired(one.state)[1].message
        check_message(card, MENTIONS)
        assert script in shown(card.blocks).replace("\n", "")


def test_what_is_too_long_to_be_shown_in_full_has_no_approve_but_deny_and_steer() -> None:
    state = _waiting({"script": "x" * 45_000}, "Run a script").state
    card = desired(state)[1].message
    check_form(card.first, MENTIONS)
    assert "[shortened]" in shown(card.blocks)
    assert "can't be approved here" in shown(card.blocks)
    ids = [e["action_id"] for e in card.blocks[-1]["elements"]]
    assert ids == ["approval.deny", "approval.steer", "approval.view", "approval.more"]
    wishes = [one["value"] for one in card.blocks[-1]["elements"][-1]["options"]]
    assert wishes == ["deny_reason|apr_1", "why|apr_1"]


def test_something_cut_off_where_nobody_looks_is_not_taken_for_all() -> None:
    blank = {"script": "​" * 50_000 + "rm -rf /"}
    state = _waiting(blank, "Run a script").state
    assert not is_in_slack_itself(*_question(state))
