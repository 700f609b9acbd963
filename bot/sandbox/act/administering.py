"""What the app's administrator does in its settings."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal


async def verify_urls(sandbox: Sandbox, asked: Asked) -> Json:
    """Save the Request URLs: Slack asks each for its challenge first (`url_verification`)."""
    if sandbox.http is None:
        raise Refusal("No URL to verify: this sandbox delivers by Socket Mode.", 400)
    found = await sandbox.http.verify()
    return {
        "ok": True,
        "acknowledged": not any(found.values()),
        "urls": [{"url": url, "verified": not why, "why": why} for url, why in found.items()],
    }
