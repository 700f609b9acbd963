"""One bot process: ready when it is, ended when it is told to, never half."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from bot.demo.child import ANNOUNCED, environment
from bot.demo.tether import Tether
from bot.process import store_answers
from bot.sandbox.delivery.http import signature
from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from store import open_store
from tests.bot_process.test_demo import answers, is_gone, until

#: A click whose answer waits is acknowledged after two seconds, of the three that Slack gives: how near that is on a
#: busy machine is not asked here.
PATIENT = Timing(ack=6.0)


@asynccontextmanager
async def serving(
    folder: Path, api_url: str, *, tether: Tether | None = None, **settings: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A bot process; it is killed if it outlives the block."""
    given = environment(os.environ, folder, api_url) | settings
    fds = (tether.fd,) if tether else ()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "serve"),
        *(("--parent-fd", str(tether.fd)) if tether else ()),
        cwd=folder,
        env=given,
        pass_fds=fds,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()
    assert ANNOUNCED.match(line)
    return line.rsplit(" ", 1)[1]


async def test_it_is_alive_before_it_is_ready_and_ready_once_slack_is_there(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    api_url = f"http://127.0.0.1:{port}/api/"
    async with serving(tmp_path, api_url) as process, aiohttp.ClientSession() as session:
        url = await address(process)
        assert await answers(session, f"{url}/healthz", 200)()

        async def only_slack_is_missing() -> bool:
            async with session.get(f"{url}/readyz") as answer:
                missing: list[str] = (await answer.json())["missing"]
                return answer.status == 503 and missing == ["slack"]

        await until(only_slack_is_missing)
        async with open_sandbox(port=port):
            await until(answers(session, f"{url}/readyz", 200))
            process.send_signal(signal.SIGTERM)
            _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert b"xoxb-" not in err
    assert b"xapp-" not in err


async def test_http_mode_is_ready_when_slack_knows_us_and_takes_only_what_is_signed(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with (
        serving(
            tmp_path,
            sandbox.api_url,
            SLACK_APP_TOKEN="",
            SLACK_SIGNING_SECRET="sandbox-secret",
            # No balancer looks.
            PILOTHOUSE_DRAIN_SECONDS="0",
        ) as process,
        aiohttp.ClientSession() as session,
    ):
        url = await address(process)
        await until(answers(session, f"{url}/readyz", 200))
        async with session.post(f"{url}/slack/events", data=b"{}") as answer:
            assert answer.status == 401
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_it_is_not_ready_before_slack_has_said_who_it_is(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    sandbox.faults.add(method="auth.test", error="invalid_auth")
    async with (
        serving(tmp_path, sandbox.api_url) as process,
        aiohttp.ClientSession() as session,
    ):
        url = await address(process)
        await until(answers(session, f"{url}/readyz", 200))
        assert [one["ok"] for one in sandbox.calls("auth.test")] == [False, True]
        process.send_signal(signal.SIGTERM)
        _, err = await process.communicate()
    assert err.count(b"Slack does not say who we are: SlackApiError (invalid_auth)") == 1


async def test_clicks_are_taken_until_a_balancer_has_noticed_that_the_process_ends(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    deliver = [f"http://127.0.0.1:{port}/slack/events"]
    async with (
        open_sandbox(Sandbox(deliver=deliver, timing=PATIENT), allow_violations=True) as sandbox,
        serving(
            tmp_path,
            sandbox.api_url,
            SLACK_APP_TOKEN="",
            SLACK_SIGNING_SECRET="sandbox-secret",
            PILOTHOUSE_HTTP_PORT=str(port),
        ) as process,
        aiohttp.ClientSession() as session,
    ):
        url = await address(process)
        await until(answers(session, f"{url}/readyz", 200))
        first, second = await asked_card(sandbox, "ORD-1"), await asked_card(sandbox, "ORD-2")
        # Whoever waits for an answer keeps the process for longer than clicks are taken, by enough to be seen
        # on a machine that stands still for a while.
        sandbox.faults.add(method="users.info", contains="U0FRANK", latency=14)
        assert (await approve(sandbox, "U0FRANK", first))["acknowledged"]
        process.send_signal(signal.SIGTERM)
        await until(answers(session, f"{url}/readyz", 503))
        assert (await approve(sandbox, "U0BOB", second))["acknowledged"]

        async def nothing_is_taken() -> bool:
            timestamp = str(int(time.time()))
            headers = {
                "X-Slack-Request-Timestamp": timestamp,
                "X-Slack-Signature": signature(timestamp, b"{}"),
            }
            async with session.post(f"{url}/slack/events", data=b"{}", headers=headers) as answer:
                return answer.status == 503

        await until(nothing_is_taken)
        assert await process.wait() == 0
    store = await open_store(f"sqlite:///{tmp_path / 'pilothouse.db'}")
    decided = await store.lists.approvals(limit=10, pending_only=False)
    await store.close()
    assert [one.status for one in decided] == ["approved", "approved"]


async def test_whoever_was_told_that_it_is_being_saved_is_told_the_end_of_it(
    tmp_path: Path,
) -> None:
    async with (
        open_sandbox(Sandbox(timing=PATIENT), allow_violations=True) as sandbox,
        serving(tmp_path, sandbox.api_url) as process,
        aiohttp.ClientSession() as session,
    ):
        url = await address(process)
        await until(answers(session, f"{url}/readyz", 200))
        card = await asked_card(sandbox, "ORD-1")
        # Longer than it waits for answers before its worker ends.
        sandbox.faults.add(method="users.info", contains="U0FRANK", latency=6)
        assert (await approve(sandbox, "U0FRANK", card))["acknowledged"]
        process.send_signal(signal.SIGTERM)
        await until(answers(session, f"{url}/readyz", 503))
        late = await approve(sandbox, "U0BOB", card)
        assert not late["acknowledged"]
        assert await process.wait() == 0
        first, last = [one["text"] for one in sandbox.ephemerals("U0FRANK")]
    assert first.startswith("Still saving your decision")
    assert last.startswith("Your decision was saved")


async def asked_card(sandbox: OpenSandbox, order: str) -> str:
    """The ``ts`` of the card by which a refund of this order is asked about."""
    acted = await sandbox.act(
        "U0ALICE", "message", channel="C0SUPPORT", text=f"@Pilothouse refund {order} 180"
    )
    return await sandbox.until(lambda: a_card(sandbox, acted["ts"]), "the card")


async def approve(sandbox: OpenSandbox, user: str, card: str) -> dict[str, Any]:
    return await sandbox.act(
        user, "click", channel="C0SUPPORT", ts=card, action_id="approval.approve"
    )


def a_card(sandbox: OpenSandbox, thread_ts: str) -> str | None:
    """The ``ts`` of the thread's approval message, once it is there."""
    thread = sandbox.messages("C0SUPPORT", thread_ts)
    return next((one["ts"] for one in thread if "approval.approve" in str(one)), None)


async def test_a_taken_port_is_said_in_one_line_and_nothing_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        nowhere = "http://127.0.0.1:9/api/"
        async with serving(tmp_path, nowhere, PILOTHOUSE_HTTP_PORT=str(port)) as process:
            out, err = await process.communicate()
    assert process.returncode == 1
    assert out == b""
    assert err.decode().splitlines() == [
        f"Port {port} on 127.0.0.1 is taken. Nothing was started; "
        "choose another with --port or PILOTHOUSE_HTTP_PORT (0 takes a free one)."
    ]


async def test_it_ends_when_whoever_holds_its_tether_is_gone(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    with Tether() as tether:
        async with (
            serving(tmp_path, sandbox.api_url, tether=tether) as process,
            aiohttp.ClientSession() as session,
        ):
            url = await address(process)
            await until(answers(session, f"{url}/readyz", 200))
            tether.let_go()
            await until(is_gone(session, f"{url}/healthz"))
            assert await asyncio.wait_for(process.wait(), 20) in (0, 1)


async def test_it_is_not_ready_while_its_store_is_away(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'p.db'}")
    assert await store_answers(store)
    await store.close()
    assert not await store_answers(store)
