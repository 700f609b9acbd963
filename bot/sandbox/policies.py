"""What an admin or the app's owner has set: settable, so that each error of Slack's can be met."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Literal, get_args

from bot.sandbox.wire import Json, Refusal, SlackError
from bot.sandbox.workspace import Channel

#: Each is the end of the error that the app meets; `posting` is `restricted_action` itself.
Restriction = Literal[
    "posting", "read_only_channel", "thread_only_channel", "non_threadable_channel"
]


@dataclass
class Policies:
    """As a fresh workspace on a paid plan has them, with everything of the app's switched on."""

    #: Seconds after which a message can't be edited any more (`edit_window_closed`); None: always.
    edit_window: float | None = None
    #: The app's Messages tab (`messages_tab_disabled`) and Home tab (`not_enabled`).
    messages_tab: bool = True
    home_tab: bool = True
    #: Groups need a paid plan (`plan_upgrade_required`).
    user_groups: bool = True
    #: Sessions of agents (`feature_disabled`).
    agent_sessions: bool = True
    #: The commands' `should_escape`: mentions and channels in a command's text become `<@U…>`, `<#C…>`.
    #: It is off unless an app's manifest switches it on.
    commands_escaped: bool = False
    #: By channel id.
    restrictions: dict[str, Restriction] = field(default_factory=dict)
    #: Each as `CHANNEL/TS` of the parent.
    locked_threads: list[str] = field(default_factory=list)

    def as_json(self) -> Json:
        return asdict(self)

    def change(self, body: Json) -> None:
        """Set what the body names. Raises `Refusal`, and then nothing is changed."""
        known = {one.name for one in fields(self)}
        if unknown := sorted(set(body) - known):
            raise Refusal(f"Unknown: {', '.join(unknown)}. Known: {', '.join(sorted(known))}.", 400)
        for name, value in body.items():
            if not _fits(name, value):
                raise Refusal(f"`{name}` can't be {value!r}.", 400)
        for name, value in body.items():
            setattr(self, name, value)

    def check_posting(self, channel: Channel, thread_ts: str) -> None:
        """May the app post there, at top level with an empty `thread_ts`?

        Raises `messages_tab_disabled`, `restricted_action…`.
        """
        if channel.kind == "im" and not self.messages_tab:
            raise SlackError("messages_tab_disabled")
        restriction = self.restrictions.get(channel.id)
        if restriction == "posting":
            raise SlackError("restricted_action")
        if restriction == "read_only_channel":
            raise SlackError("restricted_action_read_only_channel")
        if restriction == "thread_only_channel" and not thread_ts:
            raise SlackError("restricted_action_thread_only_channel")
        if restriction == "non_threadable_channel" and thread_ts:
            raise SlackError("restricted_action_non_threadable_channel")
        if f"{channel.id}/{thread_ts}" in self.locked_threads:
            raise SlackError("restricted_action_thread_locked")

    def check_editing(self, age: float) -> None:
        """Raises `edit_window_closed` for a message so many seconds old."""
        if self.edit_window is not None and age > self.edit_window:
            raise SlackError("edit_window_closed")


def _fits(name: str, value: object) -> bool:
    match name:
        case "edit_window":
            if isinstance(value, bool):
                return False
            return value is None or (isinstance(value, int | float) and value >= 0)
        case "restrictions":
            allowed = get_args(Restriction)
            return isinstance(value, dict) and all(one in allowed for one in value.values())
        case "locked_threads":
            return isinstance(value, list) and all(isinstance(one, str) for one in value)
        case _:
            return isinstance(value, bool)
