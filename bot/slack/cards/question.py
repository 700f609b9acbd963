"""The card on which an agent asks people something, and what they answered."""

from __future__ import annotations

from collections.abc import Sequence

from agent.rules.json_text import dump_text
from agent.rules.listing import join_words
from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import (
    BUTTON_LIMIT,
    Block,
    actions,
    button,
    context,
    lines,
    mrkdwn,
    plain,
    plain_section,
    section,
    select,
)
from bot.slack.cards.deciding import call_out_last, decided_line, decided_text, not_decided_words
from bot.slack.cards.expired import silence_blocks
from bot.slack.cards.mentions import (
    ANY_MEMBER,
    mention_each_decider,
    name_principal,
    when,
)
from bot.slack.cards.message import Announcement, Message
from bot.slack.cards.remarks import remark
from bot.slack.cards.text import (
    SHORTENED,
    beginning,
    cut,
    measure,
    one_line,
    quoted,
    shorten,
    show,
    split,
)
from bot.slack.ids import ANSWER, SlackUser

_QUESTION_LIMIT = 4_500
_PIECE_LIMIT = 2_900
#: As many as the tool takes; a journal may hold more, and they can be written out.
_OPTIONS_LIMIT = 10
#: More of them are chosen from a list.
_BUTTONS_LIMIT = 5
_OPTION_LIMIT = 150
#: About what a telephone shows of a button.
_SHORT_OPTION = 30
_ANSWER_SHOWN = 3_000
_NAMES_LIMIT = 10
_NOT_ANSWERED = "It was not answered."


def question_message(approval: Approval, state: RunState) -> Message:
    """The card as it is to stand now: with buttons while it is open, with the answer afterwards."""
    if approval.status == "pending":
        return _pending(approval, state)
    return _ended(approval, state)


def question_of(approval: Approval) -> str:
    """What the agent asks."""
    question = approval.requested.args.get("question")
    return question if isinstance(question, str) else dump_text(dict(approval.requested.args))


def options_of(approval: Approval) -> tuple[str, ...]:
    """The answers to choose from; the first is the button 1."""
    options = approval.requested.args.get("options")
    if not isinstance(options, list):
        return ()
    return tuple(option for option in options if isinstance(option, str))


def takes_own_words(approval: Approval) -> bool:
    """May it be answered with something else than an option?"""
    return bool(approval.requested.args.get("free_text")) or not options_of(approval)


def those_who_may_answer(may: Approvers, state: RunState) -> str:
    """By name, whoever asked for the run first; empty where nobody is named, or in Slack."""
    requester = [name_principal(state.requester)] if may.requester else []
    named = list(dict.fromkeys([*requester, *mention_each_decider(may)]))
    more = len(named) - _NAMES_LIMIT
    shown = [*named[:_NAMES_LIMIT], *([f"{more} more"] if more > 0 else [])]
    return join_words(shown) if shown else ""


def whom_it_asks(may: Approvers, state: RunState) -> str:
    """In a sentence: those who are named, else whoever else may answer."""
    nobody = ANY_MEMBER if may.members else "the operator, on the command line"
    return those_who_may_answer(may, state) or nobody


def _pending(approval: Approval, state: RunState) -> Message:
    asks = f"{name_principal(state.requester)}'s run asks:"
    text = f"{asks} {quoted(question_of(approval), 300)}"
    above = (section(f"*{asks}*"), *asked_blocks(approval))
    buttons = actions(*answer_buttons(approval))
    how = [plain(words) for words in [_how_to_answer(approval, state)] if words]
    whole = (*above, context(*who_may_answer(approval, state), *how), buttons)
    first = (*above, context(*who_may_answer(approval, state, is_posted=False), *how), buttons)
    return Message(
        text=text,
        blocks=whole,
        announce=Announcement(_rung(approval, state, text), first, is_complete=first == whole),
        plain=_rung(
            approval,
            state,
            f"{text} This conversation can't show the answers to choose from. It is answered on the"
            f" command line: pilothouse answer {approval.id} TEXT.",
        ),
    )


def _rung(approval: Approval, state: RunState, text: str) -> str:
    """Our words name the one who asked for the run; only where that is nobody in Slack, others must
    be rung."""
    asked = approval.approvers
    is_named = asked.requester and SlackUser.of(state.requester) is not None
    return text if is_named else call_out_last(asked, text)


def asked_blocks(approval: Approval) -> list[Block]:
    """The question, and the options in full where buttons have no room for them."""
    rows = [
        (f"{number}. ", one_line(option, _OPTION_LIMIT))
        for number, option in enumerate(options_of(approval)[:_OPTIONS_LIMIT], 1)
    ]
    return [
        *(plain_section(piece) for piece in _pieces(question_of(approval))),
        *([] if _is_told_by_buttons(approval) else [lines(rows)]),
    ]


