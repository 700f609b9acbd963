"""Fresh ids and secrets: random, or the same again for the same seed."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections import Counter

_LONGEST = 64


class Ids:
    """With a seed, each kind of id is a series of its own.

    So what one part of the sandbox draws never changes what another one gets, and a test sees the
    same ids again even where two things happen in another order.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._drawn: Counter[str] = Counter()

    def new(self, prefix: str) -> str:
        """An id in Slack's manner: the prefix, and ten digits and capitals."""
        return prefix + self._hex(prefix, 10).upper()

    def secret(self) -> str:
        """What nobody guesses, unless the sandbox was given a seed."""
        return self._hex("secret", 32)

    def token(self, length: int) -> str:
        """So many (at most 64) digits and small letters."""
        return self._hex(f"token{length}", length)

    def uuid(self) -> str:
        return str(uuid.UUID(self._hex("uuid", 32)))

    def number(self, digits: int) -> int:
        """Less than ten to the power of `digits`."""
        return int(self._hex(f"number{digits}", 16), 16) % int(10**digits)

    def chance(self, of: str) -> float:
        """At least 0 and less than 1; each `of` is a series of its own."""
        return int(self._hex(f"chance {of}", 13), 16) / 16**13

    def _hex(self, kind: str, length: int) -> str:
        if self._seed is None:
            return secrets.token_hex(_LONGEST // 2)[:length]
        self._drawn[kind] += 1
        drawn = f"{self._seed}/{kind}/{self._drawn[kind]}"
        return hashlib.sha256(drawn.encode()).hexdigest()[:length]
