"""Slack over HTTP: what is not signed by Slack, now, gets 401 and nothing else happens."""

from __future__ import annotations

import logging

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

PATH = "/slack/events"

_log = logging.getLogger(__name__)


def slack_routes(app: AsyncApp, signing_secret: str) -> list[web.RouteDef]:
    """Everything that Slack sends arrives on one path. Raises ``ValueError`` for an empty secret."""
    verifier = SignatureVerifier(signing_secret)

    async def receive(request: web.Request) -> web.Response:
        body = await request.read()
        # Before anything looks into the body: Bolt would parse it first.
        if not _is_signed(verifier, request, body):
            return web.json_response({"error": "invalid request"}, status=401)
        try:
            asked = AsyncBoltRequest(
                body=body.decode(),
                query=request.query_string,
                headers={name: value for name, value in request.headers.items()},
            )
        except Exception as error:
            # Bolt reads ids out of any payload, whatever it is.
            _log.warning("A signed request can't be read: %s", type(error).__name__)
            return web.json_response({"error": "unreadable payload"}, status=400)
        return await to_aiohttp_response(await app.async_dispatch(asked))

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
