"""Options that several commands take."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from agent.rules.listing import either

E = TypeVar("E", bound=StrEnum)

AsJson = Annotated[bool, typer.Option("--json", help="For a program: JSON, and nothing else.")]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="USER",
        help="A Slack user's id: checked as for a click. Without it you decide as the operator.",
    ),
]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="run_…")]
ApprovalArgument = Annotated[str, typer.Argument(metavar="ID", help="apr_…")]


def one_of(kind: type[E], text: str, of: str) -> E:
    """What was chosen. Raises ``BadParameter`` in plain words."""
    try:
        return kind(text)
    except ValueError as error:
        raise typer.BadParameter(f"Say {either(kind)}, not {text!r}.", param_hint=of) from error
