"""``answer``: a question of the agent's, by the real command."""

from __future__ import annotations

from tests.cli.conftest import CommandLine


def test_an_option_answers_it_and_the_run_goes_on(pilothouse: CommandLine) -> None:
    started = pilothouse("run", "refund ORD-3300")
    assert started.code == 3
    asked = "How much of ORD-3300 is to be refunded?"
    assert started.lines[-1].startswith(f"PAUSED for answer ({asked}), token apr_")
    (question,) = pilothouse.inside("approvals", "--json").json
    assert (question["kind"], question["args"]["question"]) == ("question", asked)
    how = f"Answer: pilothouse answer {question['id']} TEXT (such as: $20, $90, $180)"
    assert how in started.err
    listed = pilothouse.inside("approvals").out
    assert f"{asked} (such as: $20, $90, $180) for cli:" in listed
    answered = pilothouse("answer", question["id"], "$20")
    assert answered.code == 0
    assert answered.lines[0] == "human decision: answer"
    assert pilothouse.ledger == {"ORD-3300": 20.0}
    (question,) = pilothouse.inside("approvals", "--all", "--json").json
    assert (question["status"], question["decision"]["text"]) == ("answered", "$20")


def test_words_of_ones_own_answer_it(pilothouse: CommandLine) -> None:
    _, question = pilothouse.ask("refund ORD-3300")
    answered = pilothouse.inside("answer", question, "make it 45", "--json")
    assert (answered.code, answered.json["status"]) == (0, "finished")
    assert pilothouse.ledger == {"ORD-3300": 45.0}


def test_an_answer_may_lead_to_the_next_question(pilothouse: CommandLine) -> None:
    _, question = pilothouse.ask("refund ORD-3300")
    assert pilothouse.inside("answer", question, "$180").code == 3


def test_a_second_answer_is_too_late(pilothouse: CommandLine) -> None:
    _, question = pilothouse.ask("refund ORD-3300")
    assert pilothouse.inside("answer", question, "$20").code == 0
    late = pilothouse.inside("answer", question, "$90")
    assert (late.code, late.out) == (5, "")
    assert "Too late: answered by cli:" in late.err
    assert pilothouse.ledger == {"ORD-3300": 20.0}


def test_a_question_is_not_approved_and_a_call_is_not_answered(pilothouse: CommandLine) -> None:
    _, question = pilothouse.ask("refund ORD-3300")
    refused = pilothouse.inside("approve", question)
    assert (refused.code, refused.out) == (2, "")
    assert "This is a question: answer it." in refused.err
    _, call = pilothouse.ask("refund ORD-3301 180")
    refused = pilothouse.inside("answer", call, "yes")
    assert refused.code == 2
    assert "This is a call: approve, deny or steer it." in refused.err
    assert pilothouse.ledger == {}
