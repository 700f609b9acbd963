"""``python -m benchmarks [PART …]``: a JSON line a figure, of all parts or of those that are named.

``--million``: what is looked for is looked for among a million that was decided, which takes minutes. ``others``, which
is no part of all, needs an environment of its own: ``make bench-others``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import clicking, drawing, engine, homes, page, waking
from benchmarks.others import compared
from benchmarks.store import appends, growing, sharing, waiting, years

PARTS = {
    "drawing": drawing.figures,
    "engine": engine.figures,
    "waking": waking.figures,
    "clicking": clicking.figures,
    "homes": homes.figures,
    "page": page.figures,
    "appends": appends.figures,
    "sharing": sharing.figures,
    "waiting": waiting.figures,
    "growing": growing.figures,
    "years": years.figures,
}
OTHERS = {"others": compared.figures}


async def main(words: Sequence[str]) -> None:
    names = [word for word in words if word != "--million"]
    if unknown := [name for name in names if name not in PARTS | OTHERS]:
        sys.exit(
            f"There is no part {unknown[0]}; there are {', '.join(PARTS | OTHERS)}, and --million."
        )
    parts = PARTS
    if "--million" in words:
        parts = {
            **PARTS,
            "waiting": partial(waiting.figures, done=waiting.MILLION),
            "years": partial(years.figures, many=years.MILLION),
        }
    with TemporaryDirectory() as folder:
        for name in names or parts:
            async for figure in (parts | OTHERS)[name](Path(folder)):
                sys.stdout.write(json.dumps(figure) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
