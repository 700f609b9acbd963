"""Secrets in what is shown. Only the display is masked: what runs is what was approved.

A mask also hides from whoever decides. So the patterns take no more than a secret's own characters
where they can, what could be a command is shown whatever it is called, every mask says how much is
behind it, and every card says when something is masked.
"""

from __future__ import annotations

import re

from agent.rules.secret_names import SECRET_NAMES, is_clear
from agent.rules.secret_texts import (
    MASK,
    is_made,
    is_made_with_signs,
    is_sentence,
    is_surely_made,
    mask_of,
    may_hide_a_command,
)

#: Quoted, also to the end of a text that was cut, or a word; not what begins a list or an object.
_VALUE = (
    r"(?:\\\"[^\\\"\n]*(?:\\\"|\Z)|\"(?:[^\"\\\n]|\\.)*(?:\"|\Z)|'[^'\n]*(?:'|\Z)"
    r"|(?![\[{](?:[\s\[\]{}•\"'\\]|\Z))[^\s,;&'\"}<>|()]+)"
)
#: Between a name and its value. What stands on the next line, or behind a blank that follows a ``=``, may be a
#: command of its own.
_IS = r"(?:[ \t]*:[ \t]*|[ \t]+=[ \t]*|=(?![ \t]))"

# None of these begins with a repetition: on long text that would be quadratic.
_PATTERNS = (
    re.compile(
        rf"(?P<keep>authorization\\?['\"]?{_IS}\\?['\"]?(?:(?:bearer|basic|token|digest)[ \t]+)?)"
        r"[^\s'\",;\\]+",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>\bbearer[ \t]+)[A-Za-z0-9+/=_.~-]{8,}", re.IGNORECASE),
    # scheme://user:password@host. A port is no password: no path that follows one may be hidden, nor
    # what stands behind the first @, which may be the host.
    re.compile(r"(?P<keep>://[^\s:/@]{0,256}:)(?!\d{1,5}[/?#])[^\s@'\"]{1,512}(?=@)"),
    # name=value, name: value, "name": "value", and the first of several
    re.compile(
        rf"(?P<keep>{SECRET_NAMES}\\?['\"]?{_IS}(?:\[\s*(?=\\?['\"]))?){_VALUE}", re.IGNORECASE
    ),
    # The one line of a block in YAML.
    re.compile(
        rf"(?P<keep>{SECRET_NAMES}\s*:[ \t]*[|>][+-]?[ \t]*\n[ \t]+)[^\s]+(?=[ \t]*(?:\n|\Z))",
        re.IGNORECASE,
    ),
    # --password value
    re.compile(
        rf"(?P<keep>(?<![\w-])--?[\w-]{{0,40}}?{SECRET_NAMES}[ \t]+)(?!-){_VALUE}", re.IGNORECASE
    ),
    # -u user:password
    re.compile(
        r"(?P<keep>(?<![\w-])(?:-u|--user|--proxy-user)[ =]?['\"]?[^\s:'\"/=]{1,64}:)"
        r"(?!//)(?!\d+(?!\w))[^\s'\"]+"
    ),
    re.compile(
        r"(?P<keep>\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;&]{0,200}?\s-p"
        rf"|\bsshpass[ \t]+-p[ \t]*){_VALUE}"
    ),
    re.compile(rf"(?P<keep>\bredis-cli\b[^\n|;&]{{0,200}}?[ \t]-a[ \t]+){_VALUE}"),
    re.compile(r"(?P<keep>[?&](?:key|sig|signature|auth)=)[^\s&#'\"]+", re.IGNORECASE),
    re.compile(r"(?P<keep>\b(?:AccountKey|SharedAccessKey|sig)=)[A-Za-z0-9+/%_-]{16,}={0,2}"),
    # What may be a user and a password, and no word.
    re.compile(r"(?P<keep>\b(?:Basic|BASIC|basic) )[A-Za-z0-9+/]{6,}={1,2}(?![\w=])"),
    # Tokens that say what they are.
    re.compile(r"(?P<keep>\bxox[a-z]-|\bxapp-)[A-Za-z0-9-]{6,}"),
    re.compile(r"(?P<keep>\bsk-|\bgh[pousr]_|\bgithub_pat_|\bglpat-)[A-Za-z0-9_-]{12,}"),
    re.compile(r"(?P<keep>\b[rs]k_(?:live|test)_|\bwhsec_|\bhf_|\bnpm_)[A-Za-z0-9]{12,}"),
    re.compile(r"(?P<keep>\bhooks\.slack\.com/[a-z]{1,20}/)[A-Za-z0-9/_-]+"),
    re.compile(r"(?P<keep>\bAKIA|\bASIA|\bAIza)[A-Za-z0-9_-]{12,}"),
    re.compile(r"(?P<keep>\beyJ)[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+)?"),
)
# A PEM block, also one inside a JSON string: what stands in it are lines that can be nothing else.
_ARMOUR = re.compile(
    r"(?P<keep>-----BEGIN [A-Z0-9 ]{1,40}-----)"
    r"(?:(?:\\r|\\n|\s)+(?:"
    r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID): [\w ,.:/@+=-]{1,100}"
    r"|(?=[a-z0-9+/]*[A-Z])(?:[A-Za-z0-9+][A-Za-z0-9+/]{0,5000}+|/[A-Za-z0-9+/]{63,5000}+)={0,2}"
    r"(?![^\s\\'\"])))+"
)
_COOKIES = re.compile(
    rf"\bcookie\\?['\"]?{_IS}\\?['\"]?[\w.-]+=[^\s;,'\"\\]+(?:; ?[\w.-]+=[^\s;,'\"\\]+)*",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"(?P<keep>[\w.-]=)[^\s;,'\"\\]+")
