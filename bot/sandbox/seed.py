"""Who and what there is at first."""

from __future__ import annotations

from collections.abc import Iterable

from bot.sandbox.workspace import (
    BOT_NAME,
    BOT_USER,
    OTHER_BOT_NAME,
    OTHER_BOT_USER,
    OTHER_TEAM,
    Channel,
    Group,
    User,
    Workspace,
)


def seeded() -> Workspace:
    """People of every kind that an app must tell apart, a group, and three channels."""
    people = _people()
    channels = _channels(people)
    finance = Group("S0FINANCE", "finance", "Finance", ("U0BOB", "U0FRANK"))
    return Workspace(
        users={user.id: user for user in people},
        channels={channel.id: channel for channel in channels},
        groups={finance.id: finance},
    )


def _people() -> list[User]:
    return [
        User("U0ALICE", "Alice", "asks for things", is_admin=True),
        User("U0BOB", "Bob", "@finance: may decide"),
        User("U0FRANK", "Frank", "@finance: may decide", tz="America/New_York", tz_offset=-18000),
        User("U0CAROL", "Carol", "guest", is_restricted=True),
        User("U0DAVE", "Dave", "from another company", team_id=OTHER_TEAM),
        User("U0ERIN", "Erin", "deactivated", deleted=True),
        User(BOT_USER, BOT_NAME, "app", is_bot=True),
        User(OTHER_BOT_USER, OTHER_BOT_NAME, "another app", is_bot=True),
    ]


def _channels(people: Iterable[User]) -> list[Channel]:
    support = ["U0ALICE", "U0BOB", "U0FRANK", "U0CAROL", BOT_USER]
    shared = ["U0ALICE", "U0BOB", "U0FRANK", "U0DAVE", BOT_USER]
    return [
        Channel("C0SUPPORT", "support", "public", support),
        Channel("C0OPS", "ops", "private", ["U0ALICE", "U0BOB", "U0FRANK", BOT_USER]),
        Channel("C0SHARED", "shared", "public", shared, shared=True),
        *(
            Channel(f"D0{user.id[2:]}", "", "im", [user.id, BOT_USER])
            for user in people
            if not user.is_bot
        ),
    ]
