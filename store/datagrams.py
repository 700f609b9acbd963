"""Words between the processes of one host: something was committed that concerns you.

Whoever wants to hear has a port of 127.0.0.1; a file with the port's number as its name, locked for as
long as its process lives, makes it known. A word is a hint: it may be lost, or come from a stranger, and
makes its receiver look, nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress

from store.life_locks import LifeLock, LifeLocks

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
_WORD = b"moved"
#: A new port is taken so often until one has a lock: whoever tidies up may have it for an instant.
_TRIES = 5
#: So many words are heard at once; one look answers all of them.
_MOST_WORDS = 64
#: Seconds until it listens again after words that meant nothing: so many of them cost little.
_REST = 0.002


def tell(listeners: LifeLocks) -> None:
    """A word to each that listens. Whoever can't be told looks by itself."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaking:
        speaking.setblocking(False)
        for name in listeners.ids():
            with suppress(OSError, ValueError, OverflowError):
                speaking.sendto(_WORD, (HOST, int(name)))


class Ear:
    """Hears what is told. ``heard`` says whether there was anything to it.

    Belongs to the event loop on which it was opened."""

    def __init__(self, listeners: LifeLocks, heard: Callable[[], bool]) -> None:
        self._listeners = listeners
        self._heard = heard
        self._socket: socket.socket | None = None
        self._lock: LifeLock | None = None
        self._rest: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Listen from now on, if that can be; forget those that died while they listened."""
        try:
            self._tidy_up()
            for _ in range(_TRIES):
                if self._take_port():
                    self._listen()
                    return
        except OSError as error:
            log.warning("others can't be heard, so they are looked for: %s", error)
            self.close()

    def close(self) -> None:
        """Twice is once."""
        if self._rest is not None:
            self._rest.cancel()
        if self._lock is not None:
            try:
                self._lock.remove()
            except OSError as error:
                # It is nobody's by now; whoever listens next takes it away.
                log.warning("a file of one that listened stays: %s", error)
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
        self._rest = self._lock = self._socket = None

    def _tidy_up(self) -> None:
        for name in self._listeners.ids():
            if (lock := self._listeners.take_over(name)) is not None:
                lock.remove()

    def _take_port(self) -> bool:
        listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            listening.setblocking(False)
            listening.bind((HOST, 0))
            self._lock = self._listeners.take(str(listening.getsockname()[1]))
        finally:
            if self._lock is None:
                listening.close()
        if self._lock is None:
            return False
        self._socket = listening
        return True

    def _listen(self) -> None:
        self._rest = None
        if self._socket is not None:
            asyncio.get_running_loop().add_reader(self._socket, self._hear)

    def _hear(self) -> None:
        if self._socket is None:
            return
        with suppress(OSError):
            for _ in range(_MOST_WORDS):
                self._socket.recv(1)
        if not self._heard():
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._socket)
            self._rest = loop.call_later(_REST, self._listen)
