"""Several agents in one file: by name, by channel, by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import load_config
from tests.bot_process.configs import refusal

TWO = """\
owners: {users: [U0OWNER]}
agents:
  deploys:
    model: demo
    channels: [C0OPS, G0OPS]
  refunds:
    model: demo
    tools: [bot.demo.tools]
    channels: [C0SUPPORT]
    default: true
"""


def test_the_default_stands_first_and_each_has_its_channels(tmp_path: Path) -> None:
    (tmp_path / "pilothouse.yml").write_text(TWO)
    agents = load_config(tmp_path / "pilothouse.yml").agents
    assert [(one.name, one.channels, one.is_default) for one in agents] == [
        ("refunds", ("C0SUPPORT",), True),
        ("deploys", ("C0OPS", "G0OPS"), False),
    ]


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        (
            "[C0SUPPORT]",
            "[C1, C0OPS]",
            "9: agents.refunds.channels[1]: C0OPS is deploys's already; one agent answers in a channel, others by name.",
        ),
        (
            "refunds:",
            "Deploys:",
            "6: agents.Deploys: deploys has this name already: capitals make no other name.",
        ),
        ("    default: true\n", "", "2: agents: say default: true at one of them."),
        (
            "channels: [C0OPS, G0OPS]",
            "default: true",
            "10: agents.refunds.default: deploys is the default already; one can be.",
        ),
        (
            "G0OPS",
            "'#ops'",
            "5: agents.deploys.channels[1]: '#ops' is no channel's id; write one such as C0123.",
        ),
        (
            "[C0OPS, G0OPS]",
            "[]",
            "5: agents.deploys.channels: name at least one channel, or take it out.",
        ),
        ("G0OPS", "C0OPS", "5: agents.deploys.channels: C0OPS stands in it twice."),
        (
            "[C0OPS, G0OPS]",
            "C0OPS",
            "5: agents.deploys.channels: has to be a list: [C0123, C0456].",
        ),
        (
            "channels: [C0OPS, G0OPS]",
            "handoffs: [refunds]",
            "5: agents.deploys.handoffs: one agent can't hand work to another: that is not part of Pilothouse yet;",
        ),
        (
            "channels: [C0OPS, G0OPS]",
            "subagents: [refunds]",
            "5: agents.deploys.subagents: one agent can't hand work to another",
        ),
    ],
)
def test_what_is_not_clear_is_refused_with_its_line(
    tmp_path: Path, was: str, now: str, said: str
) -> None:
    assert was in TWO
    assert refusal(tmp_path, TWO.replace(was, now, 1)).startswith(said)
