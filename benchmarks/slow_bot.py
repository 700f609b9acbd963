"""``pilothouse serve`` on a store of which each write takes 50 ms: ``python -m benchmarks.slow_bot``."""

from __future__ import annotations

import sys
import threading
import time

from sqlalchemy import Connection, Engine, event

from bot.__main__ import main

A_WRITE = 0.05


def _commits(_: Connection) -> None:
    # Who reads does so on the loop's own thread; the writer has one of its own.
    if threading.current_thread() is not threading.main_thread():
        time.sleep(A_WRITE)


if __name__ == "__main__":
    event.listen(Engine, "commit", _commits)
    sys.argv = ["pilothouse", "serve"]
    main()
