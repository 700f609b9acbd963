"""Why a call gets what it gets: the rule, those before it, and who may decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent.rules.explaining import in_words, way_to_it, who_may_decide, why_asked, why_judged
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from agent.rules.policy import Passed
from bot.cli.voice import PLAIN
from bot.slack.cards.more import why_text
from tests.agent.rules.histories import ALICE, BOB, waiting
from tests.agent.rules.judging import policy, subject
from tests.bot.cards.stories import ANY_TWO, ONE_EACH, yes

RULES: tuple[Mapping[str, Any], ...] = (
    {"tool": "search", "action": "allow"},
    {"tool": "process_*", "when": "args.amount > 1000", "action": "deny"},
    {
        "tool": "process_refund",
        "when": "args.amount > 100",
        "action": "ask",
        "reason": "refund {args.amount}",
        "approvers": {"groups": ["S0FINANCE"], "count": 2},
        "valid_for": "1h",
        "expires": "4h",
        "on_expiry": "deny",
    },
)


def way(**values: object) -> list[str]:
    written = policy(*RULES)
    weighed = written.weigh(subject(**values))
    found = way_to_it(written.rules, weighed, lambda number: f"line {number + 1}")
    return [f"{place} {words}" for place, words in found]


def test_the_way_to_a_verdict_says_of_each_rule_why_it_does_not_decide() -> None:
    assert way(amount=180) == [
        "line 1 is for search",
        "line 2 does not hold: args.amount > 1000",
        "line 3 decides: ask process_refund when args.amount > 100",
    ]
    assert way(amount=20)[2:] == [
        "line 3 does not hold: args.amount > 100",
        "no rule matches; the tool's own approval decides",
    ]
    (_, failed) = way(amount="much")
    assert failed.startswith("line 2 could not be checked, and so it asks: it compares")


def test_weighing_gives_the_verdict_of_judging_and_the_rule_that_gives_it() -> None:
    written = policy(*RULES)
    weighed = written.weigh(subject(amount=180))
    assert weighed.verdict == written.judge(subject(amount=180))
    assert (weighed.number, weighed.passed) == (2, (Passed(0, "tool"), Passed(1, "when")))


def test_what_nobody_proposed_yet_is_explained_with_what_would_follow() -> None:
    verdict = policy(*RULES).judge(subject(amount=180))
    assert list(in_words(why_judged(verdict, [ALICE]), PLAIN)) == [
        "Because: refund «180»",
        "By this rule: ask process_refund when args.amount > 100; 2 different people say yes; a yes is good"
        " for 1 h; when nobody decides for 4 h it is not done",
        "Who may decide: any 2 of S0FINANCE, not U0ALICE",
        "What silence means: when nobody decides for 4 h it is not done",
        "A yes is good for: 1 h",
        f"Policy version: {verdict.policy_version}",
    ]


def test_what_is_refused_is_decided_by_nobody() -> None:
    words = list(in_words(why_judged(policy(*RULES).judge(subject(amount=2000)), [ALICE]), PLAIN))
    assert not any(line.startswith(("Who may", "What silence")) for line in words)


def test_the_card_and_the_command_line_say_the_same() -> None:
    state = waiting(ANY_TWO).then(yes()).state
    (approval,) = state.open_approvals
    call = state.call(approval.requested.of_call)
    shown = why_text(approval, call, state).splitlines()[1:]
    told = list(in_words(why_asked(approval, call, state), PLAIN))
    assert [line.partition(":")[0] for line in told] == [line.partition(":")[0] for line in shown]
    assert "Who may decide: any 2 of S0FINANCE, not U0ALICE" in told
    assert "So far 1 of 2 have said yes: U0BOB" in told


@pytest.mark.parametrize(
    ("approvers", "words"),
    [
        (Approvers(groups=("S0FINANCE",)), "any 1 of S0FINANCE, not U0ALICE"),
        (Approvers(users=("U0ALICE",)), "only the operator, on the command line"),
        (Approvers(users=("U0ALICE", "U0BOB")), "U0BOB"),
        (Approvers(members=True), "any full member of this workspace"),
        (ONE_EACH, "one each of S0FINANCE and S0LEGAL, not U0ALICE"),
    ],
)
def test_who_may_decide_is_told_by_name(approvers: Approvers, words: str) -> None:
    assert who_may_decide(approvers, [ALICE], PLAIN) == words


def test_whoever_asked_on_the_command_line_is_named_and_left_out_of_nobody() -> None:
    operator = Principal("cli:ops")
    assert who_may_decide(Approvers(groups=("S1",)), [operator, BOB], PLAIN) == (
        "any 1 of S1, not cli:ops or U0BOB"
    )
