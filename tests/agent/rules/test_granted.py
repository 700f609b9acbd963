"""The standing consents that a journal names, when it is gone over once more."""

from __future__ import annotations

import pytest

from agent.rules.control import GrantGiven, GrantRevoked, RecordedControl
from agent.rules.ids import EventId, GrantId
from agent.rules.replaying.granted import Consents
from agent.rules.replaying.replay import replay
from tests.agent.rules.happenings import HOUR
from tests.agent.rules.histories import BEGAN, BOB, SECOND, begun, call_started, judged, replied

GRANT = GrantGiven(
    grant_id=GrantId("grt_1"), by=BOB, agent="refunds", tool="process_refund", where={}
)


def facts(*events: GrantGiven | GrantRevoked) -> list[RecordedControl]:
    return [
        RecordedControl(seq, EventId(f"evt_{seq}"), BEGAN, "", event)
        for seq, event in enumerate(events, 1)
    ]


REVOKED = GrantRevoked(grant_id=GRANT.grant_id, by=BOB)


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        ((GRANT,), None),
        ((), "nobody gave that"),
        ((GRANT, REVOKED), "it did not hold then"),
        ((GRANT.model_copy(update={"expires_at": BEGAN + SECOND}),), "it did not hold then"),
        ((GRANT.model_copy(update={"tool": "send_mail"}),), "for this call"),
        ((GRANT.model_copy(update={"where": {"amount": 5}}),), "for this call"),
        ((GRANT.model_copy(update={"agent": "mails"}),), "for this call"),
    ],
)
def test_a_consent_that_is_named_was_given_held_then_and_is_for_the_call(
    control: tuple[GrantGiven | GrantRevoked, ...], expected: str | None
) -> None:
    history = begun().then(replied(1)).then(judged(1), after=HOUR)
    start = call_started(1, history.now).model_copy(update={"grant": GRANT.grant_id})
    history = history.then(start)
    assert replay(history.recorded) == []
    found = replay(history.recorded, None, Consents(facts(*control)).instead_of)
    assert [one.found for one in found] == (["call_started"] if expected else [])
    assert all((expected or "") in one.expected for one in found)
