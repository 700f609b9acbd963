"""What can go wrong with agents and runs: they can't be begun, told something or taken on."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.errors.root import PilothouseError


class ConfigError(PilothouseError):
    """The agents, tools or policy can't be used as they are written."""

    code = "config"


class NoStore(ConfigError):
    """There is no store where the settings say, and whoever came only looks, so that none was made."""


class NotFound(PilothouseError):
    """Nothing has this id."""

    code = "not_found"

    def __init__(self, what: str, id: str) -> None:
        super().__init__(f"No {what} has the id {id}.")
        self.what = what
        self.id = id


class Purged(NotFound):
    """The run was there, and all of it has been removed: its time to be kept was over at ``at``."""

    code = "purged"

    def __init__(self, run_id: str, at: datetime, head_seq: int) -> None:
        super().__init__("run", run_id)
        self.args = (
            f"{run_id} was removed on {at:%Y-%m-%d}, as it had been kept for as long as retention says."
            f" It had {head_seq} event{'' if head_seq == 1 else 's'}. Nothing was done.",
        )
        self.run_id = run_id
        self.at = at
        self.head_seq = head_seq


class SessionBusy(PilothouseError):
    """The session has another active run; ``run_id`` names it."""

    code = "session_busy"

    def __init__(self, session: str, run_id: str) -> None:
        super().__init__(f"This conversation has a run that has not ended: {run_id}.")
        self.session = session
        self.run_id = run_id


class TooManyStarts(PilothouseError):
    """``requester`` has started as many runs of ``agent`` as one person may within ``within``; the next may be
    from ``free_at`` on."""

    code = "too_many_starts"

    def __init__(
        self, requester: str, agent: str, most: int, within: timedelta, free_at: datetime
    ) -> None:
        minutes = int(within.total_seconds() // 60)
        super().__init__(
            f"Nothing was started: {requester} has started {most} run{'' if most == 1 else 's'} of {agent} in the"
            f" last {minutes} minutes, which is as many as may be; again at {free_at:%Y-%m-%d %H:%M:%S} UTC."
        )
        self.requester = requester
        self.agent = agent
        self.most = most
        self.within = within
        self.free_at = free_at


class KeyReused(PilothouseError):
    """The key of this start, or the place of this message, stands for other words, which ``run_id`` has."""

    code = "idempotency_key_reused"

    def __init__(self, key: str, run_id: str) -> None:
        super().__init__(
            f"Nothing was done: the same came before with other words, and {run_id} has those."
        )
        self.key = key
        self.run_id = run_id


class OpeningGivenUp(PilothouseError):
    """The thread that was opened for the run has been given up, or was never written down; nothing was started."""

    code = "opening_given_up"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Nothing was started: opening the thread of {run_id} took too long, and was given up."
        )
        self.run_id = run_id


class NotFailed(PilothouseError):
    """Only a failed run can be taken on again; this one is ``status``."""

    code = "not_failed"

    def __init__(self, run_id: str, status: str) -> None:
        super().__init__(
            f"Nothing was done: {run_id} is {status}, and only a failed run can be taken on again."
        )
        self.run_id = run_id
        self.status = status


class GoneOn(PilothouseError):
    """It can't be taken on again: ``newest``, a later run of its session, was told what it left."""

    code = "gone_on"

    def __init__(self, run_id: str, newest: str) -> None:
        there = (
            f"the conversation of {run_id} has gone on with {newest}. Say there what is left to do."
        )
        super().__init__(f"Nothing was done: {there}")
        self.run_id = run_id
        self.newest = newest


class RunEnded(PilothouseError):
    """The run is ``status``: nothing can be said or done to it any more."""

    code = "run_ended"

    def __init__(self, run_id: str, status: str) -> None:
        super().__init__(f"Nothing was done: {run_id} is {status}.")
        self.run_id = run_id
        self.status = status


class PayloadsRemoved(RunEnded):
    """What the run was about has been removed: it can't be taken on, forked or replayed."""

    code = "payloads_removed"

    def __init__(self, run_id: str, status: str) -> None:
        super().__init__(run_id, status)
        self.args = (
            f"Nothing was done: arguments and results of {run_id} have been removed, as they had been kept for as"
            " long as retention says. What is left of it can be looked at.",
        )


class NoBoundary(PilothouseError):
    """The run can't be forked at ``seq``: a call was under way there, or its journal ends before it at ``head``.
    ``nearest`` is where it can."""

    code = "no_boundary"

    def __init__(self, run_id: str, seq: int, nearest: int | None, head: int) -> None:
        is_there = 1 <= seq <= head
        why = "a call was under way" if is_there else f"its journal goes from 1 to {head}"
        where = f" The nearest place is {nearest}." if nearest else ""
        super().__init__(f"Nothing was forked: {run_id} can't be forked at {seq}: {why}.{where}")
        self.run_id = run_id
        self.seq = seq
        self.nearest = nearest
        self.head = head


class NothingToDo(PilothouseError):
    """A run was to be begun, or something said to it, without a word."""

    code = "nothing_to_do"

    def __init__(self) -> None:
        super().__init__("Nothing was done: say something.")


class TooLong(PilothouseError):
    """What was said has ``length`` characters, and at most ``limit`` are taken."""

    code = "too_long"

    def __init__(self, length: int, limit: int) -> None:
        super().__init__(
            f"Nothing was done: this has {length:,} characters. Say it in at most {limit:,}."
        )
        self.length = length
        self.limit = limit


class Blocked(PilothouseError):
    """This build can't take the run on; ``code`` says why: ``missing_agent``, ``missing_tool``.
    ``fix`` says what to do about it, where that is known."""

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.fix = fix
