"""Takes the pictures of the docs: all of them, or those that are named."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from pathlib import Path

from pictures.album import PICTURES
from pictures.browser import NoBrowser, camera
from pictures.picture import Picture
from pictures.png import reduced
from pictures.stage import taken

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    parser = argparse.ArgumentParser(prog="pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument(
        "--into", type=Path, default=IMAGES, help="a folder; docs/images if not said"
    )
    parser.add_argument("--width", type=int, help="as if the page were so wide")
    parser.add_argument("--dark", action="store_true", help="as whoever likes it dark sees it")
    wanted = parser.parse_args()
    chosen = [one for one in PICTURES if one.name in wanted.names or not wanted.names]
    if unknown := set(wanted.names) - {one.name for one in chosen}:
        parser.error(f"there is no picture {', '.join(sorted(unknown))}")
    if wanted.width:
        chosen = [replace(one, width=wanted.width) for one in chosen]
    wanted.into.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(_take(chosen, wanted.into, is_dark=wanted.dark))
    except NoBrowser as missing:
        parser.exit(1, f"{missing}\n")


async def _take(chosen: list[Picture], into: Path, *, is_dark: bool) -> None:
    async with camera() as browser:
        for one in chosen:
            png = await taken(one, browser, is_dark=is_dark)
            (into / one.file).write_bytes(reduced(png, one.digest))


if __name__ == "__main__":
    main()
