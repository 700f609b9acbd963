"""The three calls by which Slack takes a file, the one that takes it back, and what can come of each."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.clients import ANSWER_WITHIN
from bot.slack.thread.edge import AnswerLost, NotSent, RateLimited, SlackRefused, data_of

#: Slack's words where nothing is left to be taken back.
_GONE: Final = {"file_not_found", "file_deleted"}
_TOO_MANY: Final = 429
_PAUSE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Announced:
    """A file that Slack expects, and that nobody sees yet."""

    id: str
    #: Who knows it may upload: a secret.
    url: str


class SlackFiles:
    """Each call raises ``SlackRefused`` or ``AnswerLost``. ``client`` must have no retry handlers."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client

    async def announce(self, name: str, length: int) -> Announced:
        """Nothing comes of it unless the file is shared."""
        answer = await data_of(
            self._client.files_getUploadURLExternal(filename=name, length=length)
        )
        file_id, url = answer.get("file_id"), answer.get("upload_url")
        if not isinstance(file_id, str) or not isinstance(url, str) or not file_id.isalnum():
            raise AnswerLost("ok without a file")
        return Announced(file_id, url)

    async def upload(self, announced: Announced, content: bytes) -> None:
        """The bytes; nobody sees them yet."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN), aiohttp.ClientSession() as session:
                answer = await session.post(
                    announced.url,
                    data=content,
                    proxy=self._client.proxy,
                    ssl=self._client.ssl or True,
                )
        except aiohttp.ClientConnectorError as error:
            raise NotSent("unreachable") from error
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise AnswerLost(type(error).__name__) from error
        if answer.status == _TOO_MANY:
            raise RateLimited("ratelimited", _PAUSE_SECONDS)
        if answer.status >= 500:
            raise AnswerLost(f"status {answer.status}")
        if answer.status != 200:
            raise SlackRefused("upload_refused")

    async def share(
        self, file_id: str, title: str, channel: str, thread_ts: str | None, comment: str
    ) -> None:
        """Have it stand there, in a message of its own: a little later, and now and then not at all, whatever Slack
        answers."""
        await data_of(
            self._client.files_completeUploadExternal(
                files=[{"id": file_id, "title": title}],
                channel_id=channel,
                thread_ts=thread_ts,
                initial_comment=comment,
            )
        )

    async def take_back(self, file_id: str) -> None:
        """It stands nowhere any more, nor will it; one that is gone is gone."""
        try:
            await data_of(self._client.files_delete(file=file_id))
        except SlackRefused as error:
            if error.code not in _GONE:
                raise
