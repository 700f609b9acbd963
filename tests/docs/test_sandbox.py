"""What docs/sandbox.md names is there, and what is there it names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from bot.sandbox.act.server import ACTS
from bot.sandbox.app import make_app
from bot.sandbox.faults.fault import EFFECTS
from bot.sandbox.guesses import Guesses
from bot.sandbox.opened import OpenSandbox
from bot.sandbox.ordering.at_once import AT_ONCE
from bot.sandbox.policies import Policies
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.methods import METHODS

DOCS = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
FAULTS = re.findall(r"^\| `(\{.*?\})` \|", DOCS, re.M)


@pytest.mark.parametrize("example", FAULTS)
async def test_every_fault_that_it_shows_is_taken(sandbox: OpenSandbox, example: str) -> None:
    place = sandbox.inside.workspace.channel("C0OPS")
    said, _ = sandbox.inside.posting.say(
        sandbox.inside.workspace.user("U0BOB"), place, "x", [], None
    )
    fault = json.loads(example.replace('"TS"', f'"{said["ts"]}"'))
    if any(name in AT_ONCE for name in fault):
        assert (await sandbox.faults.now(**fault))["ok"]
    else:
        sandbox.faults.add(**fault)
        assert len(sandbox.faults.waiting) == 1


def test_every_fault_is_shown() -> None:
    shown = {name for example in FAULTS for name in json.loads(example)}
    assert {*EFFECTS, *AT_ONCE} <= shown


@pytest.mark.parametrize(
    "names",
    [ACTS, METHODS, [one.name for one in fields(Guesses)], [one.name for one in fields(Policies)]],
    ids=["acts", "methods", "guesses", "policies"],
)
def test_everything_there_is_has_its_place(names: list[str]) -> None:
    assert [name for name in names if f"`{name}`" not in DOCS and f".{name}`" not in DOCS] == []


def test_everything_that_is_served_of_its_own_is_named() -> None:
    served = [one.canonical for one in make_app(Sandbox()).router.resources()]
    own = {one.partition("{")[0] for one in served if one.startswith(("/sandbox/", "/faces/"))}
    assert len(own) > 10
    assert [one for one in sorted(own) if one not in DOCS] == []


def test_no_method_is_promised_that_is_not_there() -> None:
    promised = re.findall(
        r"`((?:api|auth|apps|team|bots|users|usergroups|chat|views|conversations|reactions|assistant"
        r"|agents|files|blocks)\.[\w.]+)`",
        DOCS,
    )
    assert set(promised) == set(METHODS)


def test_every_option_is_there() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "bot", "sandbox", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    options = set(re.findall(r"--[a-z-]+", told)) - {"--help"}
    assert options == set(re.findall(r"--[a-z-]+(?=[ `])", DOCS))


MY_BOT = """
from contextlib import asynccontextmanager

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient


@asynccontextmanager
async def my_bot(api_url):
    app = AsyncApp(client=AsyncWebClient(token="xoxb-sandbox", base_url=api_url))

    @app.event("app_mention")
    async def mention(event, say):
        await say("Hello!", thread_ts=event["ts"])

    @app.event("message")
    async def message():
        pass

    handler = AsyncSocketModeHandler(app, "xapp-sandbox")
    await handler.connect_async()
    yield
    await handler.close_async()


"""


def test_the_test_that_it_shows_passes(tmp_path: Path) -> None:
    conftest, shown = re.findall(r"```python\n(.*?)```", DOCS, re.S)
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_bot.py").write_text(MY_BOT + shown)
    proxies = {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name not in proxies},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert "1 passed" in ended.stdout, ended.stdout
