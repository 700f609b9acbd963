"""``pilothouse``, and ``python -m bot``."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

_HOME = Path(__file__).resolve().parent.parent


def main() -> None:
    """The command line, unless another program's packages stand in the place of ours."""
    if shadows := [why for name in ("agent", "store") if (why := shadowed(name))]:
        sys.stderr.write("\n".join(shadows) + "\n")
        sys.exit(1)
    from bot.cli.main import main as run

    run()


def shadowed(name: str) -> str | None:
    """What stands in the place of our package of this (generic) name; None: nothing does."""
    spec = find_spec(name)
    found = Path(spec.origin).resolve().parent if spec and spec.origin else None
    if found == _HOME / name:
        return None
    return (
        f"Pilothouse's package {name!r} should be {_HOME / name}, but Python finds "
        f"{found or 'nothing'}. Nothing was started; use an environment of its own, or start it "
        "from another folder."
    )


if __name__ == "__main__":
    main()
