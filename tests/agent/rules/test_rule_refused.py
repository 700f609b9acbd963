"""A rule that says what can't be kept is refused, with the reason, when it is read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agent.rules.rule import Rule
from tests.agent.rules.test_rule import BOTH, ELSEWHERE, LEGAL

ANY_THREE: dict[str, Any] = {"users": ["U0BOB"], "count": 3}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        # Nobody could ever approve it.
        (
            {"approvers": {"users": ["U0BOB", "U0FRANK"], "count": 3}},
            "count is 3 and no more than 2 may decide, so that nobody could ever approve it",
        ),
        ({"approvers": {"users": ["U0BOB", "U0BOB"], "count": 2}}, "no more than 1 may decide"),
        (
            {"approvers": ANY_THREE, "escalate": [{"after": "2h", "users": ["U0BOB", "U0ERIN"]}]},
            "count is 3 and no more than 2 may decide",
        ),
        # Numbers that are none.
        ({"approvers": {"groups": ["S0FINANCE"], "count": 0}}, "greater than or equal to 1"),
        ({"approvers": {"groups": ["S0FINANCE"], "count": -1}}, "greater than or equal to 1"),
        ({"approvers": {"groups": ["S0FINANCE"], "count": True}}, "valid integer"),
        ({"approvers": {"groups": ["S0FINANCE"], "count": "2"}}, "valid integer"),
        ({"approvers": {"groups": ["S0FINANCE"], "count": 1.5}}, "valid integer"),
        ({"approvers": {"groups": ["S0FINANCE"], "requester": "no"}}, "valid boolean"),
        # Groups that are none.
        ({"one_from_each": []}, "name at least one group, or leave one_from_each out"),
        ({"one_from_each": ["S0LEGAL", "S0LEGAL"]}, "S0LEGAL is named twice"),
        ({"one_from_each": [""]}, "'' is not an id"),
        ({"one_from_each": [" "]}, "' ' is not an id"),
        ({"one_from_each": ["legal"]}, "'legal' is not an id"),
        ({"one_from_each": "S0LEGAL"}, "valid tuple"),
        ({"one_from_each": [["S0LEGAL"]]}, "valid string"),
        # Lengths of time that are none.
        ({"valid_for": "0s"}, "longer than no time at all"),
        ({"valid_for": "soon"}, "write one such as 30s, 10m, 2h or 1d"),
        ({"valid_for": "-1h"}, "write one such as"),
        ({"valid_for": 60}, "60 is no length of time"),
        ({"valid_for": True}, "True is no length of time"),
        ({"valid_for": "99999d"}, "3650d is the most"),
        ({"expires": "0s"}, "longer than no time at all"),
        ({"remind": "0s"}, "longer than no time at all"),
        ({"expires": 60}, "60 is no length of time"),
        # Silence that never comes to what is said of it.
        ({"remind": "7d"}, "it is closed after 7 d, and nobody would be reminded"),
        ({"expires": "1h", "remind": "1h"}, "it is closed after 1 h, and nobody would be reminded"),
        ({"on_expiry": "escalate"}, "escalate says who is asked then, and it is not there"),
        ({"escalate": [{"after": "7d", **LEGAL}]}, "it is closed after 7 d, and they would not be"),
        ({"escalate": [{"after": "0s", **LEGAL}]}, "later than the one before it"),
        (
            {"escalate": [{"after": "2h", **LEGAL}, {"after": "2h", "users": ["U0BOB"]}]},
            "later than the one before it",
        ),
        ({"escalate": [{"after": "2h"}]}, "name at least one user or group"),
        # Whoever is none of these groups' completes nothing.
        ({"one_from_each": BOTH, "escalate": [{"after": "2h", **ELSEWHERE}]}, "complete nothing"),
        (
            {"one_from_each": BOTH, "escalate": [{"after": "2h", "users": ["U0BOB"]}]},
            "complete nothing",
        ),
        ({"grants": {"scopes": ["run", "run"]}}, "each scope is named once"),
        ({"confirm": "yes"}, "valid boolean"),
        # Places that are none, and people who would not be told what is written there.
        ({"card": "#ops"}, "'#ops' is no place for a card; write thread, dm, or a channel's id"),
        ({"card": "U0BOB"}, "'U0BOB' is no place for a card"),
        ({"card": ""}, "'' is no place for a card"),
        ({"notify": "everybody"}, "'mention', 'dm', 'channel' or 'none'"),
        ({"card": "dm", "notify": "channel"}, "there is no channel to be told"),
        ({"card": "dm", "notify": "none"}, "that always rings"),
        ({"notify": "none", "remind": "1h"}, "nobody is to be rung"),
        ({"notify": "none", "escalate": [{"after": "2h", **LEGAL}]}, "nobody is to be rung"),
        ({"escalate": []}, "say who is asked as well, or leave escalate out"),
    ],
)
def test_what_can_not_be_kept_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Rule.model_validate({"tool": "*", "action": "ask", **keys})
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "keys",
    [
        {"escalate": [{"after": "2h", "groups": [BOTH[0]]}]},
        {
            "approvers": {"groups": ["S0FINANCE"], "count": 3},
            "escalate": [{"after": "2h", **ELSEWHERE}],
        },
    ],
)
def test_others_are_asked_where_their_yes_may_complete_it(keys: dict[str, Any]) -> None:
    assert Rule.model_validate({"tool": "*", "action": "ask", "one_from_each": BOTH, **keys})


@pytest.mark.parametrize(
    "escalate",
    [
        [{"after": "2h", "users": ["U0ERIN", "U0FRANK"]}],
        [{"after": "2h", "users": ["U0ERIN"]}, {"after": "3h", "users": ["U0FRANK"]}],
        [{"after": "2h", **LEGAL}],
    ],
)
def test_those_who_are_asked_later_count_among_those_who_may_decide(escalate: list[Any]) -> None:
    rule = {"tool": "*", "action": "ask", "approvers": ANY_THREE, "escalate": escalate}
    assert Rule.model_validate(rule)


def test_what_is_wrong_with_several_keys_names_one_of_them() -> None:
    """So that whoever tells it can point at a line."""
    with pytest.raises(ValidationError) as raised:
        Rule.model_validate({"tool": "*", "action": "deny", "valid_for": "1h"})
    (problem,) = raised.value.errors()
    assert problem["type"] == "wrong_key"
    assert problem["ctx"]["at"] == "valid_for"
