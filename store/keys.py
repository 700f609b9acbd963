"""The secrets that keep a store: encryption keys, newest first, and the audit key. Parsed here; never shown."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from functools import cached_property

from agent.errors import ConfigError, StoreError
from store.cipher import KEY_BYTES, SETTING, Cipher, Key

AUDIT_SETTING = "PILOTHOUSE_AUDIT_KEY"
_ID = re.compile(r"[A-Za-z0-9._-]{1,40}")
_HOW = "`pilothouse keys new` makes one"
#: 32 random bytes with fewer are not met in the age of the world: somebody has filled it in.
_DIFFERENT_BYTES = 12
#: What a key says to prove that it is the one that was used before.
_PROOF = "pilothouse: this is the key"


@dataclass(frozen=True)
class Keys:
    """What a store is kept with. Nothing in it: bodies in the clear, chains without a key."""

    #: The newest first: it encrypts whatever is written.
    encryption: tuple[Key, ...] = ()
    #: Of the chains, which nobody can forge who has not got it.
    audit: bytes | None = field(default=None, repr=False)
    #: The key that the setting has in front although the database has a newer one of them; else None.
    in_front: str | None = None
    #: Of whoever only looks: the encryption key in front that is not in use yet, else None; and is there an audit key
    #: that is not?
    new_key: str | None = None
    has_new_audit: bool = False

    @cached_property
    def cipher(self) -> Cipher:
        """Raises ``ConfigError``."""
        return Cipher(self.encryption)

    def with_newest(self, key_id: str) -> Keys:
        """The same keys, of which this one writes."""
        (newest,) = [key for key in self.encryption if key.id == key_id]
        others = tuple(key for key in self.encryption if key.id != key_id)
        return Keys((newest, *others), self.audit, in_front=self.encryption[0].id)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(key.id for key in self.encryption)


#: Of a store in which nothing is encrypted.
NO_KEYS = Keys()


def parse_keys(encryption: str | None = None, audit: str | None = None) -> Keys:
    """The keys that the two settings name: ``ID:BASE64,ID:BASE64…`` and ``BASE64``, 32 bytes each. Raises
    ``ConfigError``, without a word of a key."""
    found = Keys(_parse_encryption(encryption or ""), _parse_audit(audit))
    if same := next((key.id for key in found.encryption if key.secret == found.audit), None):
        raise _wrong(
            AUDIT_SETTING, f"it is the key {same} of {SETTING}, and no key is for two things"
        )
    # A missing library stops the start, too.
    _ = found.cipher
    return found


def may_be_id(text: str) -> bool:
    """Can a key be called so?"""
    return _ID.fullmatch(text) is not None


def new_key() -> str:
    """The base64 of 32 random bytes."""
    return b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def lacks_key(setting: str) -> StoreError:
    """Of a process that was begun before there was a key of this kind, and has none."""
    return StoreError(
        f"This process was started without {setting}, and by now the database takes it for whatever is written."
        " Nothing was appended. Start it again with it."
    )


def prove(key: Key) -> str:
    """What only this key says."""
    return hmac.new(_apart(key.secret, key.id), _PROOF.encode(), hashlib.sha256).hexdigest()


def prove_audit(audit: bytes) -> str:
    """The same of the audit key."""
    return hmac.new(_apart(audit, ""), _PROOF.encode(), hashlib.sha256).hexdigest()


def prove_marked(audit: bytes) -> str:
    """What takes the place of that once all is marked which the key does not cover: who has the database alone can't
    say that it is still to be marked."""
    return hmac.new(_apart(audit, "marked"), _PROOF.encode(), hashlib.sha256).hexdigest()


def is_same(ours: str, kept: object) -> bool:
    """Is what is kept in a column, which takes anything, what the key says?"""
    if not isinstance(kept, str):
        return False
    return hmac.compare_digest(ours.encode(), kept.encode(errors="surrogatepass"))


def _apart(secret: bytes, id: str) -> bytes:
    """A key of its own for what proves a key: one key is never used for two things."""
    return hmac.new(secret, f"pilothouse proof {id}".encode(), hashlib.sha256).digest()


def _parse_encryption(text: str) -> tuple[Key, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    keys: list[Key] = []
    for number, part in enumerate(parts, 1):
        id, colon, encoded = part.partition(":")
        if not colon or not may_be_id(id):
            raise _wrong(
                SETTING,
                f"key {number} is not of the form ID:BASE64, with an ID of at most 40 letters, digits, dots, _ and -",
            )
        if id in {key.id for key in keys}:
            raise _wrong(SETTING, f"two keys have the id {id}")
        secret = _secret(SETTING, f"the key {id}", encoded)
        if same := next((key.id for key in keys if key.secret == secret), None):
            raise _wrong(SETTING, f"the keys {same} and {id} are one and the same")
        keys.append(Key(id, secret))
    return tuple(keys)


def _parse_audit(text: str | None) -> bytes | None:
    return _secret(AUDIT_SETTING, "it", text.strip()) if text and text.strip() else None


def _secret(setting: str, which: str, encoded: str) -> bytes:
    # Both alphabets of base64 are about, and nobody mixes them.
    characters = frozenset(encoded)
    is_of_urls = not characters.isdisjoint("-_")
    if is_of_urls and not characters.isdisjoint("+/"):
        raise _wrong(setting, f"{which} is no base64")
    standard = encoded.replace("-", "+").replace("_", "/")
    try:
        secret = b64decode(standard, validate=True)
    except ValueError:
        # Its words may quote a part of the key.
        raise _wrong(setting, f"{which} is no base64") from None
    if len(secret) != KEY_BYTES:
        raise _wrong(setting, f"{which} has {len(secret)} bytes instead of {KEY_BYTES}")
    # What the decoder overlooks, bits behind the last byte and what stands behind the padding, is a slip of the pen.
    if b64encode(secret).decode() != standard:
        raise _wrong(
            setting, f"{which} is no base64 that anybody writes: a letter of it was changed"
        )
    if len(set(secret)) < _DIFFERENT_BYTES:
        raise _wrong(setting, f"{which} was not made at random: its bytes are nearly all the same")
    return secret


def _wrong(setting: str, why: str) -> ConfigError:
    return ConfigError(f"The setting {setting} is wrong: {why}. {_HOW}.")
