"""A server on loopback that speaks the providers' wires as their clients call them, and misbehaves when told to."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

Json = dict[str, Any]
#: Answers one request, once.
Deed = Callable[[web.Request], Awaitable[web.StreamResponse]]
#: The name, the arguments as the model wrote them, and the id of a call.
Call = tuple[str, str, str]


@dataclass
class StandIn:
    """``deeds`` are done in their order, one a request; ``asked`` is what the requests said."""

    url: str = ""
    deeds: deque[Deed] = field(default_factory=deque)
    asked: list[Json] = field(default_factory=list)

    def will(self, *deeds: Deed) -> None:
        self.deeds.extend(deeds)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        return await self.deeds.popleft()(request)


@asynccontextmanager
async def standing_in() -> AsyncIterator[StandIn]:
    stand_in = StandIn()
    app = web.Application()
    for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
        app.router.add_post(path, stand_in._answer)
    server = TestServer(app)
    await server.start_server()
    stand_in.url = str(server.make_url("")).rstrip("/")
    try:
        yield stand_in
    finally:
        await server.close()


def says(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Deed:
    async def deed(_: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return deed


async def says_html(_: web.Request) -> web.StreamResponse:
    """As a proxy does that stands in front of it."""
    return web.Response(text="<html><body>Sign in</body></html>", content_type="text/html")


async def cuts(request: web.Request) -> web.StreamResponse:
    """Breaks the connection within the body."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = 1_000
    await response.prepare(request)
    await response.write(b'{"id": "x", ')
    assert request.transport is not None
    request.transport.close()
    return response


async def drips(request: web.Request) -> web.StreamResponse:
    """A byte now and then, and never all."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


def streams(events: Sequence[Json], *, is_broken: bool = False) -> Deed:
    """Server-sent events; ``is_broken``: the connection breaks instead of the last chunk."""

    async def deed(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in events:
            await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        if is_broken:
            assert request.transport is not None
            request.transport.close()
        return response

    return deed


def chat(text: str = "", *calls: Call, finish: str | None = None) -> Json:
    """A reply of OpenAI's chat completions."""
    tool_calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments, id in calls
    ]
    message: Json = {"role": "assistant", "content": text or None}
    message |= {"tool_calls": tool_calls} if tool_calls else {}
    reason = finish or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100},
    }


def responses(text: str = "", *calls: Call, cut_off: str | None = None) -> Json:
    """A reply of OpenAI's responses, of a model that reasons."""
    output: list[Json] = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed-thought"}
    ]
    if text:
        content = {"type": "output_text", "text": text, "annotations": []}
        output.append(
            {
                **{"type": "message", "id": "msg_1", "role": "assistant"},
                **{"status": "completed", "content": [content]},
            }
        )
    output += [
        {
            **{"type": "function_call", "id": f"fc_{id}", "call_id": id, "status": "completed"},
            **{"name": name, "arguments": arguments},
        }
        for name, arguments, id in calls
    ]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "gpt-5",
        "status": "incomplete" if cut_off else "completed",
        "incomplete_details": {"reason": cut_off} if cut_off else None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1_000,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 100,
            "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 1_100,
        },
    }


def anthropic(
    text: str = "", *calls: Call, thought: str = "", stop: str | None = None
) -> list[Json]:
    """A reply of Anthropic's messages, as it is streamed. Without ``stop`` it is whole."""
    blocks: list[tuple[Json, list[Json]]] = []
    if thought:
        begun = {"type": "thinking", "thinking": "", "signature": ""}
        deltas: list[Json] = [
            {"type": "thinking_delta", "thinking": thought},
            {"type": "signature_delta", "signature": "signed-thought"},
        ]
        blocks.append((begun, deltas))
    if text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]))
    for name, arguments, id in calls:
        call: Json = {"type": "tool_use", "id": id, "name": name, "input": {}}
        blocks.append((call, [{"type": "input_json_delta", "partial_json": arguments}]))
    message: Json = {
        **{"id": "msg_1", "type": "message", "role": "assistant"},
        "content": [],
        **{"model": "claude-sonnet-5-5", "stop_reason": None, "stop_sequence": None},
        "usage": {"input_tokens": 1_000, "output_tokens": 1},
    }
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, (begun, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    reason = stop or ("tool_use" if calls else "end_turn")
    ended = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 100},
    }
    return [*events, ended, {"type": "message_stop"}]


def openai_error(message: str, code: str | None = None, type: str = "invalid_request") -> Json:
    return {"error": {"message": message, "type": type, "param": None, "code": code}}


def anthropic_error(message: str, type: str = "invalid_request_error") -> Json:
    return {"type": "error", "error": {"type": type, "message": message}}
