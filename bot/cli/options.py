"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

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
