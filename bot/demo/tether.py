"""A child that ends when its parent does, however the parent ends.

The parent holds one end of a pipe and never writes; the child reads the other. The kernel closes the
parent's end with the parent, at ``kill -9`` too.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from types import TracebackType

#: For a child to end in good order; then it is ended.
GRACE_SECONDS = 3.0


class Tether:
    """The parent's side: give ``fd`` to each child as an open file (``pass_fds``)."""

    def __init__(self) -> None:
        self.fd, self._held = os.pipe()
        self._is_let_go = False

    def __enter__(self) -> Tether:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.let_go()
        os.close(self.fd)

    def let_go(self) -> None:
        """The children end, as they do when we do. Twice is once."""
        if not self._is_let_go:
            self._is_let_go = True
            os.close(self._held)


def end_with_parent(fd: int) -> None:
    """The child's side: from now on this process ends when the pipe at ``fd`` closes.

    A thread watches, so that a busy event loop can't keep a child alive. Raises ``OSError`` when
    ``fd`` is not open."""
    os.fstat(fd)
    threading.Thread(target=_watch, args=(fd,), name="tether", daemon=True).start()


def _watch(fd: int) -> None:
    while os.read(fd, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
