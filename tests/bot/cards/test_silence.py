"""What people see of a question that nobody decides: reminders, whoever is asked as well, and its end."""

from __future__ import annotations

import pytest

from agent.rules.ids import BY_SILENCE
from agent.rules.interventions import StopRequested
from agent.rules.parts import Approvers, Escalation
from bot.slack.cards.message import Message
from bot.slack.ids import APPROVE, ASK_AGAIN, DENY, MORE, STEER
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    ALICE,
    FRANK,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    returned,
    voted,
)
from tests.bot.cards.checking import check_message, shown
from tests.bot.cards.stories import questioned
from tests.bot.cards.waits import (
    HOUR,
    PATIENCE,
    asked_again,
    escalated,
    expired,
    patient,
    reminded,
    stopped,
)

CARD = "approval:apr_1"
FINANCE, LEGAL = "<!subteam^S0FINANCE>", "<!subteam^S0LEGAL>"


def messages(history: History) -> dict[str, Message]:
    """Those that are posted, or stand."""
    return {one.key: one.message for one in desired(history.state) if not one.is_past}


def past(history: History) -> dict[str, str]:
    """What is put in place of what had been posted."""
    return {one.key: shown(one.message.blocks) for one in desired(history.state) if one.is_past}


def read(history: History, key: str = CARD) -> str:
    return shown(messages(history)[key].blocks)


def buttons(history: History, key: str = CARD) -> list[str]:
    blocks = messages(history)[key].blocks
    return [e["action_id"] for b in blocks if b["type"] == "actions" for e in b["elements"]]


class TestReminders:
    def test_those_who_may_decide_are_rung_by_a_message_of_its_own(self) -> None:
        reminder = messages(reminded(patient()))["reminder:apr_1:1"]
        assert shown(reminder.blocks).startswith(
            f"{FINANCE} Reminder: “Refund an order” has waited for a decision since <!date^"
        )
        assert reminder.text.endswith(FINANCE)

    def test_only_the_newest_is_posted(self) -> None:
        """Whoever was away for a day is not rung twelve times."""
        keys = messages(reminded(reminded(patient()), 5))
        assert [key for key in keys if key.startswith("reminder:")] == ["reminder:apr_1:5"]

    @pytest.mark.parametrize(
        "history",
        [
            reminded(patient()).then(approved(1)),
            reminded(patient()).then(denied(1)),
            expired(reminded(patient())),
            stopped(reminded(patient())),
        ],
    )
    def test_nobody_is_reminded_of_what_is_not_open_any_more(self, history: History) -> None:
        assert not [key for key in messages(history) if key.startswith("reminder:")]

    @pytest.mark.parametrize(
        "history",
        [
            reminded(escalated(patient()), 1).then(approved(1)),
            expired(reminded(escalated(patient()))),
            stopped(reminded(escalated(patient()))),
        ],
    )
    def test_what_had_been_posted_does_not_say_any_more_that_it_waits(
        self, history: History
    ) -> None:
        reworded = past(history)
        assert set(reworded) == {"reminder:apr_1:1", "escalation:apr_1:1"}
        for words in reworded.values():
            assert words.startswith("“Refund an order” waited for a decision here, asked <!date^")
            assert words.endswith("Its message above says what became of it.")
            assert FINANCE not in words

    def test_only_the_newest_reminder_says_that_it_waits(self) -> None:
        history = reminded(reminded(patient()), 2)
        words = "Reminder 1 of “Refund an order”; others followed. Its message above says how it stands."
        assert past(history) == {"reminder:apr_1:1": words}
        assert "reminder:apr_1:2" in messages(history)
        # Decided, neither waits; the older one is as it was.
        ended = past(history.then(approved(1)))
        assert ended.pop("reminder:apr_1:1") == words
        assert "waited for a decision here" in ended.pop("reminder:apr_1:2")
        assert not ended

    def test_older_reminders_are_told_apart(self) -> None:
        ends = [reminded(reminded(reminded(patient()), 2), 3)]
        assert len({words for history in ends for words in past(history).values()}) == 2

    def test_whoever_has_said_yes_is_not_reminded(self) -> None:
        two = Approvers(users=("U0BOB", "U0FRANK"), count=2)
        history = patient(two).then(voted(1, FRANK, user="U0FRANK"))
        assert "<@U0BOB> Reminder" in read(reminded(history), "reminder:apr_1:1")
        assert "U0FRANK" not in read(reminded(history), "reminder:apr_1:1")

    def test_nobody_in_slack_means_no_reminder(self) -> None:
        assert "reminder:apr_1:1" not in messages(reminded(patient(Approvers())))

    def test_whoever_may_answer_a_question_is_reminded_of_it(self) -> None:
        reminder = read(reminded(questioned("$20")), "reminder:apr_1:1")
        assert reminder.startswith("<@U0ALICE> Reminder: “How much of ORD-3300 is to be refunded?”")
        assert "has waited for an answer since" in reminder

    def test_it_fits_into_slack_and_mentions_nobody_else(self) -> None:
        nasty = patient(title="<!channel> " + "&<>" * 200)
        for key, words in messages(reminded(nasty)).items():
            if key.startswith("reminder:"):
                check_message(words, ["!subteam^S0FINANCE"])


