"""`/api/METHOD`: token, scope, rate, faults, the method itself, and the record of it all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aiohttp import web

from bot.sandbox.calls import Call, cutting, suffer
from bot.sandbox.limits.errors import note_if_avoidable
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments, read_arguments
from bot.sandbox.webapi.around import remarked, remarks_on, sent
from bot.sandbox.webapi.methods import METHODS, WITH_APP_TOKEN, WITHOUT_TOKEN, Method
from bot.sandbox.wire import Json, SlackError


def web_api(sandbox: Sandbox) -> web.RouteTableDef:
    routes = web.RouteTableDef()

    @routes.route("*", "/api/{method}")
    async def call(request: web.Request) -> web.Response:
        method = request.match_info["method"]
        request_id = sandbox.ids.new("req-")
        remarks = remarks_on(request)
        try:
            given = await read_arguments(request)
        except SlackError as error:
            entry = sandbox.record.note("call", method=method, arguments={}, status=200)
            answer = _said(_Asked(method, {}, entry), error.body())
            sandbox.record.settle(entry)
            return sent(request, answer, request_id)
        token = _token(request, given)
        answer = await call_method(sandbox, method, given, token, cutting(request), remarks)
        return sent(request, answer, request_id)

    return routes


async def call_method(
    sandbox: Sandbox,
    method: str,
    given: Json,
    token: str,
    cut: Callable[[], None],
    remarks: Sequence[str] = (),
) -> web.Response:
    """One call with this token; `cut` breaks the connection of who waits for the answer. ``remarks`` on how it
    was asked go into that."""
    # No entry shows a token, and one that isn't of the sandbox is not even kept.
    secret = token if sandbox.tokens.knows(token) else ""
    entry = sandbox.record.note("call", secret=secret, method=method, arguments=given, status=200)
    try:
        return await _answer(sandbox, _Asked(method, given, entry, remarks), token, cut)
    finally:
        sandbox.record.settle(entry)


class _Asked:
    """One call, and its entry in the record, which is completed as it goes."""

    def __init__(self, method: str, given: Json, entry: Json, remarks: Sequence[str] = ()) -> None:
        self.method = method
        self.given = given
        self.entry = entry
        self.remarks = remarks
        #: Of its token, once that is known to be one.
        self.scopes: tuple[str, ...] = ()
        #: Of its answer, as far as they are known.
        self.headers: dict[str, str] = {}


async def _answer(
    sandbox: Sandbox, asked: _Asked, token: str, cut: Callable[[], None]
) -> web.Response:
    """Check the call, let it suffer the faults that wait for it, make it, answer as Slack would."""
    try:
        method = _method(sandbox, asked, token)
    except SlackError as error:
        return _said(asked, error.body())

    def make() -> web.Response:
        return _said(asked, _made(sandbox, asked, method))

    def fail(error: SlackError) -> web.Response:
        return _said(asked, error.body())

    channel = _channel(sandbox, asked.given)
    call = Call(asked.method, asked.given, asked.entry, cut, method.tier, channel)
    return await suffer(sandbox, call, make, fail)


def _method(sandbox: Sandbox, asked: _Asked, token: str) -> Method:
    """The method, if this token may call it."""
    if asked.method in WITHOUT_TOKEN:
        return METHODS[asked.method]
    holder = sandbox.tokens.check(token)
    asked.headers["X-OAuth-Scopes"] = ",".join(holder.scopes)
    asked.scopes = holder.scopes
    if (method := METHODS.get(asked.method)) is None:
        raise SlackError("unknown_method", req_method=asked.method)
    if holder.is_app_level != (asked.method in WITH_APP_TOKEN):
        raise SlackError("not_allowed_token_type")
    scope = method.scope
    if callable(scope):
        scope = scope(sandbox, Arguments(asked.given, asked.scopes))
    wanted = (scope,) if isinstance(scope, str) else scope
    if wanted:
        asked.headers["X-Accepted-OAuth-Scopes"] = ",".join(wanted)
    if wanted and not set(wanted) & set(holder.scopes):
        provided = ",".join(holder.scopes)
        raise SlackError("missing_scope", needed=",".join(wanted), provided=provided)
    return method


def _made(sandbox: Sandbox, asked: _Asked, method: Method) -> Json:
    try:
        return {"ok": True, **method.call(sandbox, Arguments(asked.given, asked.scopes))}
    except SlackError as error:
        if asked.method != "blocks.validate":
            note_if_avoidable(sandbox.record, error, asked.method)
        return error.body()


def _said(asked: _Asked, body: Json) -> web.Response:
    body = remarked(body, asked.remarks)
    asked.entry.update(ok=body["ok"], answer=body)
    if "error" in body:
        asked.entry["error"] = body["error"]
    return web.json_response(body, headers=asked.headers)


def _token(request: web.Request, given: Json) -> str:
    in_body = str(given.pop("token", ""))
    header = request.headers.get("Authorization", "")
    return header.removeprefix("Bearer ").strip() or in_body


def _channel(sandbox: Sandbox, given: Json) -> str:
    """Where a message goes, whichever way that was said."""
    try:
        return sandbox.workspace.channel(str(given.get("channel", ""))).id
    except SlackError:
        return ""
