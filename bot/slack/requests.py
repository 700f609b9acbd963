"""Slack over HTTP: what is not signed by Slack, now, gets 401 and nothing else happens."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_sdk.signature import SignatureVerifier

from bot.slack.incoming import Incoming

PATH = "/slack/events"


def slack_routes(
    incoming: Incoming, signing_secret: str, *, is_ending: Callable[[], bool] = lambda: False
) -> list[web.RouteDef]:
    """Everything that Slack sends arrives on one path. While ``is_ending`` nothing is taken any more:
    what can't be answered to the end is better sent again, or seen to fail. Slack sends no click again: by
    then whoever stands before this process is to have noticed that it ends.

    Raises ``ValueError`` for an empty secret."""
    verifier = SignatureVerifier(signing_secret)

    async def receive(request: web.Request) -> web.Response:
        body = await request.read()
        # Before anything looks into the body: Bolt would parse it first.
        if not _is_signed(verifier, request, body):
            return web.json_response({"error": "invalid request"}, status=401)
        if is_ending():
            return web.json_response({"error": "this process ends"}, status=503)
        answer = await incoming.request(
            # The signature can't be right unless this is text.
            body.decode(),
            request.content_type,
            query=request.query_string,
            headers=request.headers,
        )
        return await to_aiohttp_response(answer)

    return [web.post(PATH, receive)]


def _is_signed(verifier: SignatureVerifier, request: web.Request, body: bytes) -> bool:
    """By Slack, at most five minutes ago. What can't be checked is not."""
    try:
        return verifier.is_valid(
            body,
            request.headers.get("X-Slack-Request-Timestamp"),
            request.headers.get("X-Slack-Signature"),
        )
    except (TypeError, ValueError, OverflowError):
        return False
