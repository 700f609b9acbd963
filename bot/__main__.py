"""``pilothouse``, and ``python -m bot``."""

from __future__ import annotations

# No more than what Python itself has loaded by now: anything else may be hidden.
import os
import sys

_HOME = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


def main() -> None:
    """The command line, unless another program's modules stand in the place of ours. What fails where a part of
    Python is hidden is said to fail for that."""
    if shadows := [why for name in ("agent", "store") if (why := shadowed(name))]:
        _refuse(shadows)
    try:
        from bot.cli.main import main as run

        run()
    except Exception as error:
        if hidden := shadows_of_python():
            _refuse([f"It failed: {type(error).__name__}: {error}.", *hidden])
        raise


def _refuse(lines: list[str]) -> None:
    sys.stderr.write("\n".join(lines) + "\n")
    sys.exit(1)


def shadowed(name: str) -> str | None:
    """What stands in the place of our package of this (generic) name; None: nothing does."""
    from importlib.util import find_spec

    spec = find_spec(name)
    found = os.path.dirname(os.path.realpath(spec.origin)) if spec and spec.origin else None
    wanted = os.path.join(_HOME, name)
    if found == wanted:
        return None
    return (
        f"Pilothouse's package {name!r} should be {wanted}, but Python finds "
        f"{found or 'nothing'}. Nothing was started; use an environment of its own, or start it "
        "from another folder."
    )


def shadows_of_python() -> list[str]:
    """What stands, in a folder that Python looks into first, in the place of a part of its own library."""
    found = []
    for folder in sys.path:
        place = os.path.realpath(folder or os.curdir)
        if place == _LIBRARY:
            break
        if place != _HOME and os.path.isdir(place):
            found += [
                f"{os.path.join(place, entry)} stands in the place of Python's own "
                f"{_module_of(place, entry)}. Give it another name, or start from another folder."
                for entry in sorted(os.listdir(place))
                if _module_of(place, entry) in sys.stdlib_module_names
            ]
    return found


def _module_of(folder: str, entry: str) -> str | None:
    """The module that is imported from there; None where it is none."""
    if entry.endswith(".py"):
        return entry.removesuffix(".py")
    return entry if os.path.isfile(os.path.join(folder, entry, "__init__.py")) else None


if __name__ == "__main__":
    main()
