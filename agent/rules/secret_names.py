"""What a secret is called.

Names are chosen by who makes a call, to whom they must be no place to hide in: some say what stands under them, others
only hold a word that may mean anything, as ``to_pass`` and ``amount_token`` do.
"""

from __future__ import annotations

import re

#: Which one of several it is.
_WHICH = (
    r"(?:[_-]?(?:[0-9]{1,3}|new|old|current|again|repeat|confirm|confirmation|value|val|raw|plain|base64|b64"
    r"|prod|production|staging|stage|dev|test|qa|live|main|primary|secondary|backup)(?![a-z])){0,2}"
)
#: Part of a regular expression: what a secret is called. What counts tokens has a number.
SECRET_NAMES = (
    r"(?:token|tokens(?!\\?['\"]?\s*[:=\s]\s*\d+(?!\w))|secrets?|passwd|passwords?|passphrases?"
    r"|(?:api|access|private|client|secret)[_-]?keys?|credentials?"
    rf"|(?<=[_-])(?:pass|pwd|pw)|(?-i:(?<![A-Za-z])(?:pwd|pw))){_WHICH}"
)
_SECRET_NAME = re.compile(rf"(?:{SECRET_NAMES}|^pass|authorization|cookies?)$", re.IGNORECASE)
_COUNTS = re.compile(r"tokens$", re.IGNORECASE)
#: Of several, by their own names.
_SEVERAL = re.compile(r"(?<!credential)s$", re.IGNORECASE)
#: Behind these it is clear what a token or a pass is.
_OF_WHAT = (
    r"(?:access|account|admin|api|app|auth|bearer|bot|client|current|database|db|email|github|gitlab|id"
    r"|jwt|ldap|login|mail|mysql|new|npm|oauth|old|personal|pg|postgres|prod|redis|refresh|root|secret"
    r"|service|session|slack|smtp|ssh|test|user|x)"
)
_CLEAR = re.compile(
    r"(?:.*(?:passw(?:or)?ds?|passphrases?|secrets?|credentials?|keys?|authorization|cookies?)"
    rf"|(?:{_OF_WHAT}[_-]?)+pass|(?:{_OF_WHAT}[_-]?)*(?:tokens?|pwd|pw)){_WHICH}",
    re.IGNORECASE | re.DOTALL,
)
#: Such a secret may look like anything.
_PASSWORD = re.compile(r"pass|pwd|pw", re.IGNORECASE)
_PHRASE = re.compile(r"phrase", re.IGNORECASE)
_LONGEST = 200


def is_secret_name(name: str) -> bool:
    """May what stands under this name be a secret?"""
    return _SECRET_NAME.search(name) is not None


def is_clear(name: str) -> bool:
    """Does a secret's name say that it is one? Else it must be seen by the secret."""
    return len(name) <= _LONGEST and _CLEAR.fullmatch(name) is not None


def is_of_password(name: str) -> bool:
    """Is such a secret made up by people?"""
    return _PASSWORD.search(name) is not None


def is_of_phrase(name: str) -> bool:
    """Has such a secret several words?"""
    return _PHRASE.search(name) is not None


def is_of_several(name: str) -> bool:
    """Are there further names under it, each of a secret?"""
    return _SEVERAL.search(name) is not None


def is_of_count(name: str) -> bool:
    """Is a number under it no secret?"""
    return _COUNTS.search(name) is not None
