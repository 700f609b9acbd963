"""``ask_user``: the tool by which an agent asks people something."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field, StringConstraints

from agent.tools.declare import tool

Option = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=75)]


def _ask_user(
    question: Annotated[str, Field(min_length=1, max_length=2_000)],
    options: Annotated[tuple[Option, ...], Field(max_length=10)] = (),
    free_text: bool = True,
) -> None:
    """Ask the person who gave you this task. Use it when you can't go on without knowing.

    Args:
        question: One plain question.
        options: Answers to choose from, if there are some that fit.
        free_text: May they answer in their own words?
    """


#: Put it into an agent's toolbox, and the agent can ask: the run waits for an answer as for a decision.
ask_user = replace(
    tool(title="Ask a person", approval=False, effect="read")(_ask_user),
    name="ask_user",
    is_question=True,
)
