"""Calling a tool's functions, whether they are async or not."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from functools import partial
from typing import Any


async def run_function(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Await an async function; run any other in a thread of its own.

    A thread can't be killed. One that outlives its time-out goes on as a daemon: it takes no place
    in a pool that others wait for, and does not keep the process from ending.
    """
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*args, **kwargs)
        answer = await _in_thread(lambda: function(*args, **kwargs))
        return await answer if inspect.isawaitable(answer) else answer
    except (asyncio.CancelledError, SystemExit) as error:
        # The function's own, and no word to us: an error like any other.
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


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
