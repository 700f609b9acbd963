"""What people's words mean to the demo's model: lists of phrases, and nothing cleverer. Pure."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

_ORDER: Final = r"ORD-\d+"
_BETWEEN: Final = r"(?:[,;&\s]+(?:(?:and|also|then|or)\s+)*|\s*(?:…|\.{2,3}|–|\bto\b)\s*)"
#: Orders one after the other: "ORD-1, ORD-2 and ORD-3", "ORD-1 to ORD-6".
ORDERS: Final = rf"{_ORDER}(?:{_BETWEEN}{_ORDER})*"
_RANGE: Final = re.compile(r"ORD-(\d+)\s*(?:…|\.{2,3}|–|\bto\b)\s*ORD-(\d+)", re.IGNORECASE)
_RANGE_LIMIT: Final = 50

_NOT: Final = r"(?:do\s+not|don['’]?t|never|not)"
_IS_NEGATED: Final = re.compile(rf"\b{_NOT}\s+(?:\w+\s+)?$", re.IGNORECASE)
_LEFT_OUT: Final = re.compile(
    rf"\b(?:{_NOT}|skip|without|except(?:\s+for)?|leave\s+out|forget|drop)\s+"
    rf"(?:(?:check|refund|send|do|about)\s+)?({ORDERS})",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(r"\b(?:instead|only|rather)\b", re.IGNORECASE)
_FORGET: Final = re.compile(
    r"\bno\s+need(?:\s+any\s*more)?\s*(?:[.!,]|$)|\b(?:never\s*mind|(?:forget|cancel|drop|leave|stop|abort|skip)"
    r"(?:\s+about)?\s+(?:it|that|this|the\s+rest|everything|all))\b"
    rf"|\b{_NOT}\s+(?:do|bother|refund|send|check|go\s+on)\b"
    r"|^\W*(?:please\s+)?(?:stop|cancel|abort)(?:\s+(?:please|now))?\W*$",
    re.IGNORECASE,
)

_NUMBER: Final = re.compile(r"(?<![\w.,-])(\$?)(\d+(?:,\d{3})*(?:\.\d+)?)(?![\w%-]|[.,]\d)")
#: Before and behind a number that is money although nobody says so: "5 minutes" and "at 5" are none.
_OTHER_BEFORE: Final = re.compile(
    r"(?:\b(?:orders?|numbers?|no\.|tickets?|in|at|after|by|until|within)\s*|#)$", re.IGNORECASE
)
#: Before a number that somebody wants: "she paid 20", "hm 45" and "can we do 25" want nothing yet.
_WANTED_BEFORE: Final = re.compile(
    r"(?:^|[.,;:!(\n])\W*$|\b(?:only|just|(?<!is )it|to|be|is|of|use|refund|take|give|pay|rather|instead|please|then"
    r"|max|most|but|with|amount|say|yes|yeah|no|ok|okay|actually|wait|and|or|ORD-\d+)\s*$",
    re.IGNORECASE,
)
_MONEY_BEHIND: Final = re.compile(
    r"\s*(?:$|[.,;:!?)\n]|(?:please|dollars?|usd|bucks|only|instead|then|now|thanks|max|today"
    r"|for\s+(?:it|this|that|ORD-\d+)|i\s+(?:think|guess)|(?:is|will\s+be)\s+(?:enough|fine|ok|right))\b)",
    re.IGNORECASE,
)
_SHARE: Final = re.compile(
    r"(?<![\w.,-])(\d{1,2})\s*(?:%|percent\b)|\b(half|a\s+quarter)\b", re.IGNORECASE
)
_NO_AMOUNT: Final = re.compile(rf"\?|\b{_NOT}\b|\bno\s+(?!more\b)\w", re.IGNORECASE)
_NOTHING: Final = re.compile(r"\W*(?:nothing|none|no|nope|zero|0)\b(?!\W*\d)", re.IGNORECASE)

_YES_ONLY: Final = re.compile(
    r"(?:\+1|\W|\b(?:yes|yeah|yep|ok|okay|sure|approved?|lgtm|go|ahead|do|it|please|fine|good|thanks|that|this|is)\b)*",
    re.IGNORECASE,
)
_YES: Final = re.compile(
    r"\b(?:yes|yeah|yep|ok(?:ay)?|sure|approved?|lgtm|go\s+ahead)\b|\+1|👍", re.IGNORECASE
)
_THANKS: Final = re.compile(
    r"^\W*(?:many\s+thanks|thanks|thank\s+you|thx|cheers|well\s+done|good\s+(?:work|job)|nice|great|perfect|awesome)\b",
    re.IGNORECASE,
)
_HELLO: Final = re.compile(
    r"\W*(?:hello|hi|hey|good\s+(?:morning|afternoon|evening))\b(?:\s+\w+){0,2}\W*", re.IGNORECASE
)
_OK: Final = re.compile(
    r"\W*(?:ok(?:ay)?|all\s*right|fine|got\s+it|i\s+see|understood|bye|good\s*bye|no\s+worries)\W*",
    re.IGNORECASE,
)
_SMALL_TALK_WORDS: Final = 8
HELLO: Final = "Hello! Tell me what to do, such as `refund ORD-3300 180` or `check ORD-1 ORD-2`."

_SUM_UP: Final = re.compile(
    r"\bsum(?:\s+\w+){0,3}\s+up\b|\bsummari[sz]e\b|\bsummary\b|\btl;?dr\b"
    r"|\bwhat\s+(?:does|do)\s+(?:(?:the|this|that|these)\s+(?:\w+\s+)?(?:files?|threads?|messages?)|it|they)\s+say\b"
    r"|\bwhat(?:['’]s|\s+is|\s+stands)\s+in\s+(?:the|this|that|these)\s+(?:\w+\s+)?(?:files?|threads?|messages?)\b"
    r"|\bwhat\s+(?:was|did\s+\w+|have\s+\w+)\s+(?:said|say)\b",
    re.IGNORECASE,
)


def orders_in(words: str) -> tuple[str, ...]:
    """Each order that is named, once; all between the two where it says "to"."""
    named = re.findall(_ORDER, _RANGE.sub(_all_between, words).upper())
    return tuple(dict.fromkeys(named))


def _all_between(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    if not 0 < last - first < _RANGE_LIMIT:
        return match[0]
    return " ".join(f"ORD-{number}" for number in range(first, last + 1))


def left_out_in(words: str) -> tuple[str, ...]:
    """The orders that are not wanted any more."""
    return orders_in(" ".join(_LEFT_OUT.findall(words)))


def is_negated(words: str, at: int) -> bool:
    """Is what begins ``at`` there named as what is not to be done?"""
    return _IS_NEGATED.search(_just_before(words, at)) is not None


def _just_before(words: str, at: int) -> str:
    return words[max(0, at - 40) : at]


def is_instead(words: str) -> bool:
    """Is it wanted in place of what was wanted before?"""
    return _INSTEAD.search(words) is not None or is_forgetting(words)


def is_forgetting(words: str) -> bool:
    """Is what is left not wanted any more?"""
    return _FORGET.search(words) is not None


def is_yes(words: str) -> bool:
    """Nothing but a yes."""
    return _YES.search(words) is not None and _YES_ONLY.fullmatch(words) is not None


def amount_in(words: str, of: str | None = None) -> str | None:
    """The one amount of money that ``words`` say is wanted; "half" is half ``of`` it. None where there is none,
    or where one can't be sure: money moves on it."""
    if _NO_AMOUNT.search(words):
        return None
    numbers = list(_NUMBER.finditer(words))
    if not all(_is_money(words, number) for number in numbers):
        return None
    amounts = {number[2].replace(",", "") for number in numbers}
    found = amounts | {_share_of(of, share) for share in _SHARE.finditer(words)}
    return found.pop() if len(found) == 1 else None


