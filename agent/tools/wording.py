"""What is wrong with a call's arguments, in sentences for whoever wrote them: a model, or a person who steers."""

from __future__ import annotations

from pydantic import ValidationError

_WORDS = {
    "missing": "This is needed.",
    "extra_forbidden": "There is no such argument.",
    "decimal_parsing": "Enter a number, such as 90 or 90.50.",
    "decimal_type": "Enter a number, such as 90 or 90.50.",
    "finite_number": "Enter a number, such as 90 or 90.50.",
    "int_parsing": "Enter a whole number.",
    "int_from_float": "Enter a whole number.",
    "int_type": "Enter a whole number.",
    "int_parsing_size": "This number is too large.",
    "float_parsing": "Enter a number.",
    "float_type": "Enter a number.",
    "bool_parsing": "Enter yes or no.",
    "greater_than": "It must be more than {gt}.",
    "greater_than_equal": "It must be {ge} or more.",
    "less_than": "It must be less than {lt}.",
    "less_than_equal": "It must be {le} or less.",
    "string_too_long": "It may have {max_length} characters.",
    "string_pattern_mismatch": "It does not have the right form.",
    "recursion_loop": "It is nested too deeply.",
    "literal_error": "It must be {expected}.",
}


def messages_of(error: ValidationError) -> dict[str, str]:
    """A sentence a field; the first one where a field has several."""
    messages: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_input=False):
        field, *inner = (str(part) for part in problem["loc"]) if problem["loc"] else ("arguments",)
        template = _WORDS.get(problem["type"])
        words = (
            template.format(**problem.get("ctx", {}))
            if template
            else problem["msg"].removeprefix("Value error, ")
        )
        messages.setdefault(field, f"{'.'.join(inner)}: {words}" if inner else words)
    return messages
