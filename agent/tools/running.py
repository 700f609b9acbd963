"""Calling functions that are not ours: async or not, with an end to the waiting, and no way to hurt us."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

#: How long a cancelled coroutine may take to end, in seconds, before it is left to itself.
GRACE = 1.0

#: Coroutines that did not heed their cancellation; kept, so that they are not lost amid their work.
_left_behind: set[asyncio.Task[Any]] = set()


class TookTooLong(Exception):
    """It did not end within its time."""


async def run_bounded(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """What ``work`` gives within ``seconds``. Raises ``TookTooLong``, or what it raised, as an ordinary
    exception in any case: a ``SystemExit`` of somebody's tool ends no bot.

    A coroutine can't be killed, as little as a thread. One that goes on after its cancellation is left
    behind, and nobody waits for it."""
    told = _Told()
    task = asyncio.create_task(_plainly(work, told))
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        # Also when it is we who are cancelled.
        is_late = not task.done()
        if is_late:
            told.to_end = True
            await _end(task)
    if is_late:
        raise TookTooLong
    return task.result()


async def run_function(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Await an async function; run any other in a thread of its own.

    A thread can't be killed. One that outlives its time-out goes on as a daemon: it takes no place
    in a pool that others wait for, and does not keep the process from ending.
    """
    if inspect.iscoroutinefunction(function):
        return await function(*args, **kwargs)
    answer = await _in_thread(lambda: function(*args, **kwargs))
    return await answer if inspect.isawaitable(answer) else answer


def call_plainly(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """Call a plain function here and now; whatever it raises is an ordinary exception."""
    try:
        return function(*args, **kwargs)
    except Exception:
        raise
    except BaseException as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


@dataclass
class _Told:
    """Was it we who told it to end? A task may also cancel itself."""

    to_end: bool = False


async def _plainly(work: Coroutine[Any, Any, T], told: _Told) -> T:
    try:
        return await work
    except Exception:
        raise
    except BaseException as error:
        is_ours = isinstance(error, asyncio.CancelledError) and told.to_end
        if is_ours or asyncio.current_task() is None:
            raise  # Our word to it, and not its own to us.
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


async def _end(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=GRACE)
    if task.done():
        if not task.cancelled():
            task.exception()  # Heard, so that nobody reports it as lost.
        return
    log.warning("%r goes on after its cancellation, and is left to itself", task.get_coro())
    _left_behind.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()


async def _in_thread(call: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            answer = context.run(call)
        except BaseException as error:
            _tell(loop, future, partial(_fail, future, error))
        else:
            _tell(loop, future, partial(future.set_result, answer))

    threading.Thread(target=work, daemon=True, name="tool").start()
    return await future


def _tell(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], settle: Callable[[], None]
) -> None:
    """Settle the future on its loop, unless nobody waits any more."""
    if loop.is_closed():
        return
    loop.call_soon_threadsafe(lambda: None if future.done() else settle())


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    # A future refuses StopIteration, and re-raises SystemExit through the loop.
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:
        future.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