def _is_money(words: str, number: re.Match[str]) -> bool:
    before = _just_before(words, number.start())
    if not _WANTED_BEFORE.search(before):
        return False
    is_other = not number[1] and _OTHER_BEFORE.search(before)
    return not is_other and (
        number[1] != "" or _MONEY_BEHIND.match(words, number.end()) is not None
    )


def _share_of(whole: str | None, share: re.Match[str]) -> str | None:
    try:
        amount = Decimal(whole or "")
    except InvalidOperation:
        return None
    hundredths = int(share[1]) if share[1] else 50 if share[2].lower() == "half" else 25
    return f"{(amount * hundredths / 100).quantize(Decimal('0.01'))}".removesuffix(".00")


def is_nothing(words: str) -> bool:
    """Is nothing wanted at all, as an answer to how much?"""
    return is_forgetting(words) or _NOTHING.match(words) is not None


def is_summary(words: str) -> bool:
    """Does it ask what came with the words?"""
    return _SUM_UP.search(words) is not None


def friendly_reply(words: str) -> str | None:
    """To what wants nothing done; None for anything else."""
    if re.search(r"\d", words.replace("+1", "")) or len(words.split()) > _SMALL_TALK_WORDS:
        return None
    if _THANKS.match(words):
        return "You're welcome!"
    if _HELLO.fullmatch(words):
        return HELLO
    if _OK.fullmatch(words):
        return "All right."
    if is_yes(words):
        return "All right. A yes in words decides nothing, though: what waits is decided with its buttons."
    return None
