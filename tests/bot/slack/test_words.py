"""What words ask for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bot.slack
from agent.rules.ids import ApprovalId, RunId
from bot.slack import words
from bot.slack.help import help_on
from bot.slack.words import (
    Ask,
    AskHowToDecide,
    AskHowToSwitch,
    Help,
    Intervene,
    Mistyped,
    Misused,
    Retry,
    ShowGrants,
    ShowJournal,
    ShowPending,
    ShowRuns,
    ShowStatus,
    ShowSwitches,
    TurnSwitch,
    TypedDecision,
    Wish,
    read_command,
    read_decision,
    read_message,
)

FOLDER = Path(bot.slack.__file__).parent
ID = ApprovalId("apr_01a227a1ed0e7727ad0133678f5782ad")


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("", Help()),
        (" help ", Help()),
        ("help me refund ORD-1", Ask("help me refund ORD-1")),
        ("Help", Help()),
        ("STOP", Intervene("stop", None)),
        ("Status", ShowStatus(None)),
        ("Status of ORD-1", Ask("Status of ORD-1")),
        ("status please", ShowStatus(None)),
        ("Stop run_1", Intervene("stop", RunId("run_1"))),
        ("pending", ShowPending()),
        ("pending orders, list them", Ask("pending orders, list them")),
        ("runs", ShowRuns()),
        ("grants", ShowGrants()),
        ("grants for research", Ask("grants for research")),
        ("status", ShowStatus(None)),
        ("status run_1", ShowStatus(RunId("run_1"))),
        ("status: ORD-1", Ask("status: ORD-1")),
        ("pause", Intervene("pause", None)),
        ("resume  run_1", Intervene("resume", RunId("run_1"))),
        ("stop", Intervene("stop", None)),
        ("stop run_1", Intervene("stop", RunId("run_1"))),
        ("stop run_1 now", Intervene("stop", RunId("run_1"))),
        ("stop please", Intervene("stop", None)),
        ("Please stop!", Intervene("stop", None)),
        ("stop foo bar", Ask("stop foo bar")),
        ("stop run_01a2…", Misused("stop", "stop run_01a2…")),
        ("stop RUN_1", Misused("stop", "stop RUN_1")),
        ("pause all", Intervene("pause", None)),
        ("cancel that", Mistyped("stop")),
        ("hold on", Mistyped("pause")),
        ("journal", ShowJournal(None)),
        ("journal run_1", ShowJournal(RunId("run_1"))),
        ("journal of last week", Ask("journal of last week")),
        ("kill-switch", ShowSwitches()),
        ("Kill-switch status", ShowSwitches()),
        ("kill-switch status now", AskHowToSwitch()),
        ("kill-switch everything", AskHowToSwitch()),
        ("kill-switch on", TurnSwitch(True, "", "")),
        ("kill-switch on all", TurnSwitch(True, "all", "")),
        ("kill-switch ON all they are doubled", TurnSwitch(True, "all", "they are doubled")),
        ("kill-switch on agent refunds it loops", TurnSwitch(True, "agent:refunds", "it loops")),
        ("kill-switch on Tool git.* a leak", TurnSwitch(True, "tool:git.*", "a leak")),
        ("kill-switch on tool:pay a leak", TurnSwitch(True, "tool:pay", "a leak")),
        ("kill-switch on agent", TurnSwitch(True, "agent", "")),
        ("kill-switch off", TurnSwitch(False, "", "")),
        ("kill-switch off tool pay", TurnSwitch(False, "tool:pay", "")),
        ("kill-switch off all it is over", TurnSwitch(False, "all", "it is over")),
        ("approve", AskHowToDecide()),
        (f"approve {ID}", AskHowToDecide()),
        ("Deny it", AskHowToDecide()),
        (f"please approve {ID}", AskHowToDecide()),
        ("approved refunds, list them", Ask("approved refunds, list them")),
        ("refund\nORD-1", Ask("refund\nORD-1")),
        ("statu", Mistyped("status")),
        ("Pendign", Mistyped("pending")),
        ("grant", Mistyped("grants")),
        ("grnats", Mistyped("grants")),
        ("journl", Mistyped("journal")),
        ("help!", Mistyped("help")),
        ("start", Ask("start")),
        ("hello", Ask("hello")),
        ("statu of ORD-1", Ask("statu of ORD-1")),
    ],
)
def test_a_first_word_that_is_a_sub_commands_is_it_and_counts_only_with_what_it_takes(
    text: str, wish: Wish
) -> None:
    assert read_command(text) == wish


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("", Help()),
        ("help", Help()),
        ("Help", Help()),
        ("approve", AskHowToDecide()),
        (f"approve {ID} please", AskHowToDecide()),
        (f"please approve {ID}", AskHowToDecide()),
        (f"Please deny {ID}, it is too much", AskHowToDecide()),
        (f"can you approve {ID}", AskHowToDecide()),
        (f"<@U0BOB> approve {ID}", AskHowToDecide()),
        (f"> approve {ID}", AskHowToDecide()),
        (f"> approve {ID}\nwhat is that?", Ask(f"> approve {ID}\nwhat is that?")),
        (f"why was {ID} asked", Ask(f"why was {ID} asked")),
        ("please approve", Ask("please approve")),
        (">" * 40_000, Ask(">" * 40_000)),
        ("approve the budget", Ask("approve the budget")),
        ("yes", Ask("yes")),
        ("stop", Intervene("stop", None)),
        ("Pause!", Intervene("pause", None)),
        ("resume", Intervene("resume", None)),
        ("stop the newsletter", Ask("stop the newsletter")),
        ("Retry.", Retry()),
        ("retry ORD-3300", Ask("retry ORD-3300")),
    ],
)
def test_a_message_asks_for_help_or_to_intervene_or_for_something_to_do(
    text: str, wish: Wish | Retry
) -> None:
    assert read_message(text) == wish


@pytest.mark.parametrize(
    ("raw", "decision"),
    [
        (f"<@U0PILOT> approve {ID}", TypedDecision(ID, True)),
        (f"<@U0PILOT|pilothouse>\u00a0approve {ID} ", TypedDecision(ID, True)),
        (f"<@U0PILOT> deny {ID}", TypedDecision(ID, False)),
        (f"<@U0PILOT> deny {ID} a &lt; b\nno", TypedDecision(ID, False, "a < b\nno")),
        (f"approve {ID}", None),
        (f"<@U0BOB> approve {ID}", None),
        (f"<@U0PILOT> approve {ID} please", None),
        (f"<@U0PILOT> please approve {ID}", None),
        (f"<@U0PILOT> Approve {ID}", None),
        (f"<@U0PILOT> disapprove {ID}", None),
        (f"<@U0PILOT>approve {ID}", None),
        (f"<@U0PILOT> approve\u200b {ID}", None),
        (f"<@U0PILOT> \u0430pprove {ID}", None),
        ("<@U0PILOT> approve", None),
        ("<@U0PILOT> approve run_1", None),
        (f"<@U0PILOT> approve {ID}\u0131", None),
        (f"> <@U0PILOT> approve {ID}", None),
    ],
)
def test_a_decision_is_the_whole_message_with_the_whole_id(
    raw: str, decision: TypedDecision | None
) -> None:
    assert read_decision(raw, "U0PILOT") == decision


def test_no_words_of_ours_name_the_bot_which_is_called_what_the_workspace_calls_it() -> None:
    named = [path.name for path in FOLDER.rglob("*.py") if "@Pilothouse" in path.read_text()]
    assert named == []


def test_help_names_every_sub_command_there_is() -> None:
    named = set(re.findall(r"`/agent ([a-z-]+)", help_on({})))
    assert named >= set(words._SUB_COMMANDS) - {"help"}
