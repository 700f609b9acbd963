"""A fact's body at rest: text that says which key it was encrypted with, or the body itself.

AES-256-GCM. What is encrypted is bound to its journal and its seq, so that no row passes for another. Each value has
a nonce of its own, of 96 random bits: good for some thousand million facts a key.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.errors import ConfigError
from store.chain import CHANGED, Unread

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

#: No body begins like this: it is a JSON object.
_SEALED = "sealed:"
_NONCE_BYTES = 12
KEY_BYTES = 32
SETTING = "PILOTHOUSE_ENCRYPTION_KEYS"


@dataclass(frozen=True, slots=True)
class Key:
    """An encryption key, and the name that whatever it encrypted says."""

    id: str
    secret: bytes = field(repr=False)


def begins_with(key_id: str) -> str:
    """How everything begins that was encrypted with this key."""
    return f"{_SEALED}{key_id}:"


def key_of(kept: object) -> str | None:
    """The id of the key that this was encrypted with; None: it is a body as it was written, or no text."""
    if not isinstance(kept, str) or not kept.startswith(_SEALED):
        return None
    end = kept.find(":", len(_SEALED))
    return kept[len(_SEALED) : end] if end >= 0 else kept[len(_SEALED) :]


class Cipher:
    """Encrypts with the first of its keys, and reads what any of them has encrypted. Without keys, bodies are kept
    as they are, and those that are encrypted can't be read."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        """Raises ``ConfigError`` where the library is missing."""
        self._keys = {key.id: _aesgcm(key) for key in keys}
        #: What is written from now on is under this key.
        self.newest = next(iter(self._keys), None)
        self._prefix = begins_with(self.newest or "")

    def keep(self, journal: str, seq: int, body: str) -> str:
        """The text that stands for this body at this place."""
        if self.newest is None:
            return body
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._keys[self.newest].encrypt(nonce, body.encode(), _place(journal, seq))
        return self._prefix + b64encode(nonce + sealed).decode()

    def read(self, journal: str, seq: int, kept: object) -> str | Unread:
        """The body behind what is kept at this place; or why there is none to be had."""
        if not isinstance(kept, str):
            return Unread(CHANGED)
        id = key_of(kept)
        if id is None:
            return kept
        if id not in self._keys:
            return Unread(f"it is encrypted with the key {id}, which {SETTING} does not hold")
        try:
            sealed = b64decode(kept[len(_SEALED) + len(id) + 1 :], validate=True)
            nonce, sealed = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
            return self._keys[id].decrypt(nonce, sealed, _place(journal, seq)).decode()
        except _unreadable():
            return Unread(CHANGED)


def _place(journal: str, seq: int) -> bytes:
    return f"{journal}\n{seq}".encode(errors="surrogatepass")


def _aesgcm(key: Key) -> AESGCM:
    # Only who encrypts waits for its import.
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise ConfigError(
            f"{SETTING} is set, and the package cryptography is missing: install it."
        ) from error
    return AESGCM(key.secret)


def _unreadable() -> tuple[type[Exception], ...]:
    """What shows that it is not what was written: it is too short, or was changed."""
    from cryptography.exceptions import InvalidTag

    return (InvalidTag, ValueError)
