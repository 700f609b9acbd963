"""Serves a small model on loopback until its input ends. Run by an interpreter of its own, that has the model."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main(port: int) -> None:
    library: Any = import_module("xllamacpp")
    parameters = library.CommonParams()
    parameters.model.path = str(next(Path(sys.prefix).rglob("SmolLM2*.gguf")))
    parameters.port, parameters.n_ctx, parameters.use_jinja = port, 2048, True
    server = library.Server(parameters)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main(int(sys.argv[1]))
