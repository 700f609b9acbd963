"""What Slack says no with."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError


async def error_of(call: Any) -> str:
    with pytest.raises(SlackApiError) as error:
        await call
    return str(error.value.response["error"])
