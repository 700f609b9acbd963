"""What is left of an event once its payloads, or all that people and models said, have been removed.

What is left is an event like any other: a journal of them folds, to a run with the same calls, decisions and end. Who
did what and when, under which rule, and what it cost, stays; where words or values stood, ``REMOVED`` does.
"""

from __future__ import annotations

from typing import TypeVar, assert_never

from pydantic import JsonValue

from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    RunFailed,
    RunFinished,
    RunReopened,
    RunStarted,
)
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    BudgetReached,
    HaltsChanged,
    HistoryTaken,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    PastCall,
    PastTurn,
    RunCancelled,
    RunHeld,
    RunResumed,
    SessionContinued,
    StopRequested,
    TakenCall,
    TakenTurn,
)
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import (
    GivenFile,
    ProposedCall,
    Quoted,
    Summary,
    Taint,
    Verdict,
    Words,
)

#: Stands where something was removed; people and models read it.
REMOVED = "[removed: it was kept long enough]"
_NO_ARGUMENTS = "{}"

T = TypeVar("T", str, str | None)
TAINTS = TypeVar("TAINTS", tuple[Taint, ...], tuple[Taint, ...] | None)


def without_payloads(event: Event) -> Event:
    """Without arguments and what they are shown as, outputs, previews, and the texts of files. Each kind is named, so
    that a new one is looked at: what is forgotten here is kept for ever."""
    match event:
        case RunStarted() | MessageReceived():
            return event.model_copy(update={"files": _no_texts(event.files)})
        case ModelReplied(calls=calls):
            # What the provider wants to have back is of nobody's use any more, and holds what was thought.
            kept = tuple(map(_no_arguments, calls))
            return event.model_copy(update={"calls": kept, "provider": None})
        case CallJudged(args=args, is_question=is_question, verdict=verdict):
            kept_args = _blank(args) if is_question else {}
            return event.model_copy(update={"args": kept_args, "verdict": _no_reason(verdict)})
        case CallPreviewed(preview=preview, error=error):
            return event.model_copy(update={"preview": _gone(preview), "error": _gone(error)})
        case CallRefused(message=message, verdict=verdict):
            kept_verdict = None if verdict is None else _no_reason(verdict)
            return event.model_copy(update={"message": _gone(message), "verdict": kept_verdict})
        case ApprovalRequested():
            return _without_what_is_asked(event)
        case ApprovalDecided(args=args) if args:
            return event.model_copy(update={"args": {}})
        case CallProgressed(text=text):
            return event.model_copy(update={"text": _gone(text)})
        case CallReturned(output=output):
            return event.model_copy(update={"output": None if output is None else REMOVED})
        case CallLeftUnknown(detail=detail):
            return event.model_copy(update={"detail": _gone(detail)})
        case HistoryTaken(turns=turns):
            return event.model_copy(update={"turns": tuple(map(_taken_without_payloads, turns))})
        case SessionContinued(turns=past):
            return event.model_copy(update={"turns": tuple(map(_past_without_payloads, past))})
        case (
            ApprovalAskedAgain()
            | ApprovalDecided()
            | ApprovalEscalated()
            | ApprovalExpired()
            | ApprovalReminded()
            | ApprovalVoted()
            | BudgetReached()
            | CallLookedUp()
            | CallStarted()
            | ConversationShortened()
            | ConversationSummarised()
            | HaltsChanged()
            | MessageDeleted()
            | MessageEdited()
            | ModelFailed()
            | RunCancelled()
            | RunFailed()
            | RunFinished()
            | RunHeld()
            | RunReopened()
            | RunResumed()
            | StopRequested()
        ):
            return event
        case _:
            assert_never(event)


def without_words(event: Event) -> Event:
    """Without what people and models said either: the skeleton that is left is for the auditor."""
    event = without_payloads(event)
    match event:
        case RunStarted(prompt=prompt, quoted=quoted, files=files):
            gone = {
                "prompt": _gone(prompt),
                "quoted": _no_quotes(quoted),
                "files": _no_names(files),
            }
            return event.model_copy(update=gone)
        case MessageReceived(text=text, quoted=quoted, files=files):
            gone = {"text": _gone(text), "quoted": _no_quotes(quoted), "files": _no_names(files)}
            return event.model_copy(update=gone)
        case MessageEdited(text=text) | ModelReplied(text=text):
            return event.model_copy(update={"text": _gone(text)})
        case ModelFailed(error=error) | RunFailed(error=error):
            return event.model_copy(update={"error": _gone(error)})
        case RunFinished(answer=answer):
            return event.model_copy(update={"answer": _gone(answer)})
        case ApprovalVoted(note=note):
            return event.model_copy(update={"note": _gone(note)})
        case ApprovalDecided(note=note, reason=reason, guidance=guidance, text=answer):
            said = {"note": note, "reason": reason, "guidance": guidance, "text": answer}
            return event.model_copy(update={name: _gone(words) for name, words in said.items()})
        case RunHeld(reason=reason) | StopRequested(reason=reason):
            return event.model_copy(update={"reason": _gone(reason)})
        case HaltsChanged(halts=halts):
            why = tuple(one.model_copy(update={"reason": _gone(one.reason)}) for one in halts)
            return event.model_copy(update={"halts": why})
        case CallJudged(verdict=verdict) | CallRefused(verdict=Verdict() as verdict):
            return event.model_copy(update={"verdict": _no_files(verdict)})
        case HistoryTaken(turns=turns, summary=summary, taints=taints):
            kept = {"summary": _no_summary(summary), "taints": _no_taints(taints)}
            return event.model_copy(
                update={"turns": tuple(map(_taken_without_words, turns)), **kept}
            )
        case SessionContinued(turns=past, summary=summary, taints=taints):
            told = {"summary": _no_summary(summary), "taints": _no_taints(taints)}
            return event.model_copy(update={"turns": tuple(map(_past_without_words, past)), **told})
        case ConversationSummarised(summary=summary):
            return event.model_copy(update={"summary": _no_summary(summary)})
        case (
            ApprovalAskedAgain()
            | ApprovalEscalated()
            | ApprovalExpired()
            | ApprovalReminded()
            | ApprovalRequested()
            | BudgetReached()
            | CallLeftUnknown()
            | CallLookedUp()
            | CallPreviewed()
            | CallProgressed()
            | CallRefused()
            | CallReturned()
            | CallStarted()
            | ConversationShortened()
            | MessageDeleted()
            | RunCancelled()
            | RunReopened()
            | RunResumed()
        ):
            return event
        case _:
            assert_never(event)


