"""Whoever can write a journal, with right numbers and hashes, still can't make it a run of this build's.

Not among the forgeries, as they are such runs too: another time of a whole commit; words that nobody checks
(a note, a reason, what a tool or a model said); a run that was cut off at its end (an anchor tells); a fact left
out that changed nothing (a message, a vote of too few, a hold and its end, an empty reply, the decision on a
question that the stop right behind it closes); another order of what has none (messages, ends of several
calls, questions of one commit); other groups of somebody's than they were in.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agent.rules.forgeries import FORGERIES, all_forged
from tests.agent.rules.legal_choices import GRANTING_JUDGES
from tests.agent.rules.legal_histories import Lived, legal_lives
from tests.agent.rules.legally import legally
from tests.examples import examples


@settings(legally, max_examples=examples(8))
@given(legal_lives() | legal_lives(GRANTING_JUDGES), st.data())
def test_every_forgery_shows(lived: Lived, data: st.DataObject) -> None:
    made = list(all_forged(lived.history))
    chosen = data.draw(st.lists(st.sampled_from(made), max_size=8)) if made else []
    for name, seq, journal in chosen:
        assert lived.replay(journal), f"{name} at {seq}"


@settings(legally, max_examples=examples(8))
@given(legal_lives())
def test_whatever_is_left_out_or_mixed_up_is_a_difference_and_never_an_error(lived: Lived) -> None:
    recorded = list(lived.history.recorded)
    for place in range(len(recorded)):
        lived.replay([*recorded[:place], *recorded[place + 1 :]])
        lived.replay([*recorded[place:], *recorded[:place]])


def test_forgeries_have_names_of_their_own() -> None:
    assert len({forgery.__name__ for forgery in FORGERIES}) == len(FORGERIES)
