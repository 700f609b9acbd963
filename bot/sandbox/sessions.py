"""What an agent says of itself in a thread: its status, the thread's title, suggested prompts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from bot.sandbox.wire import Json, SlackError

Status = Literal["active", "processing", "suspended", "closed"]
STATUSES: tuple[str, ...] = get_args(Status)
#: A free-text status goes after two minutes, or when the app posts.
STATUS_SECONDS = 120.0


@dataclass
class Session:
    status: str
    title: str = ""
    initiator: str = ""


@dataclass
class _Thread:
    status: str = ""
    loading_messages: list[str] = field(default_factory=list)
    status_since: float = 0.0
    title: str = ""
    prompts: Json | None = None
    session: Session | None = None


class Sessions:
    """By channel and thread; kept in memory only.

    A free-text status and a session's share one place on the screen, and the last one wins: people
    report so. Here each is kept, and whoever looks sees both.
    """

    def __init__(self, clock: Callable[[], float], touch: Callable[[], int]) -> None:
        self._clock = clock
        self._touch = touch
        self._threads: dict[tuple[str, str], _Thread] = {}

    def say(self, channel: str, thread_ts: str, status: str, loading: list[str]) -> None:
        """A free-text status ("is thinking…"); an empty one takes it away."""
        thread = self._thread(channel, thread_ts)
        thread.status, thread.loading_messages = status, loading
        thread.status_since = self._clock()

    def spoke(self, channel: str, thread_ts: str | None) -> None:
        """The app posted: the free-text status goes."""
        if thread_ts and (channel, thread_ts) in self._threads:
            self._thread(channel, thread_ts).status = ""

    def entitle(self, channel: str, thread_ts: str, title: str) -> None:
        self._thread(channel, thread_ts).title = title

    def suggest(self, channel: str, thread_ts: str, prompts: Json) -> None:
        """Without a thread: at the top of the direct message."""
        self._thread(channel, thread_ts).prompts = prompts

    def session(self, channel: str, thread_ts: str) -> Session | None:
        thread = self._threads.get((channel, thread_ts))
        return thread.session if thread else None

    def set_status(
        self, channel: str, thread_ts: str, status: str, title: str = "", initiator: str = ""
    ) -> Session:
        """Begins the session if there is none; only then title and initiator count.

        Raises `invalid_status`.
        """
        if status not in STATUSES:
            raise SlackError("invalid_status")
        thread = self._thread(channel, thread_ts)
        if thread.session is None:
            thread.session = Session(status, title, initiator)
        thread.session.status = status
        return thread.session

    def as_json(self, channel: str, thread_ts: str) -> Json:
        """What can be seen in that thread now."""
        thread = self._threads.get((channel, thread_ts), _Thread())
        is_over = self._clock() - thread.status_since > STATUS_SECONDS
        shown = thread.session
        return {
            "status": "" if is_over else thread.status,
            "loading_messages": [] if is_over else thread.loading_messages,
            "title": thread.title,
            "suggested_prompts": thread.prompts,
            "session": shown and asdict(shown),
        }

    def seen(self) -> list[Json]:
        """Of each thread in which an agent says anything now, with `channel` and `thread_ts`."""
        return [
            {"channel": channel, "thread_ts": thread_ts, **found}
            for channel, thread_ts in self._threads
            if any((found := self.as_json(channel, thread_ts)).values())
        ]

    def _thread(self, channel: str, thread_ts: str) -> _Thread:
        self._touch()
        return self._threads.setdefault((channel, thread_ts), _Thread())
