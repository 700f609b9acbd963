"""Whose yes counts, and when there are enough of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.rules.consent import Missing, is_enough, is_listed, missing
from agent.rules.ids import Principal
from agent.rules.parts import Approvers, Authority, Word
from tests.agent.rules.histories import ALICE
from tests.examples import examples

FINANCE, LEGAL = "S0FINANCE", "S0LEGAL"


def word(name: str, *groups: str, authority: Authority = "listed") -> Word:
    return Word(
        by=Principal(f"slack:T0PILOT:U0{name}"),
        user=f"U0{name}",
        groups=groups,
        authority=authority,
    )


BOB, FRANK = word("BOB", FINANCE), word("FRANK", FINANCE)
GRACE, HEIDI = word("GRACE", LEGAL), word("HEIDI", FINANCE, LEGAL)
IVAN = word("IVAN")
THE_REQUESTER = word("ALICE", FINANCE, LEGAL)
THE_OPERATOR = Word(by=Principal("cli:root"), authority="operator")
BY_CODE = Word(by=Principal("code:small_ones"), authority="code")


@pytest.mark.parametrize(
    ("approvers", "said", "may"),
    [
        (Approvers(groups=(FINANCE,)), BOB, True),
        (Approvers(users=("U0BOB",)), BOB, True),
        (Approvers(users=("U0BOB",)), IVAN, False),
        (Approvers(groups=(LEGAL,)), BOB, False),
        # The members of a group that has to give a yes of its own may decide.
        (Approvers(one_from_each=(LEGAL,)), GRACE, True),
        (Approvers(users=("U0BOB",), one_from_each=(LEGAL,)), GRACE, True),
        (Approvers(one_from_each=(LEGAL,)), BOB, False),
        # A group's id is not a user's, and the other way round.
        (Approvers(users=(FINANCE,)), BOB, False),
        (Approvers(groups=("U0BOB",)), BOB, False),
        # Nobody named is nobody listed.
        (Approvers(), BOB, False),
        (Approvers(), Word(by=ALICE), False),
        # Whoever asked, only where the rule says so, and only as one of those who are named.
        (Approvers(users=("U0ALICE",)), THE_REQUESTER, False),
        (Approvers(one_from_each=(LEGAL,)), THE_REQUESTER, False),
        (Approvers(users=("U0ALICE",), requester=True), THE_REQUESTER, True),
        (Approvers(groups=(FINANCE,), requester=True), THE_REQUESTER, True),
        (Approvers(users=("U0BOB",), requester=True), THE_REQUESTER, False),
        # Of old, only the principal was recorded.
        (Approvers(users=("U0BOB",)), Word(by=BOB.by), False),
    ],
)
def test_who_is_listed(approvers: Approvers, said: Word, may: bool) -> None:
    assert is_listed(approvers, [ALICE], said) == may


TWO = Approvers(groups=(FINANCE, LEGAL), count=2)
EACH = Approvers(one_from_each=(FINANCE, LEGAL))
EACH_AND_A_THIRD = Approvers(users=("U0IVAN",), one_from_each=(FINANCE, LEGAL), count=3)


@pytest.mark.parametrize(
    ("approvers", "words", "lacks"),
    [
        (Approvers(users=("U0IVAN",)), [], "1 more yes"),
        (Approvers(users=("U0IVAN",)), [IVAN], None),
        (Approvers(users=("U0IVAN",)), [BOB, GRACE], "1 more yes"),
        # So many different people,
        (TWO, [], "2 more yeses"),
        (TWO, [BOB], "1 more yes"),
        (TWO, [BOB, BOB], "1 more yes"),
        (TWO, [BOB, IVAN], "1 more yes"),
        (TWO, [BOB, THE_REQUESTER], "1 more yes"),
        (TWO, [BOB, GRACE], None),
        # one from each group, by different people,
        (EACH, [], "2 more yeses, one each from S0FINANCE and S0LEGAL"),
        (EACH, [BOB], "1 more yes, from S0LEGAL"),
        (EACH, [GRACE], "1 more yes, from S0FINANCE"),
        (EACH, [BOB, FRANK], "1 more yes, from S0LEGAL"),
        (EACH, [HEIDI], "1 more yes, from S0LEGAL"),
        (EACH, [HEIDI, BOB], None),
        (EACH, [BOB, HEIDI], None),
        (EACH, [GRACE, HEIDI], None),
        (EACH, [BOB, GRACE], None),
        # and both.
        (EACH_AND_A_THIRD, [], "3 more yeses, one each from S0FINANCE and S0LEGAL"),
        (EACH_AND_A_THIRD, [IVAN], "2 more yeses, one each from S0FINANCE and S0LEGAL"),
        (EACH_AND_A_THIRD, [BOB], "2 more yeses, one of them from S0LEGAL"),
        (EACH_AND_A_THIRD, [BOB, FRANK, IVAN], "1 more yes, from S0LEGAL"),
        (EACH_AND_A_THIRD, [BOB, GRACE], "1 more yes"),
        (EACH_AND_A_THIRD, [BOB, GRACE, IVAN], None),
        # Whoever holds the database holds it all, and the agent's author decides for the agent.
        (EACH_AND_A_THIRD, [THE_OPERATOR], None),
        (EACH_AND_A_THIRD, [BY_CODE], None),
        (Approvers(), [THE_OPERATOR], None),
        # Nobody named and nothing demanded is no yes by itself.
        (Approvers(), [], "1 more yes"),
        (Approvers(count=0), [], "1 more yes"),
    ],
)
def test_what_the_yeses_lack(approvers: Approvers, words: list[Word], lacks: str | None) -> None:
    left = missing(approvers, [ALICE], words)
    assert str(left) == (lacks or str(Missing(0)))
    assert is_enough(approvers, [ALICE], words) == (lacks is None)


# For whatever rule and whoever speaks

GROUPS = ("SA", "SB", "SC", "SD")
some_approvers = st.builds(
    Approvers,
    users=st.lists(st.sampled_from(["U0P1", "U0P2"]), unique=True).map(tuple),
    groups=st.lists(st.sampled_from(GROUPS), unique=True, max_size=2).map(tuple),
    count=st.integers(1, 4),
    one_from_each=st.lists(st.sampled_from(GROUPS), unique=True).map(tuple),
)
some_words = st.lists(
    st.builds(
        lambda number, groups: word(f"P{number}", *groups),
        st.integers(1, 5),
        st.lists(st.sampled_from(GROUPS), unique=True),
    ),
    max_size=5,
    unique_by=lambda said: said.by,
)
often = settings(max_examples=examples(150), deadline=None)


def is_enough_by_trying_everybody(approvers: Approvers, words: Sequence[Word]) -> bool:
    people = [said for said in words if is_listed(approvers, [ALICE], said)]
    groups = approvers.one_from_each
    return len(people) >= approvers.count and any(
        all(group in said.groups for group, said in zip(groups, order, strict=True))
        for order in permutations(people, len(groups))
    )


@often
@given(some_approvers, some_words)
def test_enough_is_what_trying_everybody_for_every_group_says(
    approvers: Approvers, words: list[Word]
) -> None:
    assert is_enough(approvers, [ALICE], words) == is_enough_by_trying_everybody(approvers, words)


@often
@given(
    some_approvers,
    some_words.flatmap(lambda words: st.tuples(st.just(words), st.permutations(words))),
)
def test_the_order_of_the_yeses_never_matters(
    approvers: Approvers, orders: tuple[list[Word], list[Word]]
) -> None:
    one, other = (missing(approvers, [ALICE], words) for words in orders)
    assert one.count == other.count


@often
@given(some_approvers, some_words, some_words)
def test_one_more_yes_never_makes_it_less(
    approvers: Approvers, words: list[Word], more: list[Word]
) -> None:
    others = [said for said in more if said.by not in {w.by for w in words}]
    before, after = (
        missing(approvers, [ALICE], words),
        missing(approvers, [ALICE], [*words, *others]),
    )
    assert after.count <= before.count
    assert is_enough(approvers, [ALICE], [*words, *others]) >= is_enough(approvers, [ALICE], words)


@often
@given(some_approvers, some_words)
def test_what_is_missing_is_enough_once_it_is_there(
    approvers: Approvers, words: list[Word]
) -> None:
    left = missing(approvers, [ALICE], words)
    anybody = approvers.all_groups or ("SA",)
    wide = approvers.model_copy(update={"groups": (*approvers.groups, *anybody)})
    newcomers = [
        word(f"NEW{n}", left.groups[n] if n < len(left.groups) else anybody[0])
        for n in range(left.count)
    ]
    assert is_enough(wide, [ALICE], [*words, *newcomers])
    for absent in range(len(newcomers)):
        fewer = newcomers[:absent] + newcomers[absent + 1 :]
        assert not is_enough_by_trying_everybody(approvers, [*words, *fewer])