def _gone(words: T) -> T:
    return REMOVED if words else words


def _no_texts(files: tuple[GivenFile, ...]) -> tuple[GivenFile, ...]:
    return tuple(one.model_copy(update={"text": _gone(one.text)}) for one in files)


def _no_names(files: tuple[GivenFile, ...]) -> tuple[GivenFile, ...]:
    gone = {"name": REMOVED}
    return tuple(one.model_copy(update={**gone, "why_not": _gone(one.why_not)}) for one in files)


def _no_files(verdict: Verdict) -> Verdict:
    return verdict.model_copy(update={"tainted_by": _no_taints(verdict.tainted_by)})


def _no_taints(taints: TAINTS) -> TAINTS:
    """The names of files; those of tools are of the skeleton."""
    if taints is None:
        return taints
    gone = {"name": REMOVED}
    return tuple(one.model_copy(update=gone) if one.source == "file" else one for one in taints)


def _no_quotes(quoted: tuple[Quoted, ...]) -> tuple[Quoted, ...]:
    """Each stays where it stood: an edit that follows is of one of them."""
    return tuple(one.model_copy(update={"text": REMOVED}) for one in quoted)


def _no_arguments(call: ProposedCall) -> ProposedCall:
    return call.model_copy(update={"arguments": _NO_ARGUMENTS})


def _no_reason(verdict: Verdict) -> Verdict:
    """Its words quote arguments; the rule says why without them."""
    return verdict.model_copy(update={"reason": _gone(verdict.reason)})


def _blank(value: JsonValue) -> JsonValue:
    """The same shape without a word in it: whoever shows a question looks for its parts."""
    if isinstance(value, dict):
        return {key: _blank(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_blank(inner) for inner in value]
    return REMOVED if isinstance(value, str) else value


def _without_what_is_asked(event: ApprovalRequested) -> Event:
    kept: JsonValue = {}
    if event.approval_kind == "question":
        kept = _blank(event.args)
    elif event.approval_kind == "budget":
        kept = event.args  # Figures of what was used, which the end of the run shows as well.
    gone = {"args": kept, "preview": _gone(event.preview)}
    if event.approval_kind != "budget":
        gone["reason"] = _gone(event.reason)
    return event.model_copy(update=gone)


def _words(words: Words, *, has_text: bool) -> Words:
    if has_text:
        return words.model_copy(update={"files": _no_texts(words.files)})
    gone = {
        "text": _gone(words.text),
        "quoted": _no_quotes(words.quoted),
        "files": _no_names(_no_texts(words.files)),
    }
    return words.model_copy(update=gone)


def _taken_without_payloads(turn: TakenTurn) -> TakenTurn:
    calls = tuple(map(_taken_call, turn.calls))
    words = tuple(_words(one, has_text=True) for one in turn.words)
    return turn.model_copy(update={"calls": calls, "words": words, "provider": None})


def _taken_without_words(turn: TakenTurn) -> TakenTurn:
    said, words = map(_gone, turn.said), (_words(one, has_text=False) for one in turn.words)
    gone = {"said": tuple(said), "words": tuple(words), "text": _gone(turn.text)}
    return turn.model_copy(update=gone)


def _taken_call(call: TakenCall) -> TakenCall:
    gone = {
        "proposed": _no_arguments(call.proposed),
        "args": {},
        "output": None if call.output is None else REMOVED,
        "told": _gone(call.told),
    }
    return call.model_copy(update=gone)


def _past_without_payloads(turn: PastTurn) -> PastTurn:
    return turn.model_copy(update={"calls": tuple(map(_past_call, turn.calls))})


def _past_without_words(turn: PastTurn) -> PastTurn:
    said = tuple(map(_gone, turn.said))
    return turn.model_copy(update={"said": said, "text": _gone(turn.text)})


def _past_call(call: PastCall) -> PastCall:
    gone = {"proposed": _no_arguments(call.proposed), "told": _gone(call.told)}
    return call.model_copy(update=gone)


def _no_summary(summary: Summary | None) -> Summary | None:
    if summary is None:
        return None
    left_out = summary.left_out + len(summary.said) + len(summary.done)
    gone = {"text": _gone(summary.text), "said": (), "done": (), "left_out": left_out}
    return summary.model_copy(update=gone)