def _is_told_by_buttons(approval: Approval) -> bool:
    options = options_of(approval)
    return all(one == one_line(one, _SHORT_OPTION) for one in options)


def _pieces(question: str) -> Sequence[str]:
    text = show(beginning(question, 40_000)).text
    if measure(text) > _QUESTION_LIMIT:
        text = cut(text, _QUESTION_LIMIT) + SHORTENED
    return [piece for piece in split(text, _PIECE_LIMIT) if piece.strip()]


def who_may_answer(approval: Approval, state: RunState, *, is_posted: bool = True) -> list[Block]:
    asked = approval.requested
    because = asked.again_because
    return [
        mrkdwn(_who_may_answer(approval.approvers, state, is_posted=is_posted)),
        *([mrkdwn(f"until {when(asked.expires_at)}")] if asked.expires_at else []),
        *([plain(f"Asked again because: {one_line(because, 300)}")] if because else []),
    ]


def _who_may_answer(may: Approvers, state: RunState, *, is_posted: bool) -> str:
    """Whoever asked for the run is rung, and nobody else: a mention of others would, until it is posted."""
    who = those_who_may_answer(may, state)
    if may.members:
        return f"{who}, or {ANY_MEMBER}, may answer" if who else f"{ANY_MEMBER} may answer"
    if not who:
        return "only the operator may answer, on the command line"
    requester = name_principal(state.requester)
    if may.requester and who != requester and not is_posted:
        return f"{requester} may answer, and whoever else the policy names"
    return f"{who} may answer"


def _how_to_answer(approval: Approval, state: RunState) -> str:
    """In its thread, where words are an answer: not where they could be one to something else that is asked. Full
    members who are not named speak to us, or else only to each other."""
    may = approval.approvers
    asked = [one for one in state.open_approvals if one.kind == "question"]
    who = those_who_may_answer(may, state)
    if not takes_own_words(approval) or len(asked) > 1 or not (who or may.members):
        return ""
    count = len(options_of(approval))
    with_what = "list" if count > _BUTTONS_LIMIT else "buttons" if count else "button"
    whose = ""
    if may.members:
        whose = "; whoever is not named here mentions me" if who else " with a mention of me"
    return f"Answer with the {with_what}, or reply in this thread{whose}."


def answer_buttons(approval: Approval) -> list[Block]:
    """An option a button, or all in one list; none is primary, since none is the likelier one."""
    about = one_line(question_of(approval), BUTTON_LIMIT)
    options = options_of(approval)[:_OPTIONS_LIMIT]
    labels = (
        options
        if _is_told_by_buttons(approval)
        else [f"{number}. {option}" for number, option in enumerate(options, 1)]
    )
    made = _choices([one_line(label, BUTTON_LIMIT) for label in labels], approval, about)
    if takes_own_words(approval):
        words = "Another answer" if options else "Answer"
        made.append(button(words, ANSWER, approval.id, about=about))
    return made


def _choices(labels: Sequence[str], approval: Approval, about: str) -> list[Block]:
    """A button each, or one list where they are many."""
    if len(labels) <= _BUTTONS_LIMIT:
        return [
            button(label, f"{ANSWER}:{number}", approval.id, about=about)
            for number, label in enumerate(labels, 1)
        ]
    numbered = [(label, f"{number}|{approval.id}") for number, label in enumerate(labels, 1)]
    return [select(f"{ANSWER}:1", numbered, placeholder="Choose an answer")]


def _ended(approval: Approval, state: RunState) -> Message:
    decided = approval.decided
    if decided is not None and approval.status == "answered":
        mark, words = "✅", "Answered"
        said = remark("Answer", decided.text, limit=_ANSWER_SHOWN)
    elif decided is not None:
        mark, words = "⛔", "Not answered"
        said = remark("Reason", decided.reason)
    else:
        mark, words = not_decided_words(approval, state)
        said = [section(_NOT_ANSWERED)]
        if approval.status == "expired":
            said += silence_blocks(approval, state, about="the agent's question")
    text = f"{decided_text(mark, words, approval)}{quoted(question_of(approval), 240)}"
    if decided is not None and decided.text:
        text += f" · {quoted(decided.text, 240)}"
    return Message(
        text=text,
        blocks=(
            section(f"*{name_principal(state.requester)}'s run asked:*"),
            *(
                plain_section(shorten(piece, _PIECE_LIMIT))
                for piece in _pieces(question_of(approval))
            ),
            section(decided_line(mark, words, approval)),
            *said,
        ),
    )
