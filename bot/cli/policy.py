"""``policy check``, ``policy test``, ``policy explain``: the policy itself, whatever runs there are."""

from __future__ import annotations

import typer

from bot.cli.policy_checks import check
from bot.cli.policy_explained import explain
from bot.cli.policy_tests import compare

policy = typer.Typer(
    help="The policy file: is it right, what would it change, why does a call get what it gets?",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for name, command in (("check", check), ("test", compare), ("explain", explain)):
    policy.command(name)(command)
