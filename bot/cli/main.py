"""``pilothouse``: every command, and how errors end one."""

from __future__ import annotations

import sys

import typer

from agent.errors import PilothouseError
from bot.cli import (
    approvals,
    database,
    deciding,
    forking,
    granting,
    intervening,
    keys,
    listing,
    policy,
    purging,
    reading,
    recovering,
    running,
    sandbox,
    serving,
    switching,
    verifying,
)
from bot.cli.console import note
from bot.cli.exits import exit_for, hint_for

app = typer.Typer(
    name="pilothouse",
    help="Puts AI agents to work in a Slack team, and lets people steer them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    serving.demo,
    sandbox.sandbox,
    serving.serve,
    running.run,
    listing.runs,
    listing.unfinished,
    approvals.approvals,
    reading.show,
    reading.watch,
    reading.journal,
    reading.receipt,
    deciding.approve,
    deciding.deny,
    deciding.steer,
    deciding.answer,
    deciding.settle,
    deciding.ask_again,
    granting.grants,
    granting.revoke,
    intervening.hold,
    recovering.resume,
    intervening.stop,
    recovering.retry,
    recovering.recover,
    forking.fork,
    forking.replay,
    verifying.verify,
):
    app.command()(command)
app.add_typer(switching.kill_switch, name="kill-switch", no_args_is_help=True)
for of_database in (purging.sizes, purging.purge):
    database.db.command()(of_database)
app.add_typer(database.db, name="db")
app.add_typer(policy.policy, name="policy")
app.add_typer(keys.keys, name="keys")


def main() -> None:
    """Run the command that the arguments name. An expected error is one plain line, no traceback."""
    try:
        app()
    except PilothouseError as error:
        note(f"{error}{hint_for(error)}")
        sys.exit(exit_for(error))
