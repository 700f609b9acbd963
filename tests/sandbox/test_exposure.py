"""The sandbox is this machine's own, unless somebody says otherwise in so many words."""

from __future__ import annotations

import aiohttp
import pytest

from bot.sandbox.app import NotAName, NotLoopback, RunningSandbox
from bot.sandbox.opened import OpenSandbox
from bot.sandbox.state import Sandbox


async def status(url: str, **headers: str) -> int:
    """Of a request that leaves a trace if it is let in."""
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{url}/sandbox/faults", json={"latency": 0}, headers=headers) as response,
    ):
        return response.status


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "127.0.0.1@evil.example"},
        {"Host": "[::1"},
        {"Host": ""},
    ],
)
async def test_other_sites_are_turned_away(sandbox: OpenSandbox, headers: dict[str, str]) -> None:
    assert await status(sandbox.url, **headers) == 403
    assert sandbox.faults.waiting == []


async def test_the_names_of_this_machine_are_let_in(sandbox: OpenSandbox) -> None:
    for host in ("127.0.0.1", "localhost", "LOCALHOST:3333", "[::1]:3333"):
        assert await status(sandbox.url, Host=host) == 200
    assert await status(sandbox.url, Origin=sandbox.url) == 200


async def test_a_page_elsewhere_may_lead_here_and_may_not_call(sandbox: OpenSandbox) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    frame = link | {"Sec-Fetch-Dest": "iframe"}
    own = {"Sec-Fetch-Site": "same-origin"}
    calling = "/api/chat.postMessage?token=xoxb-sandbox&channel=C0OPS&text=x"
    async with aiohttp.ClientSession(sandbox.url) as http:

        async def get(path: str, headers: dict[str, str]) -> int:
            async with http.get(path, headers=headers) as response:
                return response.status

        assert await get("/", link) == 200
        assert await get("/", frame) == 403
        assert await get(calling, link) == 403
        assert sandbox.messages("C0OPS") == []
        assert await get(calling, own) == 200


@pytest.mark.parametrize(
    "name", ["", "http://sandbox.test", "sandbox.test:3333", "a b", "-", "a/b"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    for host in ("127.0.0.1", "0.0.0.0"):
        with pytest.raises(NotAName, match="no name of a host"):
            RunningSandbox(Sandbox(), host=host, name=name)


async def test_it_answers_at_whichever_address_of_this_machine_it_listens_on() -> None:
    async with RunningSandbox(Sandbox(), host="127.0.0.2") as running:
        assert running.url.startswith("http://127.0.0.2:")
        assert await status(running.url) == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", ""])
def test_no_other_address_is_listened_on_without_a_name(host: str) -> None:
    with pytest.raises(NotLoopback, match="there is no password"):
        RunningSandbox(Sandbox(), host=host)


async def test_exposed_it_answers_to_its_name_and_to_no_other() -> None:
    async with RunningSandbox(Sandbox(), host="0.0.0.0", name="Sandbox.Test") as running:
        here = f"http://127.0.0.1:{running.port}"
        assert running.api_url == f"http://Sandbox.Test:{running.port}/api/"
        assert await status(here, Host=f"sandbox.test:{running.port}") == 200
        assert await status(here) == 200
        assert await status(here, Host="evil.example") == 403
