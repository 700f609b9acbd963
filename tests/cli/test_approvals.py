"""``approvals``, and what ``show`` says of what is asked, what was decided and what was refused."""

from __future__ import annotations

import asyncio
import getpass
import re
from decimal import Decimal
from pathlib import Path

import pytest

from agent.rules.events import CallRefused
from agent.rules.ids import CallId, Principal
from agent.rules.parts import Approvers, LimitUse, Usage
from agent.rules.secret_texts import mask_of
from agent.rules.shapes import run_shape
from bot.cli.names import whom_it_waits_for
from bot.cli.portrait import portrait
from bot.cli.reading import shape_of
from bot.compose import opened
from bot.settings import load_settings
from tests.agent.rules.histories import asked, begun, judged, proposed_call, replied, waiting
from tests.cli.conftest import CommandLine

MINUTE = r"\d{4}-\d\d-\d\d \d\d:\d\d"
OPERATOR = f"cli:{getpass.getuser()}"


@pytest.fixture
def denies(pilothouse: CommandLine) -> CommandLine:
    """Refunds are refused."""
    file: Path = pilothouse.folder / "pilothouse.yml"
    file.write_text(
        "owners: {users: [U0BOB]}\nagents:\n  refunds: {model: demo, tools: [bot.demo.tools]}\n"
        "policy:\n  - {tool: search_policy, action: allow}\n"
        "  - {tool: process_refund, action: deny, reason: 'no refunds of {args.amount} today'}\n"
    )
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(file)
    return pilothouse


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def test_a_line_says_since_when_until_when_for_whom_it_waits_and_what_decides_it(
    pilothouse: CommandLine,
) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    header, row = pilothouse.inside("approvals").lines
    assert cells(header) == [
        *("APPROVAL", "KIND", "SINCE", "UNTIL", "WHO", "COMMAND", "WHAT IS ASKED")
    ]
    id, kind, since, until, who, command, asked = cells(row)
    assert (id, kind, who, command) == (approval, "call", "S0FINANCE", "approve ID")
    assert re.fullmatch(MINUTE, since)
    assert re.fullmatch(MINUTE, until)
    assert until > since
    assert asked == (
        f"process_refund (order ORD-3300, amount $180.00) for {OPERATOR}, {run}: "
        "refund $180.00 exceeds the $100 threshold"
    )


def test_a_question_is_answered_by_whoever_asked_for_the_run_too(pilothouse: CommandLine) -> None:
    pilothouse.ask("refund ORD-7")
    (_, row) = pilothouse.inside("approvals").lines
    assert cells(row)[1] == "question"
    assert cells(row)[4] == f"{OPERATOR}, any full member"
    assert cells(row)[5] == "answer ID TEXT"


def test_what_is_long_is_cut_short_in_the_list_and_whole_in_show(pilothouse: CommandLine) -> None:
    (pilothouse.folder / "tools_of_long_orders.py").write_text(
        "from agent import tool\n\n\n@tool\n"
        "def process_refund(order: str, amount: float) -> str:\n    'Refund.'\n    return order\n"
    )
    config = pilothouse.folder / "long.yml"
    config.write_text(
        "owners: {users: [U0BOB]}\nagents:\n"
        "  refunds: {model: demo, tools: [tools_of_long_orders]}\n"
    )
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(config)
    order = "ORD-" + "7" * 2_000
    run, _ = pilothouse.ask(f"refund {order} 180")
    listed = pilothouse.inside("approvals").out
    assert max(map(len, listed.splitlines())) < 500
    assert " …, amount 180" in listed
    assert order in pilothouse.inside("show", run).out


