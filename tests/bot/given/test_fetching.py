"""The app's token goes to Slack alone, and what comes back is bounded and no page to sign in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.clients import slack_client
from bot.slack.given import fetching
from bot.slack.given.fetching import NotFetched, fetch
from bot.slack.given.readable import GONE, NOT_LET, NOT_NOW, NOT_WHOLE
from bot.slack.given.shared import SharedFile


class Host:
    """Answers under each path as a test wants it to, and keeps who asked with what."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        routes = web.RouteTableDef()

        @routes.get("/{path}")
        async def answer(request: web.Request) -> web.StreamResponse:
            path = request.match_info["path"]
            self.asked.append((path, request.headers.get("Authorization")))
            match path:
                case "sign-in":
                    raise web.HTTPFound("/page")
                case "page":
                    return web.Response(text="<html>Sign in</html>", content_type="text/html")
                case "large":
                    return await _endless(request)
                case "cut":
                    response = web.StreamResponse(headers={"Content-Length": "9"})
                    await response.prepare(request)
                    request.transport.close() if request.transport else None
                    return response
                case _ if path.isdigit():
                    return web.Response(status=int(path), text="no")
            return web.Response(text="order,amount")

        app = web.Application()
        app.add_routes(routes)
        self.server = TestServer(app)


async def _endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    try:
        while True:
            await response.write(b"x" * 65_536)
    except (ConnectionError, asyncio.CancelledError):
        return response


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    host = Host()
    async with host.server:
        yield host


def client(host: Host) -> AsyncWebClient:
    return slack_client("xoxb-secret", str(host.server.make_url("/api/")))


def at(url: object, mimetype: str = "text/csv", size: int | None = None) -> SharedFile:
    return SharedFile(id="F1", name="a.csv", mimetype=mimetype, url=str(url), size=size)


async def test_what_is_shorter_than_slack_says_is_not_taken_for_all_of_it(host: Host) -> None:
    url = host.server.make_url("/a")
    assert await fetch(client(host), at(url, size=12)) == b"order,amount"
    with pytest.raises(NotFetched) as error:
        await fetch(client(host), at(url, size=13))
    assert error.value.why == NOT_WHOLE


async def test_slack_is_asked_with_the_token_and_its_answer_is_what_there_is(host: Host) -> None:
    assert await fetch(client(host), at(host.server.make_url("/a"))) == b"order,amount"
    assert host.asked == [("a", "Bearer xoxb-secret")]
    page = at(host.server.make_url("/page"), "text/html")
    assert await fetch(client(host), page) == b"<html>Sign in</html>", "it is one"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("sign-in", NOT_LET),
        ("page", NOT_LET),
        ("403", NOT_LET),
        ("404", GONE),
        ("429", NOT_NOW),
        ("500", NOT_NOW),
        ("cut", NOT_NOW),
        ("large", "it is too large, and only text of up to 200 KB a file is read"),
    ],
)
async def test_what_is_no_file_is_refused_and_nobody_is_followed(
    host: Host, path: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(NotFetched) as refused:
        await fetch(client(host), at(host.server.make_url(f"/{path}?secret=abc")))
    assert refused.value.why == why
    assert [one for one, _ in host.asked] == [path]
    assert "secret" not in caplog.text


async def test_a_slack_that_is_away_is_said_to_be(host: Host) -> None:
    url, asking = host.server.make_url("/a"), client(host)
    await host.server.close()
    with pytest.raises(NotFetched, match=NOT_NOW):
        await fetch(asking, at(url))


async def test_the_token_goes_nowhere_else(host: Host) -> None:
    other = Host()
    async with other.server:
        elsewhere = other.server.make_url("/a")
        for url in (elsewhere, elsewhere.with_scheme("https"), "", "no address", "http://[::1"):
            with pytest.raises(NotFetched, match=NOT_NOW):
                await fetch(client(host), at(url))
    assert other.asked == []


@pytest.mark.parametrize(
    ("url", "base", "is_slacks"),
    [
        ("https://files.slack.com/files-pri/T1-F1/download/a.txt", "https://slack.com/api/", True),
        ("https://files.slack.com:443/a", "https://slack.com/api/", True),
        ("https://files.slack-gov.com/a", "https://slack-gov.com/api/", True),
        ("http://127.0.0.1:3333/files-pri/a", "http://127.0.0.1:3333/api/", True),
        ("https://files.slack-gov.com/a", "https://slack.com/api/", False),
        ("http://files.slack.com/a", "https://slack.com/api/", False),
        ("https://files.slack.com:8443/a", "https://slack.com/api/", False),
        ("https://files.slack.com.evil.example/a", "https://slack.com/api/", False),
        ("https://evilslack.com/a", "https://slack.com/api/", False),
        ("https://files.slack.com@evil.example/a", "https://slack.com/api/", False),
        ("https://evil.example\\@files.slack.com/a", "https://slack.com/api/", False),
        ("https://evil.example#@files.slack.com/a", "https://slack.com/api/", False),
        ("//files.slack.com/a", "https://slack.com/api/", False),
        ("file:///etc/passwd", "https://slack.com/api/", False),
        ("http://127.0.0.1:3334/a", "http://127.0.0.1:3333/api/", False),
        ("https://slack-files.s3.amazonaws.com/a", "https://slack.com/api/", False),
    ],
)
def test_an_address_is_slacks_only_by_its_host(url: str, base: str, is_slacks: bool) -> None:
    assert (fetching._address(url, base) is not None) == is_slacks
