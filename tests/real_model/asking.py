"""A real model answers over each wire, and a run comes to its end with what it says, whatever that is.

``make test-model`` runs it, and nothing else does: half a minute, and 130 MB to be fetched the first time.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import Agent, Runtime, Toolbox
from agent.models.library import LibraryModel
from store import open_store
from tests.agent.engine.bench import ALICE
from tests.store.files import with_tables

SERVE = Path(__file__).with_name("serve.py")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the model is served."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    python = os.environ["MODEL_PYTHON"]
    with subprocess.Popen(
        [python, str(SERVE), str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.stdin.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["openai-chat:smol", "openai:smol", "anthropic:smol"])
async def test_a_run_ends_with_what_a_real_model_says(
    name: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for vendor, path in (("OPENAI", "/v1"), ("ANTHROPIC", "")):
        monkeypatch.setenv(f"{vendor}_BASE_URL", f"{address}{path}")
        monkeypatch.setenv(f"{vendor}_API_KEY", "any")
    agent = Agent("helper", LibraryModel(name), Toolbox(), instructions="Answer in a few words.")
    store = await open_store(with_tables(tmp_path / "runs.db"))
    try:
        runtime = Runtime([agent], store)
        run_id = await runtime.start("What is the capital of France?", requester=ALICE)
        state = await runtime.settle(run_id)
    finally:
        await store.close()
    assert (state.ending, state.error) == ("finished", None)
    assert state.answer
    # It has no price, and has used something.
    assert (state.input_tokens > 10, state.output_tokens > 0, state.unpriced) == (True, True, 1)
