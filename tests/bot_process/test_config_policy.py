"""``policy`` of ``pilothouse.yml``: what is wrong in a rule is named with file, line and key, and starts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot_process.configs import GOOD, refusal


def asks(*keys: str) -> str:
    """With a rule that asks, and these lines of it."""
    lines = "".join(f"  {key}\n" for key in keys)
    return f"{GOOD}policy:\n- tool: x\n  action: ask\n{lines}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + "polcy: []\n", "4: polcy: there is no such key; did you mean policy?"),
        (
            GOOD + "policy: [{tool: x, action: ask, aprovers: {users: [U1]}}]\n",
            "4: policy[0].aprovers: there is no such key; did you mean approvers?",
        ),
        (
            GOOD + "policy: [{tool: x, action: ask, escalate: [{after: 1h, group: [S1]}]}]\n",
            "4: policy[0].escalate[0].group: there is no such key; did you mean groups?",
        ),
        (
            GOOD + "policy: [{tool: [x, y], action: ask}]\n",
            "4: policy[0].tool: has to be one text",
        ),
        (GOOD + "policy:\n", "4: policy: there is nothing behind it"),
        (
            GOOD + "policy: [{tool: *git, action: ask}]\n",
            "4: found undefined alias 'git'; put what begins with * into quotes.",
        ),
        (
            GOOD + "policy:\n  - tool: x\n    reason: mind: it is dear\n",
            "6: mapping values are not allowed here; put a text that has a colon",
        ),
        (
            GOOD + "policy:\n\t- {tool: x, action: ask}\n",
            "5: found character '\\t' that cannot start any token; indent with spaces",
        ),
        (
            GOOD + "policy: [{tool: x, action: alow}]\n",
            "4: policy[0].action: has to be allow, ask or deny.",
        ),
        (GOOD + "policy: [{tool: x}]\n", "4: policy[0].action: this key is needed."),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  limit: {max: 500}\n",
            "7: policy[0].limit: say what is added up: sum, such as args.amount, or count: true.",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  card: '#ops'\n",
            "7: policy[0].card: '#ops' is no place for a card",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  card: dm\n  notify: none\n",
            "8: policy[0].notify: the card goes to each person directly, and that always rings.",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  confirm: maybe\n",
            "7: policy[0].confirm: has to be true or false.",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  expire: 24h\n",
            "7: policy[0].expire: there is no such key; did you mean expires?",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  approvers:\n",
            "7: policy[0].approvers: there is nothing behind it",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  approvers: {users: []}\n",
            "7: policy[0].approvers: name at least one user or group",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  approvers: {users: [alice]}\n",
            "7: policy[0].approvers.users: 'alice' is not an id",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  approvers: {users: [U01], count: 2}\n",
            "7: policy[0].approvers.count: count is 2 and no more than 1 may decide",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  approvers: {groups: [S01], count: 0}\n",
            "7: policy[0].approvers.count: has to be 1 or more.",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  approvers: {groups: [S01], count: two}\n",
            "7: policy[0].approvers.count: has to be a whole number.",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  approvers: {users: [U01], requester: 1}\n",
            "7: policy[0].approvers.requester: has to be true or false.",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  one_from_each: [S01, S01]\n",
            "7: policy[0].one_from_each: S01 is named twice",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  one_from_each: []\n",
            "7: policy[0].one_from_each: name at least one group",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  one_from_each: [finance]\n",
            "7: policy[0].one_from_each: 'finance' is not an id",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: allow\n  one_from_each: [S01]\n",
            "7: policy[0].one_from_each: this rule never asks anybody",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  valid_for: 1w\n",
            "7: policy[0].valid_for: '1w' is no length of time",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: ask\n  valid_for: 0s\n",
            "7: policy[0].valid_for: a yes has to hold for longer than no time",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: deny\n  valid_for: 1h\n",
            "7: policy[0].valid_for: this rule never asks anybody",
        ),
        (
            GOOD + "policy:\n- tool: x\n  when: arg.amount > 1\n  action: ask\n",
            "6: policy[0].when: 'arg.amount > 1' speaks of arg",
        ),
        (
            asks("approvers: {users: [U01, S01]}"),
            "7: policy[0].approvers.users: S01 is a group's id; groups go under groups.",
        ),
        (
            asks("approvers: {groups: [U01]}"),
            "7: policy[0].approvers.groups: U01 is a person's id; people go under users.",
        ),
        (
            asks("approvers: {groups: [C01]}"),
            "7: policy[0].approvers.groups: C01 is no group's id; those begin with S.",
        ),
        (
            asks("approvers: {users: [B01]}"),
            "7: policy[0].approvers.users: B01 is no person's id; those begin with U or W.",
        ),
        (
            asks("one_from_each: [S01, W01]"),
            "7: policy[0].one_from_each: W01 is a person's id, and groups stand here; people go",
        ),
        (
            asks("escalate: [{after: 1h, groups: [U01]}]"),
            "7: policy[0].escalate[0].groups: U01 is a person's id; people go under users.",
        ),
        (
            asks("escalate: [{after: 1h, users: [S01]}]"),
            "7: policy[0].escalate[0].users: S01 is a group's id; groups go under groups.",
        ),
        (asks("expires: 0s"), "7: policy[0].expires: it has to be longer than no time at all."),
        (asks("expires: soon"), "7: policy[0].expires: 'soon' is no length of time"),
        (
            asks("on_expiry: shrug"),
            "7: policy[0].on_expiry: has to be wait, deny, stop or escalate.",
        ),
        (asks("on_expiry: escalate"), "7: policy[0].on_expiry: escalate says who is asked then"),
        (asks("remind: 7d"), "7: policy[0].remind: it is closed after 7 d, and nobody would be"),
        (asks("expires: 2h", "remind: 2h"), "8: policy[0].remind: it is closed after 2 h"),
        (asks("remind: 0m"), "7: policy[0].remind: it has to be longer than no time at all."),
        (asks("escalate: []"), "7: policy[0].escalate: say who is asked as well"),
        (
            asks("escalate: [{groups: [S01]}]"),
            "7: policy[0].escalate[0].after: this key is needed.",
        ),
        (asks("escalate: [{after: 1h}]"), "7: policy[0].escalate[0]: name at least one user or"),
        (
            asks("escalate: {after: 1h, groups: [S01]}"),
            "7: policy[0].escalate: has to be a list: [{after: 1h, users: [U0123]}].",
        ),
        (
            asks("approvers: {users: U01}"),
            "7: policy[0].approvers.users: has to be a list: [U0123, U0456].",
        ),
        (asks("approvers: [U01]"), "7: policy[0].approvers: there have to be keys with values"),
        (
            GOOD + "policy: {tool: x, action: ask}\n",
            "4: policy: has to be a list: [{tool: pay, action:",
        ),
        (
            asks("when: args.amount > > 3"),
            "7: policy[0].when: 'args.amount > > 3' is not CEL: column 15: '>' is not expected.",
        ),
        (asks("grants: {scopes: []}"), "7: policy[0].grants.scopes: name at least one."),
        (
            asks("escalate: [{after: 1h, groups: [legal]}]"),
            "7: policy[0].escalate[0].groups: 'legal' is not an id",
        ),
        (
            asks("escalate:", "- {after: 1h, users: [U01]}", "- {after: 1h, groups: [S01]}"),
            "9: policy[0].escalate[1].after: it has to be later than the one before it.",
        ),
        (
            asks("expires: 2h", "escalate: [{after: 2h, groups: [S01]}]"),
            "8: policy[0].escalate[0].after: it is closed after 2 h, and they would not be asked.",
        ),
        (
            GOOD + "policy:\n- tool: x\n  action: allow\n  remind: 1h\n",
            "7: policy[0].remind: this rule never asks anybody; take remind out.",
        ),
    ],
)
def test_a_mistake_in_a_rule_is_named_with_its_line_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    assert refusal(tmp_path, text).startswith(said)


def test_a_list_is_not_also_said_to_be_too_short(tmp_path: Path) -> None:
    rule = "policy:\n- tool: x\n  action: ask\n  grants: {scopes: [day]}\n"
    said = refusal(tmp_path, GOOD + rule).splitlines()
    assert len(said) == 1
    assert said[0].startswith("7: policy[0].grants.scopes[0]: ")
