"""What we say about ourselves: how to ask for something, and how to decide.

We are called what the workspace calls us, so no text of ours names us.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agent.engine.agents import Agent
from bot.slack.cards.dry_run import DRY_RUN_IN_PLAIN
from bot.slack.cards.text import quoted
from bot.slack.choosing import where_it_answers
from bot.slack.interruptions import Interruption
from bot.slack.words import Misused

_HELP: Final = """\
I put an agent to work on what you ask. Before it does anything risky, the people who may decide are \
asked in the thread.

*Ask for something*
{ways}
• *Ask about this* in the menu of a message
{demo}• files shared in the same message go to the agent, where they are text of up to 200 KB

*Talk to it*
• in its thread, also without a mention: the agent is told it at its next step, or goes on with it if it had ended and you took part before. My :eyes: on it says that it was taken
• it decides nothing; while a call waits, those who may decide can use it as guidance

*Look around*
• my Home tab: what waits for you, your runs, what was decided lately
• `/agent pending`: what waits for you
• `/agent runs`: your runs
• `/agent status RUN`: one of them
• `/agent journal RUN`: what happened in it, who decided what, and when
• `/agent grants`: what is allowed beforehand, and taking it back
• `/agent kill-switch status`: what its owners have switched off; `/agent kill-switch on all REASON` is theirs

*Step in*
• `pause`, `resume` or `stop`, alone as a message in its thread (`please stop it!` will do); or the buttons of its first message. `retry`, if it failed
• `/agent pause`, `/agent resume`, `/agent stop`, or the same words in a direct message to me or with a mention of me: your newest run there, or your only one; with its id after the command, any that you see"""

_WAYS: Final = """\
• `/agent` and what is to be done, in your own words
• a mention of me and the same, in a channel or a thread
• the same words in a direct message to me"""

#: With the demo's model, which takes no words but these.
_WAYS_OF_THE_DEMO: Final = """\
• `/agent hello`: the demo's model, which is no language model, says what it can do, and how that is written
• a mention of me and the same words, in a channel or a thread
• the same words in a direct message to me"""

_WAYS_OF_THE_SHOP: Final = """\
• `/agent refund ORD-3300 180`, or `/agent refund ORD-3300`, and it asks how much
• a mention of me and `refund ORD-3300 180`, in a channel or a thread
• the same words in a direct message to me"""

_MORE_OF_THE_SHOP: Final = """\
• `sum it up` or `what does the file say`: what was said in the thread before, or stands in a shared file
• the demo also takes `check ORD-1 ORD-2` and `voucher ORD-7 20`; to what it makes no sense of, it answers with its whole list
"""

#: What an agent has if it is the demo shop's.
_SHOP: Final = frozenset({"process_refund", "ask_user", "check_order", "send_voucher"})

HOW_TO_DECIDE = """\
Nothing was decided. To decide, use the buttons of the approval message in the thread. Where you \
can't see them, write there, as the whole message, a mention of me and `approve apr_…` or \
`deny apr_… reason`, with the whole id. A question of the agent's is answered with its own buttons."""


_AGENTS: Final = """

*Agents*
{agents}
• a run's thread stays with its agent; another one is asked outside of it"""


def help_on(agents: Mapping[str, Agent]) -> str:
    """All there is, with whom one can ask where there are several. What one can ask for is told where the demo's model
    answers: any other takes any words."""
    ways, demo = _how_to_ask(list(agents.values()))
    told = _HELP.format(ways=ways, demo=demo)
    if len(agents) < 2:
        return told
    rows = [
        f"• {quoted(one.name, 40)}, {where_it_answers(one)}{_mode(one)}: `/agent {quoted(one.name, 40)}: …`, or `{quoted(one.name, 40)}: …`"
        " with a mention of me or in a direct message"
        for one in agents.values()
    ]
    return told + _AGENTS.format(agents="\n".join(rows))


def _how_to_ask(agents: Sequence[Agent]) -> tuple[str, str]:
    if not agents or any(one.model.name != "demo" for one in agents):
        return _WAYS, ""
    if all({tool.name for tool in one.toolbox} >= _SHOP for one in agents):
        return _WAYS_OF_THE_SHOP, _MORE_OF_THE_SHOP
    return _WAYS_OF_THE_DEMO, ""


def _mode(agent: Agent) -> str:
    return f" ({DRY_RUN_IN_PLAIN}: nothing is carried out)" if agent.dry_run else ""


def mistyped(name: str) -> str:
    """For a word that is nearly a sub-command."""
    return (
        f"Nothing was started. Did you mean `/agent {name}`? What an agent is to do takes more than a word;"
        " `/agent help` says how to ask."
    )


def nothing_begun(word: Interruption) -> str:
    """For such words where no run is."""
    return f"Nothing was begun: if you mean a run of yours, write just `{word}`, here or in its thread."


def misused(wish: Misused) -> str:
    """For a sub-command with something behind it that looks like a run's id."""
    takes = (
        "nothing behind it, or a run's whole id (`/agent runs` lists yours)"
        if wish.takes_run
        else "nothing behind it"
    )
    return (
        f"Nothing was started, and nothing stopped: `/agent {wish.name}` takes {takes}. To ask an agent exactly this,"
        f" write it to me in a direct message, or in a message that mentions me: {quoted(wish.text, 200)}"
    )


def how_to_intervene(how: Interruption) -> str:
    """For a message that would pause, resume or stop a run, where there is none."""
    return (
        f"Nothing was done: nothing is at work in this thread. Say `{how}` in the thread of a run, or use"
        f" `/agent {how}`."
    )


HOW_TO_RETRY = """\
Nothing was done: nothing has failed in this thread. Say `retry` in the thread of a run that failed, or press \
Retry there."""

#: For words that may be meant for others.
KEPT_FOR_RETRY = """\
Nothing was begun: the run in this thread failed, and can go on from where it did: write just `retry`, or press \
Retry. If this is something else to do, say it with a mention of me."""

_HOW_TO_SAY: Final[Mapping[Interruption, str]] = {
    "pause": "To pause the run, write just `pause`, or press Pause.",
    "resume": "To have the run go on, write just `resume`, or press Resume.",
    "stop": "To stop the run, write just `stop`, or press Stop.",
}


def how_to_say(word: Interruption) -> str:
    """For words that may be meant so, and do nothing."""
    return _HOW_TO_SAY[word]


NOTHING_TO_STOP = """\
Nothing was begun: nothing is at work in this thread, and this reads as if something was to be stopped. If \
it is something to do, say it with a mention of me."""


UNKNOWN_BUTTON = """\
Nothing was done: this button is not known to the version that runs now. If the message is an old \
one, look in its thread for a newer one, or ask for the run's state with `/agent status`."""

UNKNOWN_COMMAND = """\
Nothing was done: this command is not known to the version that runs now. `/agent help` says what is."""

UNKNOWN_MODAL = """\
Nothing was done: this form is not known to the version that runs now. Close it and open it again \
from the message in the thread."""

UNREADABLE = """\
Nothing was done: what Slack sent us could not be read. Please try it once more; if that does not \
help, `/agent status` shows how your run is doing."""
