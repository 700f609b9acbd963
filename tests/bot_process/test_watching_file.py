"""A file that others write: what is taken of it is what somebody meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot import watching_file
from bot.watching_file import LOOKS_LIMIT, Look, look_at, settled


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SETTLES_SECONDS", "GONE_SECONDS"):
        monkeypatch.setattr(watching_file, name, 0)


async def test_what_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    """As an editor does it that cuts the file off first."""
    file, looks = tmp_path / "file", list[bytes | None]()
    file.write_bytes(b"old")

    def is_news(seen: Look) -> bool:
        looks.append(seen.content)
        # After each look somebody goes on writing, until it is whole.
        file.write_bytes(
            {b"old": b"", b"": b"half", b"half": b"whole"}.get(seen.content or b"", b"whole")
        )
        return True

    seen = await settled(file, is_news)
    assert seen is not None
    assert (seen.content, looks) == (b"whole", [b"old", b"", b"half", b"whole"])


async def test_who_never_ends_writing_is_not_waited_for(tmp_path: Path) -> None:
    file, count = tmp_path / "file", 0

    def is_news(seen: Look) -> bool:
        nonlocal count
        count += 1
        file.write_text(str(count))
        return True

    file.write_text("0")
    assert await settled(file, is_news) is None
    assert count == LOOKS_LIMIT


async def test_what_is_no_news_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("same")
    assert await settled(tmp_path / "file", lambda seen: False) is None


async def test_what_a_link_points_to_now_is_read(tmp_path: Path) -> None:
    """As Kubernetes changes the files of a config map: by one link of their folder."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    data, file = tmp_path / "..data", tmp_path / "file"
    data.symlink_to("first")
    file.symlink_to("..data/file")
    before = look_at(file)
    (tmp_path / "new").symlink_to("second")
    os.replace(tmp_path / "new", data)
    after = look_at(file)
    assert (before.content, after.content) == (b"first", b"second")
    assert before.digest != after.digest


def test_a_file_that_is_gone_says_so_and_differs_from_an_empty_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    gone = look_at(file)
    file.touch()
    assert gone.why == f"{file} can't be read: No such file or directory."
    assert gone.digest != look_at(file).digest
    assert look_at(tmp_path).why == f"{tmp_path} can't be read: Is a directory."
