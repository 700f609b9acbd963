"""What holds of every fork of every history that could be."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given

from agent.errors import NoBoundary
from agent.rules.fold import fold
from agent.rules.forking import fork, is_boundary
from agent.rules.state import RunState
from agent.rules.transcript import AssistantMessage, transcript
from tests.agent.rules.histories import BOB, History
from tests.agent.rules.legal_histories import begin_at, legal_histories
from tests.agent.rules.legally import legally, states_of


def told(state: RunState) -> list[object]:
    """What a provider is sent: of a call nothing but its own id, its tool and its arguments."""
    return [
        (message.text, [(c.model_call_id, c.tool, c.arguments) for c in message.calls])
        if isinstance(message, AssistantMessage)
        else message
        for message in transcript(state)
    ]


@legally
@given(legal_histories())
def test_a_fork_at_any_boundary_has_been_told_what_the_original_had(history: History) -> None:
    for state in states_of(history):
        if is_boundary(state):
            forked = begin_at(history.recorded, state.seq, count(1001)).state
            assert told(forked) == told(state)
            assert forked.open_approvals == ()
            assert forked.taken_from == (state.run_id, state.seq)
            assert [c.tool for c in forked.open_calls] == [c.tool for c in state.open_calls]
            assert (forked.held, forked.stop, forked.ending) == (None, None, None)


@legally
@given(legal_histories())
def test_where_it_is_open_what_a_call_did_nothing_is_forked(history: History) -> None:
    for state in states_of(history):
        if not is_boundary(state):
            with pytest.raises(NoBoundary) as refused:
                fork(history.recorded, state.seq, BOB, str)
            nearest = refused.value.nearest
            assert nearest is not None
            assert nearest < state.seq
            assert is_boundary(fold(history.recorded[:nearest]))
            assert not is_boundary(fold(history.recorded[: nearest + 1]))
