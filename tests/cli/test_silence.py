"""What nobody decided in time, and a budget that is used up, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from store.clock import SystemClock
from tests.cli.conftest import CommandLine

CONFIG = """\
owners: {{groups: [S0FINANCE]}}
agents:
  refunds: {{model: demo, tools: [bot.demo.tools]{budget}}}
policy:
  - {{tool: process_refund, when: args.amount > 100, action: ask, expires: 1h{then}}}
  - {{tool: '*', action: allow}}
"""


def configure(pilothouse: CommandLine, *, then: str = "", budget: str = "") -> None:
    file = pilothouse.folder / "pilothouse.yml"
    then = then and f", on_expiry: {then}"
    file.write_text(CONFIG.format(then=then, budget=budget))
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(file)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """For the commands of this process it is two hours later from then on. Nobody waits for a question's time to be
    over, and none is over before it has been asked."""
    right, by = SystemClock.now, timedelta()

    def move() -> None:
        nonlocal by
        by += timedelta(hours=2)

    monkeypatch.setattr(SystemClock, "now", lambda clock: right(clock) + by)
    return move


Expire = Callable[[], tuple[str, str]]


@pytest.fixture
def expire(pilothouse: CommandLine, later: Callable[[], None]) -> Expire:
    """Makes a run whose question nobody decided; its id and the question's."""

    def make() -> tuple[str, str]:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        later()
        pilothouse.inside("recover")
        (asked,) = pilothouse.inside("approvals", "--all", "--json").json
        assert (asked["id"], asked["status"]) == (approval, "expired")
        return run, approval

    return make


class TestAskAgain:
    def test_it_is_asked_again_and_can_be_decided(
        self, pilothouse: CommandLine, expire: Expire
    ) -> None:
        configure(pilothouse)
        run, approval = expire()
        shown = pilothouse.inside("show", run, "--json").json
        assert (shown["status"], shown["waiting_for"]) == ("waiting", "approvals")
        assert shown["approvals"] == [approval]
        (listed,) = pilothouse.inside("approvals", "--json").json
        assert (listed["id"], listed["status"]) == (approval, "expired")
        told = " ".join(pilothouse.inside("approvals").out.split())
        assert ", over S0FINANCE ask-again ID process_refund" in told
        assert f"undecided  {approval}: process_refund" in pilothouse.inside("show", run).out
        late = pilothouse.inside("approve", approval)
        assert (late.code, late.out) == (5, "")
        assert "this expired at" in late.err
        configure(pilothouse)
        again = pilothouse.inside("ask-again", approval)
        assert again.code == 3
        first, second = again.lines
        assert first.startswith("to be asked again, says cli:")
        assert "asked again because nobody decided in time" in second
        (newer,) = pilothouse.inside("approvals", "--json").json
        assert newer["id"] != approval

    @pytest.fixture
    def unnoted(self, pilothouse: CommandLine, later: Callable[[], None]) -> tuple[str, str]:
        """A run whose question's time is over while no process is there to note it; and the question."""
        configure(pilothouse)
        run, approval = pilothouse.ask("refund ORD-3300 180")
        later()
        assert pilothouse.inside("approvals", "--json").json[0]["status"] == "pending"
        return run, approval

    def test_also_where_nobody_was_there_to_note_that_it_was_over(
        self, pilothouse: CommandLine, unnoted: tuple[str, str]
    ) -> None:
        run, approval = unnoted
        configure(pilothouse)
        again = pilothouse.inside("ask-again", approval)
        assert again.code == 3
        (newer,) = pilothouse.inside("approvals", "--json").json
        assert newer["id"] != approval
        assert pilothouse.inside("replay", run).code == 0

    def test_a_late_decision_notes_that_it_was_over(
        self, pilothouse: CommandLine, unnoted: tuple[str, str]
    ) -> None:
        run, approval = unnoted
        late = pilothouse.inside("approve", approval)
        assert late.code == 5
        (listed,) = pilothouse.inside("approvals", "--json").json
        assert (listed["id"], listed["status"]) == (approval, "expired")
        assert pilothouse.inside("show", run, "--json").json["status"] == "waiting"

    def test_without_a_word_what_can_be_done_is_said(
        self, pilothouse: CommandLine, expire: Expire
    ) -> None:
        configure(pilothouse)
        run, approval = expire()
        left = pilothouse.inside("resume", run)
        assert (left.code, left.out) == (3, "")
        assert f"Ask again: pilothouse ask-again {approval}" in left.err

    def test_what_is_open_or_unknown_is_not_asked_again(self, pilothouse: CommandLine) -> None:
        configure(pilothouse)
        _, approval = pilothouse.ask("refund ORD-3300 180")
        still = pilothouse.inside("ask-again", approval)
        assert (still.code, still.out) == (5, "")
        assert "this is still open, and can be decided" in still.err
        assert pilothouse.inside("ask-again", "apr_1").code == 2

    @pytest.mark.parametrize(("then", "code"), [("deny", "finished"), ("stop", "cancelled")])
    def test_where_the_rule_says_so_the_run_goes_on_or_ends(
        self, pilothouse: CommandLine, expire: Expire, then: str, code: str
    ) -> None:
        configure(pilothouse, then=then)
        run, approval = expire()
        assert pilothouse.inside("show", run, "--json").json["status"] == code
        assert json.loads((pilothouse.folder / "data" / "ledger.json").read_text()) == {}
        assert pilothouse.inside("ask-again", approval).code == 5


