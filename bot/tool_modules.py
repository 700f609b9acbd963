"""The modules with tools that an agent's file names: found beside it or installed, and imported.

A module is foreign code, and importing it may raise anything. Whatever it is becomes one line for the operator.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType

from agent.engine.telling import words_of
from agent.tools.mistakes import Mistake, gathering_mistakes


class CantBeImported(Exception):
    """``reasons``: what is wrong with the module, a line each."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def import_tools(name: str, folder: Path) -> ModuleType:
    """A module beside the file in ``folder``, or an installed one. Raises ``CantBeImported``.

    The folder stands last on the path: a file beside the configuration must not replace a part of Python or
    of Pilothouse by its name."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    with gathering_mistakes() as mistakes:
        try:
            module = import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reasons = _reasons(mistakes)
            failed = f"{name} can't be imported: {_in_words(error, name, folder)}"
            raise CantBeImported(*(reasons or [failed + _hidden(folder)])) from error
        finally:
            _forget(mistakes)
    if mistakes:
        raise CantBeImported(*_reasons(mistakes))
    _check_origin(module, name, folder)
    return module


def _reasons(mistakes: list[Mistake]) -> list[str]:
    return [str(mistake) for mistake in mistakes]


def _forget(mistakes: list[Mistake]) -> None:
    """What has no usable tools is not found by whoever imports it next."""
    files = {mistake.file for mistake in mistakes}
    for name, module in list(sys.modules.items()):
        if files and getattr(module, "__file__", None) in files:
            del sys.modules[name]


def _in_words(error: BaseException, name: str, folder: Path) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and _is_within(error.name, name):
        if name.endswith(".py"):
            return f"a module is named without .py: {name.removesuffix('.py')}."
        return f"there is no module {error.name}, neither in {folder} nor installed."
    where = _where(error, folder)
    said = error.msg if isinstance(error, SyntaxError) else words_of(error)
    words = " ".join(said.split()).rstrip(".")
    return f"{type(error).__name__}{f': {words}' if words else ''}{where}."


def _is_within(missing: str, name: str) -> bool:
    """Is it the module itself that is missing, or a package that it would be in?"""
    return name == missing or name.startswith(f"{missing}.")


def _where(error: BaseException, folder: Path) -> str:
    """The line of the author's own code at which it failed, or else the innermost."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<") and frame.filename not in _OURS
    ]
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder.resolve())]
    frame = next(reversed(own or frames), None)
    return f" ({frame.filename}:{frame.lineno})" if frame else ""


_OURS = frozenset({__file__, import_module("importlib").__file__})


def _check_origin(module: ModuleType, name: str, folder: Path) -> None:
    """The file beside the configuration is what its author means; is it what was found?"""
    found = getattr(module, "__file__", None)
    own = folder.joinpath(*name.split("."))
    meant = next((p for p in (own.with_suffix(".py"), own / "__init__.py") if p.exists()), None)
    if meant is None or (found and Path(found).resolve() == meant.resolve()):
        return
    raise CantBeImported(
        f"{meant} is not what {name} is: {_whose(name)} has that name ({found or 'built in'}). "
        "Give the file another name."
    )


def _whose(name: str) -> str:
    top = name.split(".", maxsplit=1)[0]
    if top in sys.stdlib_module_names:
        return "a part of Python"
    return "a part of Pilothouse" if top in OUR_PACKAGES else "something that is installed"


#: They have plain names.
OUR_PACKAGES = ("agent", "bot", "store")


def _hidden(folder: Path) -> str:
    """Files beside the configuration that can't be imported under their names, or keep others from being
    found: what failed may have meant one of them."""
    home = Path(__file__).resolve().parent.parent
    if folder.resolve() == home:
        return ""
    names = sorted(
        name
        for path in folder.iterdir()
        if (name := path.stem if path.suffix == ".py" else path.name)
        and (path.suffix == ".py" or (path / "__init__.py").exists())
        and (name in OUR_PACKAGES or name in sys.stdlib_module_names)
    )
    listed = ", ".join(names)
    return f" Beside it stands what has the name of {_whose(names[0])}: {listed}." if names else ""
