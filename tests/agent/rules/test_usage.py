"""Whether what a run used is all that is counted."""

from __future__ import annotations

import pytest

from agent.rules.events import ModelFailed, RunFailed, RunFinished
from agent.rules.ids import BY_BUDGET, BY_SILENCE
from agent.rules.interventions import RunCancelled
from agent.rules.usage import is_all_counted
from tests.agent.rules.happenings import expired, held, out_of_calls, resumed, said, stop_wanted
from tests.agent.rules.histories import (
    History,
    approved,
    begun,
    denied,
    reopened,
    replied,
    returned,
    started,
    waiting,
)

STOPPED = (stop_wanted(), RunCancelled())


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (begun(), True),
        (begun().then(replied(text="hi", asked_at=1)).then(RunFinished(answer="hi")), True),
        # It may have been asked when it was stopped.
        (begun().then(stop_wanted(), RunCancelled()), False),
        (started().then(returned(1)).then(stop_wanted(), RunCancelled()), False),
        (begun().then(replied(text="hi", asked_at=1)).then(said(), stop_wanted()), False),
        # It was not.
        (waiting().then(stop_wanted(), RunCancelled()), True),
        (started("read").then(stop_wanted()).then(RunCancelled()), True),
        (started().then(stop_wanted()).then(returned(1), RunCancelled()), True),
        (begun().then(stop_wanted(BY_SILENCE), RunCancelled()), True),
        (begun().then(stop_wanted(BY_BUDGET), RunCancelled()), True),
        # It waited for more of its budget, which the stop or its denial ended.
        (out_of_calls().then(stop_wanted(), RunCancelled()), True),
        (out_of_calls().then(expired(1)).then(stop_wanted(), RunCancelled()), True),
        (out_of_calls().then(denied(1), *STOPPED), True),
        (out_of_calls().then(denied(1)).then(*STOPPED), True),
        (out_of_calls().then(held()).then(denied(1), *STOPPED), True),
        # It had been given more.
        (out_of_calls().then(approved(1)).then(*STOPPED), False),
        (out_of_calls().then(RunFailed(error="x")).then(reopened()).then(*STOPPED), False),
        # It was held while a call ran; it may have been held while it was asked.
        (started().then(held()).then(returned(1)).then(stop_wanted(), RunCancelled()), True),
        (started().then(returned(1)).then(held()).then(stop_wanted(), RunCancelled()), False),
        (
            started().then(held()).then(returned(1)).then(resumed()).then(*STOPPED),
            False,
        ),
        # It was given more while it was held.
        (out_of_calls().then(held()).then(approved(1)).then(*STOPPED), True),
        # It gave no answer once.
        (begun().then(ModelFailed(error="x")), False),
        (begun().then(ModelFailed(error="x")).then(replied(text="hi", asked_at=2)), False),
    ],
)
def test_what_a_request_without_a_reply_used_is_not(history: History, expected: bool) -> None:
    assert is_all_counted(history.state) is expected
