"""Kill switches: how they stand, in the Home tab of owners, and the form that turns one on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from agent.rules.standing import Switch
from agent.rules.switches import ALL, agent_switch, in_words, tool_switch
from bot.slack.cards.blocks import (
    Block,
    actions,
    button,
    confirmation,
    header,
    plain,
    section,
)
from bot.slack.cards.inputs import written
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.modals import StateValues, View
from bot.slack.cards.numbering import with_number
from bot.slack.cards.text import escape, one_line, quoted, shorten
from bot.slack.ids import (
    INPUT_ACTION,
    REASON_BLOCK,
    SWITCH_BLOCK,
    SWITCH_MODAL,
    SWITCH_OFF,
    SWITCH_ON,
)

SWITCH_TITLE: Final = "Kill switch"
_NAME_LIMIT: Final = 80
_REASON_LIMIT: Final = 300
#: What looks like the sign that would end a span of code.
_TICK: Final = "ˋ"
#: Slack takes a hundred options, and an option of so many characters.
_OPTIONS_LIMIT: Final = 100
_OPTION_LIMIT: Final = 75
#: So many are told with a button of their own.
SHOWN: Final = 5
_NONE_ON: Final = "Nothing is switched off."
_MORE: Final = "… and {} more: `/agent kill-switch status` lists them."
_WHAT_IT_DOES: Final = (
    "From then on nothing of it starts, in any process. What runs now finishes. Runs hold and lose nothing; they go on by"
    " themselves when it is off."
)


def as_typed(name: str) -> str:
    """In a span of code, where nothing of it is formatting: it can be typed as it stands."""
    return f"`{escape(one_line(name, _NAME_LIMIT).replace('`', _TICK))}`"


def switch_words(switch: Switch) -> str:
    """``everything by @Bob, today 13:05: they are doubled``"""
    what, by = quoted(in_words(switch.name), _NAME_LIMIT), name_principal(switch.turned.by)
    reason = f": {quoted(switch.turned.reason, _REASON_LIMIT)}" if switch.turned.reason else ""
    return f"⏸ *{what}* ({as_typed(switch.name)}) by {by}, {when(switch.at)}{reason}"


def switches_blocks(on: Sequence[Switch]) -> list[Block]:
    """What is switched off, each with its button, and one to switch something off."""
    blocks = [header(SWITCH_TITLE)]
    for number, switch in enumerate(on[:SHOWN], 1):
        what = in_words(switch.name)
        sure = confirmation(
            "Let it go on?", f"{what}: the runs that it held start again.", "Let it go on"
        )
        off = button("Let it go on", SWITCH_OFF, switch.name, about=what, confirm=sure)
        blocks += [section(switch_words(switch)), with_number(actions(off), number)]
    if more := len(on) - SHOWN if len(on) > SHOWN else 0:
        blocks.append(section(_MORE.format(more)))
    turn = button(
        "Switch off …", SWITCH_ON, ALL, about="everything, an agent or a tool", style="danger"
    )
    return [*blocks, *([] if on else [section(_NONE_ON)]), actions(turn)]


def switch_modal(agents: Iterable[str], tools: Iterable[str]) -> View:
    """The form: of what, and why."""
    names = [ALL, *map(agent_switch, sorted(agents)), *map(tool_switch, sorted(tools))]
    fitting = [name for name in names if len(name) <= _OPTION_LIMIT][:_OPTIONS_LIMIT]
    options = [
        {"text": plain(shorten(_option(name), _OPTION_LIMIT)), "value": name} for name in fitting
    ]
    select = {"type": "static_select", "action_id": INPUT_ACTION, "options": options}
    choice = {
        "type": "input",
        "block_id": SWITCH_BLOCK,
        "label": plain("What is switched off?"),
        "element": select,
    }
    return {
        "type": "modal",
        "callback_id": SWITCH_MODAL,
        "private_metadata": json.dumps({"switch": "on"}),
        "title": plain(SWITCH_TITLE),
        "submit": plain("Switch off"),
        "close": plain("Cancel"),
        "blocks": [
            section(_WHAT_IT_DOES),
            choice,
            written(
                REASON_BLOCK, "Why? People see it on the runs that are held.", is_optional=False
            ),
        ],
    }


def chosen_switch(values: StateValues) -> str:
    """Which was chosen; empty for none."""
    element = values.get(SWITCH_BLOCK, {}).get(INPUT_ACTION, {})
    chosen = element.get("selected_option")
    value = chosen.get("value") if isinstance(chosen, dict) else None
    return value if isinstance(value, str) else ""


def _option(name: str) -> str:
    return "Everything" if name == ALL else name
