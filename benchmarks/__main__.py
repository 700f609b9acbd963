"""``python -m benchmarks``: a JSON line a figure."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import clicking, drawing, engine, homes, page, waking


async def main() -> None:
    with TemporaryDirectory() as folder:
        for figures in (
            drawing.figures,
            engine.figures,
            waking.figures,
            clicking.figures,
            homes.figures,
            page.figures,
        ):
            async for figure in figures(Path(folder)):
                sys.stdout.write(json.dumps(figure) + "\n")
                sys.stdout.flush()


asyncio.run(main())
