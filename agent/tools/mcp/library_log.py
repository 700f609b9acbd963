"""What the libraries log of servers: it goes where everything goes, and quotes nothing that a server said."""

from __future__ import annotations

import logging

_THEIRS = ("mcp", "fastmcp", "httpx2")
#: They tell each request at the level of what matters, with its address.
_TALKATIVE = ("httpx2", "mcp.client.streamable_http")


class _WithoutTraces(logging.Filter):
    """An error of theirs quotes what could not be read, which may be anything."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info, record.exc_text = None, None
        return True


def keep_quiet() -> None:
    """To be called once they have been imported."""
    # It would print in colours to our standard error, past the log that everybody reads.
    logging.getLogger("fastmcp").handlers.clear()
    logging.getLogger("fastmcp").propagate = True
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    quiet = _WithoutTraces()
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _THEIRS:
            logging.getLogger(name).addFilter(quiet)