def test_all_are_listed_newest_first_and_what_was_cut_off_is_counted(
    pilothouse: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [pilothouse.ask(f"refund ORD-{number} 180")[1] for number in (1, 2, 3)]
    pilothouse.inside("deny", asked[2], "--reason", "no")
    listed = pilothouse.inside("approvals", "--all", "--limit", "2").lines
    assert [cells(line)[0] for line in listed[1:-1]] == [asked[2], asked[1]]
    assert listed[-1] == "… and 1 more; to see more of them: --limit N"
    assert re.fullmatch(rf"denied by {OPERATOR}, {MINUTE}", cells(listed[1])[3])
    assert cells(listed[2])[3] == "pending"
    waiting = pilothouse.inside("approvals", "--limit", "1").lines
    assert [cells(line)[0] for line in waiting[1:-1]] == [asked[0]]
    assert waiting[-1].startswith("… and 1 more")
    assert len(pilothouse.inside("approvals", "--all").lines) == 4
    newest = pilothouse.inside("approvals", "--all", "--limit", "1", "--json").json
    assert [one["id"] for one in newest] == [asked[2]]
    monkeypatch.setattr("bot.cli.approvals.COUNTED", 1)
    listed = pilothouse.inside("approvals", "--all", "--limit", "1").lines
    assert listed[-1] == "… and more than 1 more; to see more of them: --limit N"
    waiting = pilothouse.inside("approvals", "--limit", "1").lines
    assert waiting[-1].startswith("… and 1 more")


def test_show_and_watch_say_who_decided_and_when(pilothouse: CommandLine) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    shown = pilothouse.inside("show", run).lines
    (at,) = [number for number, line in enumerate(shown) if line.startswith("waits for")]
    assert re.fullmatch(rf" +S0FINANCE may decide it, until {MINUTE} UTC", shown[at + 1])
    assert f"Decide: pilothouse approve {approval}" in shown[at + 2]
    pilothouse.inside("approve", approval, "--note", "fine by me")
    (decided,) = [
        line for line in pilothouse.inside("show", run).lines if line.startswith("decided ")
    ]
    assert re.search(rf": approved by {OPERATOR}, {MINUTE}: fine by me$", decided)


def test_what_belongs_to_no_run_is_listed(pilothouse: CommandLine) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    assert pilothouse.inside("journal", "--control").out == ""
    pilothouse.inside("deny", approval, "--reason", "no")
    pilothouse.inside("approve", approval)
    (event,) = pilothouse.inside("journal", "--control", "--json").json
    assert (event["seq"], event["kind"], event["code"]) == (
        1,
        "decision_refused",
        "already_decided",
    )
    assert {"id", "at", "hash", "version"} <= set(event)
    (line,) = pilothouse.inside("journal", "--control").lines
    assert f'"approval_id":"{approval}"' in line.replace(" ", "")
    for wrong in (("journal",), ("journal", "run_1", "--control")):
        ended = pilothouse.inside(*wrong)
        assert ended.code == 2
        assert "Give a run's id, or --control." in ended.err


async def test_a_run_that_lives_in_slack_says_where(pilothouse: CommandLine) -> None:
    elsewhere = await asyncio.to_thread(pilothouse.inside, "run", "refund ORD-1 20", "--json")
    assert elsewhere.json["thread"] is None
    async with opened(load_settings()) as house:
        run = await house.runtime.start(
            "refund ORD-2 20",
            requester=Principal("slack:T0PILOT:U0ALICE"),
            place="slack:T0PILOT/C0SUPPORT/1.000200",
        )
        state = await house.runtime.state(run)
        assert await house.thread_link(state) == (
            "https://app.slack.com/client/T0PILOT/C0SUPPORT/thread/C0SUPPORT-1.000200"
        )
        assert (await shape_of(house, state))["thread"] == await house.thread_link(state)


@pytest.mark.parametrize(
    ("proposed", "words"),
    [
        ('{"token":"s3cr3t","order":"ORD-1"}', f'{{"token":"{mask_of(6)}","order":"ORD-1"}}'),
        ('{"order":', '{"order":'),
    ],
)
def test_show_masks_the_secrets_of_a_call_that_was_refused(proposed: str, words: str) -> None:
    call = proposed_call(1).model_copy(update={"arguments": proposed})
    refused = CallRefused(call_id=CallId("call_1"), code="policy", message="no")
    state = begun().then(replied(call)).then(refused).state
    shape = run_shape(state, now=state.updated_at)
    (line,) = [one for one in portrait(state, shape, {}, {}) if "process_refund" in one]
    assert line.endswith(f"({words})")


def test_show_says_that_a_cost_is_not_known() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, is_priced=False)
    state = begun().then(replied(text="hi").model_copy(update={"usage": usage})).state
    shape = run_shape(state, now=state.updated_at)
    assert any("15 tokens, cost not known" in line for line in portrait(state, shape, {}, {}))


def test_show_says_what_is_used_of_the_limit_of_an_open_call() -> None:
    judgement = judged(1, "ask")
    use = LimitUse(
        key="limit.day",
        used=Decimal(320),
        amount=Decimal(180),
        max=Decimal(500),
        what="args.amount",
        currency="USD",
        per=("user",),
    )
    verdict = judgement.verdict.model_copy(update={"limit": use})
    history = begun().then(replied(1)).then(judgement.model_copy(update={"verdict": verdict}))
    state = history.then(asked(1)).state
    shown = [
        line.strip() for line in portrait(state, run_shape(state, now=state.updated_at), {}, {})
    ]
    assert "limit: $320.00 of $500.00 used by U0ALICE · $180.00 left" in shown


def test_whoever_asked_for_the_run_is_not_among_those_it_waits_for() -> None:
    people = Approvers(users=("U0ALICE", "U0BOB"))
    for requester, named in ((False, "U0BOB"), (True, "U0ALICE, U0BOB")):
        approvers = people.model_copy(update={"requester": requester})
        state = waiting(approvers).state
        (approval,) = state.open_approvals
        assert whom_it_waits_for(approval, state) == named


def test_show_says_with_which_values_a_call_was_refused_and_by_which_rule(
    denies: CommandLine,
) -> None:
    run = denies.inside("run", "refund ORD-3300 180", "--json").json["id"]
    shown = denies.inside("show", run).lines
    (at,) = [number for number, line in enumerate(shown) if "process_refund: refused" in line]
    assert "ORD-3300" in shown[at]
    assert shown[at + 1].strip() == (
        "The policy does not allow it: no refunds of $180.00 today; its rule: deny process_refund"
    )