class TestEscalations:
    def test_those_who_are_asked_as_well_are_rung(self) -> None:
        words = read(escalated(patient()), "escalation:apr_1:1")
        assert words.startswith(f"{LEGAL} <@U0ERIN> You may decide this too: “Refund an order”")
        check_message(
            messages(escalated(patient()))["escalation:apr_1:1"], ["!subteam^S0LEGAL", "@U0ERIN"]
        )

    def test_nobody_is_told_before_their_time_or_after_the_end(self) -> None:
        assert "escalation:apr_1:1" not in messages(patient())
        assert "escalation:apr_1:1" not in messages(escalated(patient()).then(approved(1)))

    def test_they_are_among_those_who_may_decide_and_are_reminded(self) -> None:
        history = escalated(patient())
        card = messages(history)[CARD]
        assert LEGAL in card.first.text
        reminder = read(reminded(history), "reminder:apr_1:1")
        assert reminder.startswith(f"{FINANCE} {LEGAL} <@U0ERIN> Reminder")

    def test_whoever_asked_for_the_run_is_not_rung_to_decide_it(self) -> None:
        alice = PATIENCE.model_copy(
            update={"escalate": (Escalation(after=4 * HOUR, users=("U0ALICE",)),)}
        )
        assert "escalation:apr_1:1" not in messages(escalated(patient(patience=alice)))


class TestTheEnd:
    def test_silence_closes_the_card_and_it_can_be_asked_again(self) -> None:
        words = read(expired(patient()))
        assert "⏳ *Nobody decided by <!date^" in words
        assert "It did not happen." in words
        assert buttons(patient()) == [APPROVE, DENY, STEER, MORE]
        assert buttons(expired(patient())) == [ASK_AGAIN]
        assert messages(expired(patient()))[CARD].text.startswith("⏳ Nobody decided by <!date^")

    def test_gone_from_the_thread_it_is_posted_again_while_it_waits(self) -> None:
        cards = {
            how: next(one for one in desired(history.state) if one.key == CARD)
            for how, history in (
                ("open", patient()),
                ("silent", expired(patient())),
                ("asked", asked_again(expired(patient()))),
            )
        }
        assert {how: card.is_open for how, card in cards.items()} == {
            "open": True,
            "silent": True,
            "asked": False,
        }

    def test_asked_for_again_it_has_no_button_any_more(self) -> None:
        history = asked_again(expired(patient()))
        assert buttons(history) == []
        assert "It is about to be asked again." in read(history)

    def test_asked_again_it_says_where(self) -> None:
        history = asked_again(expired(patient()))
        newer = asked(1, approval=2, supersedes=1).model_copy(
            update={"again_because": "nobody decided in time"}
        )
        history = history.then(newer)
        assert buttons(history) == []
        assert "Asked again below." in read(history)
        assert "Asked again because: nobody decided in time" in read(history, "approval:apr_2")

    def test_what_happened_after_it_was_asked_again_is_not_said_of_the_old_card(self) -> None:
        newer = asked(1, approval=2, supersedes=1)
        history = asked_again(expired(patient())).then(newer).then(approved(2))
        history = history.then(call_started(1, history.now)).then(returned(1))
        assert "It had not happened until then." in read(history)
        assert "did happen" not in read(history)

    def test_where_the_rule_says_no_the_agent_was_told_and_nothing_is_asked_again(self) -> None:
        history = expired(patient(), "deny")
        assert buttons(history) == []
        assert "The agent was told that nobody did." in read(history)
        status = read(history, "status")
        assert "⏳ Refund an order · nobody decided in time: not done" in status

    def test_that_the_agent_was_told_stays_after_the_end(self) -> None:
        history = stopped(expired(patient(), "deny"))
        assert "The agent was told that nobody did." in read(history)

    def test_where_the_rule_stops_the_run_it_says_so(self) -> None:
        history = expired(patient(), "stop").then(
            StopRequested(by=BY_SILENCE, reason="Nobody decided in time: Refund an order")
        )
        assert buttons(history) == []
        assert "Its run was stopped." in read(history)
        assert "Stopped: nobody decided in time" in read(history, "status")

    def test_where_others_are_asked_instead_it_says_so(self) -> None:
        history = expired(patient(), "escalate")
        assert "It is about to be asked again." in read(history)

    def test_the_status_says_that_nobody_decided(self) -> None:
        status = messages(expired(patient()))["status"]
        assert status.text.endswith("nobody decided in time")
        assert "⏳ Refund an order · nobody decided in time · card below" in shown(status.blocks)

    def test_a_question_was_not_answered(self) -> None:
        history = expired(questioned("$20"))
        words = read(history)
        assert "⏳ *Nobody answered by <!date^" in words
        assert "It was not answered." in words
        assert buttons(history) == [ASK_AGAIN]

    def test_after_the_runs_end_nothing_can_be_asked_again(self) -> None:
        history = stopped(expired(patient()), by=ALICE)
        assert buttons(history) == []
        assert "Its run was stopped." in read(history)

    @pytest.mark.parametrize("history", [expired(patient()), expired(questioned("$20", "$90"))])
    def test_it_fits_into_slack(self, history: History) -> None:
        check_message(messages(history)[CARD], ["@U0ALICE"])


def test_what_nobody_is_asked_about_has_no_calls() -> None:
    assert list(messages(begun())) == ["status"]
