"""The picture of each person: a plain square, in a colour of theirs."""

from __future__ import annotations

import struct
import zlib
from typing import Final

from bot.sandbox.wire import Json

SIZES: Final = (24, 32, 48, 72, 192, 512)
#: With white letters on them they can be read.
_COLOURS: Final = ("7a4a9c", "b0563a", "2f7d5b", "3567a8", "96702a", "a2416f")


def colour_of(user_id: str) -> str:
    """Six hexadecimal digits."""
    return _COLOURS[sum(map(ord, user_id)) % len(_COLOURS)]


def addresses(user_id: str, base_url: str) -> Json:
    """As a profile names them."""
    return {f"image_{size}": f"{base_url}/faces/{user_id}-{size}.png" for size in SIZES}


def picture(user_id: str, size: int) -> bytes:
    """A PNG with so many pixels a side."""
    row = b"\0" + bytes.fromhex(colour_of(user_id)) * size
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(row * size)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
