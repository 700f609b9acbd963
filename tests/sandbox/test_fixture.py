"""The fixture `sandbox`, as a stranger's tests meet it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.opened import OpenSandbox
from bot.sandbox.wire import Refusal
from tests.sandbox.driving import bolt_app, buttons, client_of, connected

STRANGERS_TESTS = """
import pytest

from bot.sandbox.ids import Ids

pytestmark = pytest.mark.sandbox(seed=7)


@pytest.mark.asyncio
async def test_breaks_a_rule(sandbox):
    sandbox.inside.record.violation("limit", "too many blocks", "chat.postMessage")


@pytest.mark.asyncio
@pytest.mark.sandbox(allow_violations=True)
async def test_may_break_a_rule(sandbox):
    sandbox.inside.record.violation("limit", "too many blocks", "chat.postMessage")


@pytest.mark.asyncio
@pytest.mark.sandbox(clock=1_800_000_000.0)
async def test_is_as_the_markers_say(sandbox):
    assert sandbox.clock() == 1_800_000_000.0
    assert sandbox.inside.ids.new("T") == Ids(7).new("T")
"""


# Another Python, which a busy machine starts slowly.
@pytest.mark.timeout(300)
def test_a_broken_rule_fails_the_test_unless_its_marker_allows_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["bot.sandbox.fixture"]\n')
    (tmp_path / "test_bot.py").write_text(STRANGERS_TESTS)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert "3 passed, 1 error" in ended.stdout, ended.stdout
    assert "limit: chat.postMessage too many blocks" in ended.stdout
    assert "ERROR test_bot.py::test_breaks_a_rule" in ended.stdout


async def test_what_people_do_and_see(sandbox: OpenSandbox) -> None:
    app = bolt_app(sandbox)

    @app.action("go")
    async def go(ack: Any) -> None:
        await ack()

    posted = await client_of(sandbox).chat_postMessage(
        channel="C0OPS", text="?", blocks=buttons("go")
    )
    await client_of(sandbox).chat_postEphemeral(channel="C0OPS", user="U0BOB", text="psst")
    async with connected(app):
        said = await sandbox.act("U0BOB", "click", channel="C0OPS", ts=posted["ts"], action_id="go")
    assert said["acknowledged"]
    assert [one["text"] for one in sandbox.messages("C0OPS")] == ["?"]
    assert [one["ts"] for one in sandbox.messages("C0OPS", posted["ts"])] == [posted["ts"]]
    assert [one["text"] for one in sandbox.ephemerals("U0BOB")] == ["psst"]
    assert sandbox.ephemerals("U0ALICE") == []
    assert sandbox.views("U0BOB") == []
    assert sandbox.home("U0BOB") is None
    assert [one["arguments"]["text"] for one in sandbox.calls("chat.postMessage")] == ["?"]
    (click,) = sandbox.deliveries("interactive")
    assert click["payload"]["actions"][0]["action_id"] == "go"


async def test_what_was_looked_at_does_not_change_afterwards(sandbox: OpenSandbox) -> None:
    slack = client_of(sandbox)
    await slack.chat_postEphemeral(channel="C0OPS", user="U0BOB", text="psst")
    (before,) = sandbox.ephemerals("U0BOB")
    sandbox.inside.messages.change_ephemeral("C0OPS", before["ts"], {"text": "changed"})
    assert before["text"] == "psst"


async def test_who_or_what_is_not_there_is_told(sandbox: OpenSandbox) -> None:
    with pytest.raises(Refusal, match=r"No user U0NOBODY\. There are: U0ALICE"):
        await sandbox.act("U0NOBODY", "home")
    with pytest.raises(Refusal, match="`do` is one of message"):
        await sandbox.act("U0BOB", "dance")
    with pytest.raises(Refusal, match="No channel C0NONE"):
        sandbox.messages("C0NONE")
    with pytest.raises(Refusal, match=r"No message 1\.1 in C0OPS"):
        sandbox.messages("C0OPS", "1.1")
    with pytest.raises(Refusal, match="No user U0NOBODY"):
        sandbox.views("U0NOBODY")


async def test_what_never_comes_true_is_named(sandbox: OpenSandbox) -> None:
    with pytest.raises(AssertionError, match="never seen: a card"):
        await sandbox.until(lambda: None, "a card", seconds=0.05)
