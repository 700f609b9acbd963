"""A screenshot keeps its colours when it is made small, and says what it shows."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from pictures.png import reduced, word_of

Pixel = tuple[int, ...]
ROWS: list[list[Pixel]] = [
    [((x * 40 + y) % 256, (y * 70) % 256, (x * y) % 256) for x in range(6)] for y in range(5)
]


def png(rows: Sequence[Sequence[Pixel]], filters: Sequence[int], *, alpha: bool = False) -> bytes:
    """By the given filter a row, as any program may write it."""
    size = 4 if alpha else 3
    above = bytes(size * len(rows[0]))
    packed = b""
    for kind, row in zip(filters, rows, strict=True):
        line = b"".join(bytes((*pixel, 255) if alpha else pixel) for pixel in row)
        packed += bytes([kind]) + bytes(
            (line[at] - guessed(kind, at, size, line, above)) & 255 for at in range(len(line))
        )
        above = line
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 6 if alpha else 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(packed)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def guessed(kind: int, at: int, size: int, line: bytes, above: bytes) -> int:
    left, up = (line[at - size] if at >= size else 0), above[at]
    corner = above[at - size] if at >= size else 0
    near = [abs(left + up - corner - one) for one in (left, up, corner)]
    paeth = (left, up, corner)[near.index(min(near))]
    return (0, left, up, (left + up) // 2, paeth)[kind]


def colours(indexed: bytes) -> list[list[Pixel]]:
    """Of a picture by a palette, without filters."""
    found: dict[bytes, bytes] = {}
    at = 8
    while at < len(indexed):
        (length,) = struct.unpack_from(">I", indexed, at)
        found[indexed[at + 4 : at + 8]] = indexed[at + 8 : at + 8 + length]
        at += 12 + length
    palette, raw = found[b"PLTE"], zlib.decompress(found[b"IDAT"])
    (width,) = struct.unpack_from(">I", found[b"IHDR"])
    lines = [raw[start + 1 : start + 1 + width] for start in range(0, len(raw), width + 1)]
    return [[tuple(palette[3 * one : 3 * one + 3]) for one in line] for line in lines]


@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("filters", [(0, 1, 2, 3, 4), (4, 3, 1, 2, 4), (1, 4, 3, 4, 2)])
def test_each_pixel_keeps_its_colour(filters: tuple[int, ...], alpha: bool) -> None:
    assert colours(reduced(png(ROWS, filters, alpha=alpha), "x")) == ROWS


def test_of_too_many_colours_the_rare_ones_become_the_nearest() -> None:
    often: list[list[Pixel]] = [[(n, 0, 0)] * 2 for n in range(256)]
    rows: list[list[Pixel]] = [*often, [(7, 1, 0), (7, 0, 0)]]
    assert colours(reduced(png(rows, [0] * 257), "x")) == [*often, [(7, 0, 0), (7, 0, 0)]]


def test_it_says_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    path.write_bytes(png(ROWS, [0] * 5))
    assert word_of(path) == ""
    path.write_bytes(reduced(path.read_bytes(), "what it shows"))
    assert word_of(path) == "what it shows"
