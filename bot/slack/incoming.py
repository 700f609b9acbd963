"""What Slack sends, by either transport, on its way to Bolt: made readable, and always answered.

Bolt looks into payloads before any listener or error handler of ours does, and takes more for
granted than we need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.request.internals import parse_body
from slack_bolt.response import BoltResponse

from bot.slack.last_resort import last_resort
from bot.slack.messages import is_of_a_bot
from bot.slack.services import Services


class Incoming:
    """The one way in. Neither method raises."""

    def __init__(self, app: AsyncApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def request(
        self, body: str, content_type: str, *, query: str, headers: Mapping[str, str]
    ) -> BoltResponse:
        """The answer to a request, whose signature has been checked."""
        payload: object = None
        try:
            payload = parse_body(body, content_type)
            return await self._dispatch(
                AsyncBoltRequest(body=body, query=query, headers={**headers})
            )
        except Exception as error:
            return last_resort(self._services, payload, error)

    async def envelope(self, payload: object) -> BoltResponse:
        """The answer to what came through a socket."""
        try:
            if not isinstance(payload, dict):
                raise TypeError("a payload that is no object")
            return await self._dispatch(AsyncBoltRequest(mode="socket_mode", body=payload))
        except Exception as error:
            return last_resort(self._services, payload, error)

    async def _dispatch(self, request: AsyncBoltRequest) -> BoltResponse:
        if is_of_a_bot(request.body):
            # Most of what comes: each message and edit of ours does.
            return BoltResponse(status=200, body="")
        _complete(request.body)
        return await self._app.async_dispatch(request)


def _complete(payload: Mapping[str, Any]) -> None:
    """Put in what Bolt can't do without and is clear all the same: only modals are sent off."""
    view = payload.get("view")
    if payload.get("type") in ("view_submission", "view_closed") and isinstance(view, dict):
        view.setdefault("type", "modal")
