"""The calls to Slack that a streamed message needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.cards.blocks import Block
from bot.slack.cards.live import Chunk
from bot.slack.ids import METADATA_TYPE, Address, Place
from bot.slack.thread.edge import AnswerLost, data_of


@dataclass(frozen=True, slots=True)
class SlackStreams:
    """Each call raises ``SlackRefused`` or ``AnswerLost``. Any process of the app may go on with a stream, by where it
    stands."""

    client: AsyncWebClient

    async def start(self, at: Place, chunks: Sequence[Chunk]) -> Address:
        """A new message in the thread of a direct message. That can't be repeated."""
        said = await data_of(
            self.client.chat_startStream(
                channel=at.channel, thread_ts=at.thread_ts or "", chunks=list(chunks)
            )
        )
        ts = said.get("ts")
        if not isinstance(ts, str) or not Address.is_one(f"{at.channel}/{ts}"):
            raise AnswerLost("ok without a ts")
        return Address(at.channel, ts)

    async def append(self, address: Address, chunks: Sequence[Chunk]) -> None:
        """Tasks can be sent again; anything else would stand there twice."""
        await data_of(
            self.client.chat_appendStream(
                channel=address.channel, ts=address.ts, chunks=list(chunks)
            )
        )

    async def stop(
        self,
        address: Address,
        chunks: Sequence[Chunk] = (),
        blocks: Sequence[Block] = (),
        *,
        run_id: str,
        key: str,
        status: str,
    ) -> None:
        """It is an ordinary message from now on, found by its metadata."""
        await data_of(
            self.client.chat_stopStream(
                channel=address.channel,
                ts=address.ts,
                chunks=list(chunks) or None,
                blocks=list(blocks) or None,
                metadata={
                    "event_type": METADATA_TYPE,
                    "event_payload": {"run_id": run_id, "key": key},
                },
                session_status=status,
            )
        )

    async def say_status(self, at: Place, status: str) -> None:
        """What Slack shows of the conversation as a whole."""
        await data_of(
            self.client.agents_sessions_setStatus(
                channel_id=at.channel, thread_ts=at.thread_ts, status=status
            )
        )
