"""What a server says goes to the log as one line: it must not look like several of ours."""

from __future__ import annotations

import pytest

from agent.tools.mcp.said import Said, clean
from agent.tools.mcp.settings import ServerSettings

SETTINGS = ServerSettings("notes", environment={"NOTES_KEY": "s3cr3t-1"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  all well \n", "all well"),
        ("\x1b[31mred\x1b[0m\u202e", "red"),
        (
            "first\n2026-11-30 INFO bot.process: forged\r\n",
            "first 2026-11-30 INFO bot.process: forged",
        ),
        ("key s3cr3t-1 is wrong", "key •••••••• is wrong"),
    ],
)
def test_it_is_one_line_without_secrets(text: str, shown: str) -> None:
    assert clean(text, SETTINGS) == shown


def test_a_message_of_several_lines_is_one_record(caplog: pytest.LogCaptureFixture) -> None:
    said = Said(SETTINGS)
    with caplog.at_level("INFO"):
        said.line("one\ntwo")
    assert caplog.messages == ["MCP server notes: one two"]
    assert said.last == "one two"
