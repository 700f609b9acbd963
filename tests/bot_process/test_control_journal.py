"""What a bot process takes down when it begins."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

from bot.build import BUILD
from bot.sandbox.opened import OpenSandbox
from tests.bot_process.test_serve import address, serving
from tests.store.database import ask


async def test_the_policy_that_holds_is_taken_down_once(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    for _ in range(2):
        async with serving(tmp_path, sandbox.api_url) as process:
            await address(process)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
            assert process.stderr is not None
            told = (await process.stderr.read()).decode()
            versions = re.findall(r"INFO \S+: agent refunds is judged by policy (\w{12})\n", told)
            assert len(versions) == 1
    url = f"sqlite:///{tmp_path / 'pilothouse.db'}"
    (event,) = [json.loads(body) for (body,) in ask(url, "SELECT body FROM control_journal")]
    assert (event["kind"], event["agent"], event["build"]) == ("policy_loaded", "refunds", BUILD)
    assert versions == [event["policy_version"]]
