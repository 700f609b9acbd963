"""Messages that are being streamed: who sees them, and when and how they end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.sandbox.chunks import Draft, Mode
from bot.sandbox.content import Content
from bot.sandbox.guesses import Guesses
from bot.sandbox.ids import Ids
from bot.sandbox.messages import Messages
from bot.sandbox.posting import Posting
from bot.sandbox.wire import Json, SlackError, copied
from bot.sandbox.workspace import BOT, Channel

#: The values of a message's `streaming_state`: Slack's types have the name, and no list of values.
RUNNING, COMPLETE, FAILED = "in_progress", "completed", "errored"


@dataclass
class Stream:
    channel: Channel
    ts: str
    #: In a channel one person sees it grow; None: everybody in a direct message does.
    recipient: str | None
    draft: Draft
    began_at: float
    appended_at: float
    stopped_by_user: bool = False
    #: What the others in a channel see until it ends: what came with the first content.
    first: Json = field(default_factory=dict)


class Streams:
    """Kept in memory only: after a restart of the sandbox no stream goes on.

    A stream that is over is noticed when it is next asked for: until then its message says that it
    is running. Of what is appended the app gets no events (a guess), of the end it does.
    """

    def __init__(
        self,
        messages: Messages,
        posting: Posting,
        clock: Callable[[], float],
        ids: Ids,
        guesses: Guesses,
    ) -> None:
        self._messages = messages
        self._posting = posting
        self._clock = clock
        self._ids = ids
        self._guesses = guesses
        self._running: dict[tuple[str, str], Stream] = {}

    def start(
        self,
        channel: Channel,
        thread_ts: str | None,
        recipient: str | None,
        draft: Draft,
        author: Json,
    ) -> Json:
        """A message that can be appended to, with what the draft holds already."""
        self._check_size(draft)
        content = Content(**draft.shown(), author=author)
        message = self._posting.post(channel, content, thread_ts, streaming_state=RUNNING)
        now = self._clock()
        stream = Stream(channel, message["ts"], recipient, draft, now, now)
        self._running[(channel.id, message["ts"])] = stream
        self._note_first(stream)
        return message

    def append(self, channel: Channel, ts: str, chunks: list[Json], mode: Mode) -> None:
        """Raises `message_not_in_streaming_state`, `stopped_by_user`, `msg_too_long` …"""
        stream = self._of(channel, ts)
        if stream.stopped_by_user:
            raise SlackError("stopped_by_user")
        stream.draft = self._grown(stream, chunks, mode)
        stream.appended_at = self._clock()
        self._posting.change(channel, ts, stream.draft.shown(), quietly=True)
        self._note_first(stream)

    def stop(
        self, channel: Channel, ts: str, chunks: list[Json], mode: Mode, last: Content
    ) -> Json:
        """Finalize, with blocks and metadata below all that was streamed."""
        stream = self._of(channel, ts)
        draft = self._grown(stream, chunks, mode)
        fields = last.fields() | draft.shown() | {"streaming_state": COMPLETE}
        fields["blocks"] = [*fields["blocks"], *last.blocks] or None
        del self._running[(channel.id, ts)]
        return self._posting.change(channel, ts, fields)

    def stop_by_person(self, channel: Channel, thread_ts: str) -> list[str]:
        """A person presses Stop: nothing more is taken for these messages of the thread."""
        self._settle()
        stopped = []
        for stream in self._running.values():
            if stream.channel is not channel:
                continue
            parent = self._messages.read(channel.id, stream.ts).get("thread_ts")
            if thread_ts in (parent, stream.ts):
                stream.stopped_by_user = True
                stopped.append(stream.ts)
        return stopped

    def check_editable(self, channel: Channel, ts: str) -> None:
        """Raises `streaming_state_conflict`."""
        self._settle()
        if (channel.id, ts) in self._running:
            raise SlackError("streaming_state_conflict")

    def seen_by(self, user: str, channel: str, message: Json) -> Json:
        """The message as this person sees it."""
        stream = self._running.get((channel, message["ts"]))
        if stream is None or stream.recipient in (None, user):
            return message
        return {**message, "text": "", "blocks": [], **stream.first}

    def end_interrupted(self) -> None:
        """After a restart: what was being streamed before is over."""
        for channel, ts in list(self._messages.changed_since(-1)):
            if self._messages.read(channel, ts).get("streaming_state") == RUNNING:
                self._messages.change(channel, ts, streaming_state=FAILED)

    def _of(self, channel: Channel, ts: str) -> Stream:
        self._settle()
        message = self._messages.read(channel.id, ts)
        if message.get("bot_id") != BOT:
            raise SlackError("message_not_owned_by_app")
        if (channel.id, ts) not in self._running:
            raise SlackError("message_not_in_streaming_state")
        return self._running[(channel.id, ts)]

    def _settle(self) -> None:
        """End what is over, and forget what was deleted."""
        for place, stream in list(self._running.items()):
            if not self._messages.exists(*place):
                del self._running[place]
            elif self._is_over(stream):
                del self._running[place]
                # Slack's clients say "Something went wrong" until the message is edited.
                self._messages.change(*place, streaming_state=FAILED)

    def _is_over(self, stream: Stream) -> bool:
        total = self._guesses.stream_ends == "total"
        since = stream.began_at if total else stream.appended_at
        return self._clock() - since > self._guesses.stream_seconds

    def _grown(self, stream: Stream, chunks: list[Json], mode: Mode) -> Draft:
        """A copy with more in it, so that what is refused leaves nothing behind."""
        draft = copy.deepcopy(stream.draft)
        draft.add(chunks, mode, self._ids)
        self._check_size(draft)
        return draft

    def _check_size(self, draft: Draft) -> None:
        if draft.size() > self._guesses.stream_bytes:
            raise SlackError("msg_too_long")

    def _note_first(self, stream: Stream) -> None:
        if not stream.first and stream.draft.parts:
            stream.first = copied(stream.draft.shown())
