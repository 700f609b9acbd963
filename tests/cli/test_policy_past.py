"""``policy test`` and ``policy explain``, over the calls of a journal and over examples."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import CommandLine

STRICT = """\
owners: {groups: [S0OWNERS]}
agents:
  refunds: {model: demo, tools: [bot.demo.tools]}
policy:
  - {tool: search_policy, action: deny}
  - {tool: process_refund, when: args.amount > 500, action: ask}
  - {tool: process_refund, action: allow}
"""


@pytest.fixture
def asked(pilothouse: CommandLine) -> tuple[str, str]:
    """A run of the demo's that waits for a yes to its refund, under the demo's own file; and the question."""
    (pilothouse.folder / "strict.yml").write_text(STRICT)
    return pilothouse.ask("refund ORD-3300 180")


def test_each_past_call_is_told_with_what_it_got_and_would_get(
    pilothouse: CommandLine, asked: tuple[str, str]
) -> None:
    ended = pilothouse.inside("policy", "test")
    assert (ended.code, ended.lines[-1].partition(".")[0]) == (0, "2 calls: 2 as before")
    ended = pilothouse.inside("policy", "test", "strict.yml")
    columns, search, refund, summary = ended.lines
    assert columns.split("  ")[0] == "WHEN"
    assert search.split()[3:7] == ["search_policy", "allow", "deny", "STRICTER"]
    assert refund.split()[3:7] == ["process_refund", "ask", "allow", "LOOSER"]
    assert refund.rstrip().endswith("line 7: allow process_refund")
    assert summary.startswith("2 calls: 0 as before, 1 stricter, 1 looser. Only what the rules say")

    strict = ("policy", "test", "strict.yml", "--json", "--run", asked[0])
    ended = pilothouse.inside(*strict)
    assert (ended.code, [one["change"] for one in ended.json]) == (0, ["stricter", "looser"])
    assert ended.json[1]["rule_line"] == 7
    assert ended.err.startswith("2 calls: ")
    assert pilothouse.inside(*strict, "--fail-on-change").code == 1
    assert pilothouse.inside(*strict, "--since", "2999-01-01").json == []
    assert pilothouse.inside(*strict, "--since", "1h", "--changed").json == ended.json
    assert pilothouse.inside(*strict, "--since", "lately").code == 2


def test_a_call_that_fits_no_more_is_told_as_such(
    pilothouse: CommandLine, asked: tuple[str, str]
) -> None:
    other = pilothouse.folder / "other.yml"
    other.write_text("agents:\n  refunds: {model: demo, tools: [agent.tools.asking]}\n")
    ended = pilothouse.inside("policy", "test", "other.yml", "--json")
    assert [one["change"] for one in ended.json] == ["unjudged", "unjudged"]
    assert ended.json[0]["why_not_judged"] == (
        "refunds has no tool search_policy; there are: ask_user"
    )


def test_what_only_slack_could_tell_is_not_judged_and_what_is_used_not_told(
    pilothouse: CommandLine, asked: tuple[str, str]
) -> None:
    own = STRICT.replace("args.amount > 500", "requester.kind == 'guest'")
    own = (
        own.rstrip().removesuffix("}")
        + ", limit: {sum: args.amount, per: [user, day], max: 500}}\n"
    )
    (pilothouse.folder / "own.yml").write_text(own)
    # The operator asked for the run, of whom it is known.
    ended = pilothouse.inside("policy", "test", "own.yml", "--json")
    assert [one["would_get"] for one in ended.json] == ["deny", "allow"]
    args = (
        "--args",
        '{"order": "ORD-1", "amount": 5}',
        "--requester",
        "U0ALICE",
        "--file",
        "own.yml",
    )
    explain = ("policy", "explain", "--tool", "process_refund", *args)
    ended = pilothouse.inside(*explain, "--kind", "member")
    assert ended.lines[0].endswith(": allow")
    assert not any(line.startswith("Limit: ") for line in ended.lines)
    assert "the example does not say" in pilothouse.inside(*explain).out


def test_an_asked_call_is_explained_as_it_was_asked_and_as_it_would_be(
    pilothouse: CommandLine, asked: tuple[str, str]
) -> None:
    ended = pilothouse.inside("policy", "explain", asked[1], "--file", "strict.yml")
    assert ended.code == 0
    assert "  Because: refund $180.00 exceeds the $100 threshold" in ended.lines
    assert "  Who may decide: any 1 of S0FINANCE, not cli:" in ended.out
    file = pilothouse.folder / "strict.yml"
    assert f"    {file}:6  does not hold: args.amount > 500" in ended.lines
    assert f"    {file}:7  decides: allow process_refund" in ended.lines
    call = pilothouse.inside("policy", "test", "--json").json[1]["call_id"]
    shape = pilothouse.inside("policy", "explain", call, "--json").json
    assert (shape["run_id"], shape["change"]) == (asked[0], None)
    assert shape["then"]["rule"] == shape["now"]["rule"]
    assert pilothouse.inside("policy", "explain", "call_0").code == 2
    assert pilothouse.inside("policy", "explain", "apr_0").code == 2


def test_a_call_that_nobody_proposed_is_explained_without_a_store(pilothouse: CommandLine) -> None:
    example = ("--tool", "process_refund", "--requester", "U0ALICE", "--args")
    args = json.dumps({"order": "ORD-1", "amount": 180})
    shape = pilothouse.inside("policy", "explain", *example, args, "--json").json
    assert (shape["action"], shape["reason"]) == (
        "ask",
        "refund $180.00 exceeds the $100 threshold",
    )
    assert shape["words"][2] == "Who may decide: any 1 of S0FINANCE, not U0ALICE"
    assert shape["way"][-1]["line"] == shape["rule_line"]
    assert pilothouse.inside("policy", "explain", *example, '{"order": "ORD-1"}').code == 2
    assert pilothouse.inside("policy", "explain", "--tool", "pay").code == 2
    assert pilothouse.inside("policy", "explain").code == 2
    assert not (pilothouse.folder / "data").exists()


def test_what_a_window_keeps_then_is_said(pilothouse: CommandLine) -> None:
    window = "{tools: process_refund, from: '14:00', to: '16:00', zone: UTC}"
    (pilothouse.folder / "own.yml").write_text(f"{STRICT}freeze: [{window}]\n")
    example = ("policy", "explain", "--tool", "process_refund", "--requester", "U0ALICE")
    kept = (*example, "--file", "own.yml", "--at", "2026-11-30T15:00:00Z", "--args")
    low, high = (json.dumps({"order": "ORD-1", "amount": amount}) for amount in (5, 900))
    frozen = "It is frozen until Mon 16:00 UTC (process_refund: every day from 14:00 to 16:00 UTC)"
    lines = pilothouse.inside(*kept, low).lines
    assert lines[0].endswith(": frozen")
    assert f"{frozen}, and starts then" in lines
    assert lines[-1].startswith("Only what the rules and the freeze windows say")
    lines = pilothouse.inside(*kept, high).lines
    assert lines[0].endswith(": ask")
    assert f"{frozen}, and starts no sooner, whoever approves it" in lines
    shape = pilothouse.inside(*kept, low, "--json").json
    assert (shape["action"], shape["frozen_until"]) == ("allow", "2026-11-30T16:00:00.000Z")
    assert pilothouse.inside(*example, "--at", "noon").code == 2
    assert pilothouse.inside("policy", "explain", "apr_0", "--at", "2026-11-30T15:00:00Z").code == 2


def test_whoever_asks_is_none_of_those_who_may_decide(pilothouse: CommandLine) -> None:
    people = "approvers: {users: [U0ALICE, U0BOB, U0FRANK]}"
    own = STRICT.replace("action: ask}", f"action: ask, {people}}}")
    (pilothouse.folder / "own.yml").write_text(own)
    args = json.dumps({"order": "ORD-1", "amount": 900})
    example = ("--tool", "process_refund", "--args", args, "--requester", "U0ALICE")
    words = pilothouse.inside("policy", "explain", *example, "--file", "own.yml").lines
    assert "Who may decide: any 1 of U0BOB or U0FRANK" in words


@pytest.mark.parametrize("suffix", ["yml", "jsonl"])
def test_examples_are_tried_like_past_calls(pilothouse: CommandLine, suffix: str) -> None:
    refund = {"tool": "process_refund", "requester": "U0ALICE"}
    examples = [
        {**refund, "args": {"order": "ORD-1", "amount": 180}, "expect": "allow"},
        {**refund, "args": {"order": "ORD-1", "amount": 20}},
        {**refund, "args": {"order": "ORD-1", "sum": 20}, "expect": "allow"},
    ]
    text = "\n".join(map(json.dumps, examples))
    file = pilothouse.folder / f"examples.{suffix}"
    file.write_text(text if suffix == "jsonl" else json.dumps(examples))
    ended = pilothouse.inside("policy", "test", "--calls", file.name, "--json")
    assert [(one["got"], one["would_get"], one["change"]) for one in ended.json] == [
        ("allow", "ask", "stricter"),
        (None, "allow", None),
        ("allow", None, "unjudged"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("e.jsonl", '\n{"tool": "pay"}', "e.jsonl:2: requester: this key is needed."),
        ("e.jsonl", '{"tool": "pay",', "e.jsonl:1: it is not JSON: "),
        (
            "e.yml",
            "- {tool: pay, requester: U1}\n- {tol: pay, requester: U1}",
            "e.yml:2: [1].tol: there is no",
        ),
        ("e.yml", "tool: pay", "e.yml:1: it is to be a list of calls: "),
    ],
)
def test_examples_that_are_written_wrongly_are_told_with_their_line(
    pilothouse: CommandLine, name: str, text: str, said: str
) -> None:
    (pilothouse.folder / name).write_text(text)
    ended = pilothouse.inside("policy", "test", "--calls", name)
    assert ended.code == 2
    assert said in ended.err
