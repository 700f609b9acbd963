"""A screenshot made small: at most 256 colours, and a word on what it shows."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_COLOURS: Final = 256
_WORD: Final = b"Shows\x00"


def reduced(png: bytes, shows: str) -> bytes:
    """The same picture by a palette: its most frequent colours, and for each other one the nearest of them.
    ``shows`` is kept in it, for ``word_of``."""
    width, height, pixels = _read(png)
    counted = Counter(pixels)
    palette = [colour for colour, _ in sorted(counted.items(), key=_by_frequency)[:_COLOURS]]
    places = {colour: place for place, colour in enumerate(palette)}
    for colour in counted.keys() - places.keys():
        places[colour] = min(range(len(palette)), key=lambda n: _distance(palette[n], colour))
    rows = bytearray()
    for start in range(0, width * height, width):
        rows.append(0)
        rows.extend(places[colour] for colour in pixels[start : start + width])
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", b"".join(palette)),
            _chunk(b"tEXt", _WORD + shows.encode("latin-1")),
            _chunk(b"IDAT", zlib.compress(bytes(rows), 9)),
            _chunk(b"IEND", b""),
        )
    )


def word_of(path: Path) -> str:
    """What was said of it when it was taken; empty for a picture that is none of ours."""
    for kind, body in _chunks(path.read_bytes()):
        if kind == b"tEXt" and body.startswith(_WORD):
            return body.removeprefix(_WORD).decode("latin-1")
    return ""


def _by_frequency(counted: tuple[bytes, int]) -> tuple[int, bytes]:
    colour, count = counted
    return -count, colour


def _distance(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _read(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height, and each pixel's red, green and blue."""
    chunks = list(_chunks(png))
    width, height, depth, colour_type, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    if (depth, rest) != (8, [0, 0, 0]) or colour_type not in (2, 6):
        raise ValueError("not a screenshot: eight bits a channel, red, green, blue")
    size = 3 if colour_type == 2 else 4
    raw = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    stride = width * size
    pixels: list[bytes] = []
    above = bytes(stride)
    for start in range(0, len(raw), stride + 1):
        above = _unfiltered(raw[start], raw[start + 1 : start + 1 + stride], above, size)
        pixels.extend(above[at : at + 3] for at in range(0, stride, size))
    return width, height, pixels


def _unfiltered(kind: int, line: bytes, above: bytes, size: int) -> bytes:
    if kind == 0:
        return line
    if kind == 2:
        return bytes((a + b) & 255 for a, b in zip(line, above, strict=True))
    made = bytearray(line)
    for at in range(len(line)):
        left = made[at - size] if at >= size else 0
        corner = above[at - size] if at >= size else 0
        made[at] = (line[at] + _predicted(kind, left, above[at], corner)) & 255
    return bytes(made)


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    """By the filters that look to the left: Sub, Average, Paeth."""
    if kind == 1:
        return left
    if kind == 3:
        return (left + up) // 2
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