#: A word with signs that could separate commands, and do not.
_WITH_SIGNS = re.compile(
    rf"(?P<keep>{SECRET_NAMES}\\?['\"]?{_IS}['\"]?)(?P<word>[^\s`$\\(){{}}'\",=]+)(?=['\"\s]|\Z)",
    re.IGNORECASE,
)
#: A name, and beside it its value, as variables and headers are listed.
_BESIDE = re.compile(
    rf"(?P<keep>\b(?:name|key)\\?['\"]?[ \t]*[:=][ \t]*\\?['\"]?(?P<name>[\w.-]{{0,60}}?{SECRET_NAMES})"
    rf"\\?['\"]?\s*,?\s*\\?['\"]?value\\?['\"]?{_IS}){_VALUE}",
    re.IGNORECASE,
)
#: The whole of a name in quotes, before its value.
_QUOTED_NAME = re.compile(r"\\?[\"'](?P<name>[^\"'\\]{1,100})\\?[\"']\s*:\s*(?:\[\s*)?\Z")
_NAME_WITHIN = 140
#: What is no text in JSON, by a name in quotes.
_JSON_NAME = re.compile(r"[\"']\s*:\s*\Z")
_NO_TEXT = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null|[\[{].*")
_IS_MASK = re.compile(rf"[\\'\"]*{MASK}(?:\(.*|[\\'\"]*)")


def mask(text: str) -> str:
    """The text with everything that is known to look like a secret replaced by ``••••••••`` and how long
    it is. What could be more than a secret stays."""
    text = _ARMOUR.sub(lambda found: f"{found['keep']}{_of_size(found)}", text)
    text = _COOKIES.sub(lambda found: _COOKIE.sub(_masked, found[0]), text)
    text = _WITH_SIGNS.sub(_masked_with_signs, text)
    text = _BESIDE.sub(_masked_beside, text)
    for pattern in _PATTERNS:
        text = pattern.sub(_masked, text)
    return text


def _masked(found: re.Match[str]) -> str:
    hidden = found[0][len(found["keep"]) :]
    # The rest of it stands behind what is no more a secret's character.
    is_begun = hidden.endswith("$") and found.string.startswith("(", found.end())
    if is_begun or may_hide_a_command(hidden) or _IS_MASK.fullmatch(hidden) or _is_no_text(found):
        return found[0]
    if _is_told_otherwise(found, hidden):
        return found[0]
    return f"{found['keep']}{_of_size(found)}"


def _masked_with_signs(found: re.Match[str]) -> str:
    return f"{found['keep']}{_of_size(found)}" if is_made_with_signs(found["word"]) else found[0]


def _masked_beside(found: re.Match[str]) -> str:
    value = found[0][len(found["keep"]) :].strip("\\'\"")
    is_one = is_made if is_clear(found["name"]) else is_surely_made
    return _masked(found) if is_one(value) else found[0]


def _is_told_otherwise(found: re.Match[str], hidden: str) -> bool:
    """Does the name in quotes only hold a secret's, or has the value too many words for one?"""
    keep_ends = found.start() + len(found["keep"])
    named = _QUOTED_NAME.search(found.string, max(0, keep_ends - _NAME_WITHIN), keep_ends)
    if named is None:
        return False
    name, value = named["name"], hidden.strip("\\'\"")
    return is_sentence(name, value) or (not is_clear(name) and not is_surely_made(value))


def _is_no_text(found: re.Match[str]) -> bool:
    keep = found["keep"]
    is_value = _NO_TEXT.fullmatch(found[0], len(keep)) is not None
    return is_value and _JSON_NAME.search(keep) is not None


def _of_size(found: re.Match[str]) -> str:
    return mask_of(len(found[0][len(found["keep"]) :].strip("\\'\" \n")))
