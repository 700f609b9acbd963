"""Names that are keys of the store: every database takes them, and finds them again as they were given."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

#: Not empty, not too long for an index, without control characters.
NAME = StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]+$")
Name = Annotated[str, NAME]
