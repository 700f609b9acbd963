"""The tokens that the sandbox takes, each with its scopes. Real ones it refuses unread."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.sandbox.wire import Refusal, SlackError
from bot.sandbox.workspace import APP_TOKEN, BOT_TOKEN

BOT_SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:join",
    "channels:manage",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "chat:write.public",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "groups:write",
    "im:history",
    "im:read",
    "im:write",
    "metadata.message:read",
    "mpim:history",
    "mpim:read",
    "mpim:write",
    "reactions:read",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "usergroups:write",
    "users:read",
    "users:read.email",
    "users:write",
)
APP_SCOPES = ("connections:write",)
#: What Slack says of a token that worked once.
ENDS = ("token_revoked", "account_inactive", "invalid_auth", "token_expired")
#: Slack's own shapes: a bot's and an app's begin with the numbers of workspace and app.
_REAL = re.compile(r"xoxb-\d+-|xox[acdoprs]-|xoxe[.-]|xapp-\d+-A[A-Z0-9]+-")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Token:
    scopes: tuple[str, ...]
    #: An app-level token opens connections; every other method wants a bot's.
    is_app_level: bool = False


class Tokens:
    def __init__(self) -> None:
        self._known = {BOT_TOKEN: Token(BOT_SCOPES), APP_TOKEN: Token(APP_SCOPES, True)}
        self._ended: dict[str, str] = {}
        self._has_warned = False

    def knows(self, token: str) -> bool:
        """Whether it is the sandbox's own, or was given to it; also after its end."""
        return token in self._known

    def check(self, token: str) -> Token:
        """Raises `not_authed`, `invalid_auth`, or what the token ended with."""
        if not token:
            raise SlackError("not_authed")
        if token in self._ended:
            raise SlackError(self._ended[token])
        if token in self._known:
            return self._known[token]
        if looks_real(token) and not self._has_warned:
            self._has_warned = True
            log.warning(
                "A token that looks like one of Slack's own was sent to the sandbox, which refuses "
                "and forgets it. Give that app %s and %s instead.",
                BOT_TOKEN,
                APP_TOKEN,
            )
        raise SlackError("invalid_auth")

    def add(self, token: str, scopes: Iterable[str]) -> Token:
        """Take this token too, from now on with these scopes. Raises `Refusal`."""
        is_app_level = token.startswith("xapp-")
        if looks_real(token):
            raise Refusal("This looks like a real token: the sandbox takes none.", 400)
        if not token.startswith(("xoxb-", "xapp-")):
            raise Refusal("A token begins with xoxb- (a bot's) or xapp- (app-level).", 400)
        known = APP_SCOPES if is_app_level else BOT_SCOPES
        chosen = set(scopes)
        if unknown := sorted(chosen - set(known)):
            raise Refusal(f"No scope {', '.join(unknown)}. There are: {', '.join(known)}.", 400)
        added = Token(tuple(scope for scope in known if scope in chosen), is_app_level)
        self._known[token] = added
        self._ended.pop(token, None)
        return added

    def revoke(self, token: str, error: str = "token_revoked") -> None:
        """Answer this token with one of `ENDS`. Raises `Refusal` for a token that isn't known."""
        if token not in self._known:
            raise Refusal(f"No such token. There are: {', '.join(self._known)}.")
        if error not in ENDS:
            raise Refusal(f"`error` is one of {', '.join(ENDS)}.", 400)
        self._ended[token] = error

    def restore(self, token: str) -> None:
        self._ended.pop(token, None)


def looks_real(token: str) -> bool:
    return _REAL.match(token) is not None