class TestBudget:
    @pytest.fixture
    def waiting(self, pilothouse: CommandLine) -> tuple[str, str]:
        """A run that may not ask the model once more, and the question about that."""
        configure(pilothouse, budget=", budget: {model_calls: 1}")
        return pilothouse.ask("refund ORD-1 50")

    def test_it_is_let_go_on(self, pilothouse: CommandLine, waiting: tuple[str, str]) -> None:
        _, approval = waiting
        (asked,) = pilothouse.inside("approvals", "--json").json
        assert (asked["kind"], asked["call_id"]) == ("budget", None)
        assert asked["args"]["more"] == "1"
        ended = pilothouse.inside("approve", approval, "--more", "10")
        assert ended.code == 0
        assert pilothouse.ledger == {"ORD-1": 50.0}
        (decided,) = pilothouse.inside("approvals", "--all", "--json").json
        assert decided["decision"]["args"] == {"more": "10"}

    def test_it_is_stopped(self, pilothouse: CommandLine, waiting: tuple[str, str]) -> None:
        run, approval = waiting
        ended = pilothouse.inside("deny", approval, "--reason", "it goes in circles")
        assert ended.code == 4
        assert pilothouse.inside("show", run, "--json").json["status"] == "cancelled"

    def test_it_is_stopped_without_a_word(
        self, pilothouse: CommandLine, waiting: tuple[str, str]
    ) -> None:
        assert pilothouse.inside("deny", waiting[1]).code == 4

    @pytest.mark.parametrize("more", ["0", "-1", "lots", "nan", "inf", "1e3", "1_000", "٣", ""])
    def test_what_is_no_more_is_wrong_use(
        self, pilothouse: CommandLine, waiting: tuple[str, str], more: str
    ) -> None:
        refused = pilothouse.inside("approve", waiting[1], f"--more={more}")
        assert (refused.code, refused.out) == (2, "")
        assert "Give a number above nothing, such as 20 or 1.50." in refused.err

    @pytest.mark.parametrize(
        ("more", "said"), [("1.5", "Give a whole number."), ("1000001", "Give at most 1,000,000.")]
    )
    def test_what_there_can_not_be_of_it_is_refused(
        self, pilothouse: CommandLine, waiting: tuple[str, str], more: str, said: str
    ) -> None:
        refused = pilothouse.inside("approve", waiting[1], "--more", more)
        assert (refused.code, refused.out) == (2, "")
        assert f"more: {said}" in refused.err

    def test_it_takes_no_values(self, pilothouse: CommandLine, waiting: tuple[str, str]) -> None:
        refused = pilothouse.inside("steer", waiting[1], "--set", "more=5")
        assert (refused.code, refused.out) == (2, "")
        assert "This is a budget that is used up" in refused.err

    def test_it_is_shown_for_what_it_is(
        self, pilothouse: CommandLine, waiting: tuple[str, str]
    ) -> None:
        run, approval = waiting
        told = f"waits for  {approval}: Go on? (This run has used its budget: 1 of 1 model calls.)"
        assert "\nused       1 model call, " in pilothouse.inside("show", run).out
        assert told in pilothouse.inside("show", run).out
        assert " budget " in pilothouse.inside("approvals").out

    def test_where_it_says_so_the_run_is_stopped_at_once(self, pilothouse: CommandLine) -> None:
        limit = ", budget: {model_calls: 1, on_reached: stop}"
        configure(pilothouse, budget=limit)
        ended = pilothouse.inside("run", "refund ORD-1 50")
        assert ended.code == 4
        assert "budget used up: 1 of 1 model calls" in ended.lines
        assert ended.lines[-1] == "stopped"


def test_only_a_budget_takes_more(pilothouse: CommandLine) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    refused = pilothouse.inside("approve", approval, "--more", "5")
    assert (refused.code, refused.out) == (2, "")
    assert "Only a budget takes it." in refused.err
    assert pilothouse.ledger == {}
