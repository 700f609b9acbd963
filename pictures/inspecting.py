"""A picture of what passes between Slack and the bot, below the conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pictures.acts import asking, looked_up, refund
from pictures.cards import shown
from pictures.picture import Picture

#: The page is the bot, too: it hears of a click, and loses the answer to an edit of the card.
_PASSING: Final = """(async () => {
  const ask = (path, body, token) => fetch(path, { method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json; charset=utf-8", ...(token && { Authorization: `Bearer ${token}` }) } });
  const seen = async (selector) => {
    while (!document.querySelector(selector)) await new Promise((done) => requestAnimationFrame(done));
    return document.querySelector(selector);
  };
  const { url } = await (await ask("/api/apps.connections.open", {}, "xapp-sandbox")).json();
  const socket = new WebSocket(url);
  await new Promise((done) => { socket.onmessage = done; });
  socket.onmessage = ({ data }) => socket.send(JSON.stringify({ envelope_id: JSON.parse(data).envelope_id }));
  const ts = document.querySelector("#replies article:last-of-type").dataset.ts;
  const card = { channel: "C0SUPPORT", ts };
  await ask("/sandbox/act", { as: "U0BOB", do: "click", ...card, action_id: "approval.approve" });
  await ask("/sandbox/faults", { method: "chat.update", error: "internal_error" });
  await ask("/api/chat.update", { ...card, text: "Approved by <@U0BOB>: Refund an order" }, "xoxb-sandbox");
  document.dispatchEvent(new CustomEvent("sandbox:drawer", { detail: "inspector" }));
  const click = await seen('.rows [data-group="interaction"] .row');
  await seen('.rows [data-group="fault"] .row');
  click.click();
  await seen(".entry .payload");
  document.activeElement.blur();
})()"""


def inspecting() -> Iterator[Picture]:
    money = asking(looked_up(), refund())
    yield Picture("inspector", money.now, shown(money), width=1180, height=720, then=_PASSING)
