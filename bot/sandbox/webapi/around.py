"""What Slack puts around an answer: a remark on how it was asked, headers, packing."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web
from aiohttp.web_response import ContentCoding

from bot.sandbox.wire import Json

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
#: So many bytes are packed for whoever takes that; packing more would hold the others up.
_PACKED = range(1_000, 1_000_000)


def remarks_on(request: web.Request) -> list[str]:
    """A form needs no charset, and JSON should name one: Slack answers all the same, and says so."""
    if request.method != "POST" or not request.body_exists:
        return []
    if request.content_type in _FORMS:
        return ["superfluous_charset"] if request.charset else []
    return [] if request.charset else ["missing_charset"]


def remarked(body: Json, remarks: Sequence[str]) -> Json:
    """The answer with these warnings besides its own."""
    if not remarks:
        return body
    metadata: Json = body.get("response_metadata", {})
    warnings = [*metadata.get("warnings", []), *remarks]
    more = {"response_metadata": metadata | {"warnings": warnings}}
    return body | {"warning": ",".join(warnings)} | more


def sent(request: web.Request, response: web.Response, request_id: str) -> web.Response:
    """The answer as it goes out."""
    response.headers["X-Slack-Req-Id"] = request_id
    response.headers["Vary"] = "Accept-Encoding"
    accepted = request.headers.get("Accept-Encoding", "")
    if "gzip" in accepted and isinstance(response.body, bytes) and len(response.body) in _PACKED:
        response.enable_compression(ContentCoding.gzip)
    return response
