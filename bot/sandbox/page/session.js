// What an agent says of itself where it works: that it does, what it suggests, and a button that stops it.

import { act } from "./doing.js";
import { h } from "./dom.js";
import { appName } from "./names.js";
import { sessionOf } from "./sight.js";

// Below the messages of a thread, or of a direct message (`thread` is "").
export function drawSession(place, channel, thread) {
  const said = sessionOf(channel, thread);
  const looks = JSON.stringify([channel, thread, said]);
  if (place.dataset.looks === looks) return;
  place.dataset.looks = looks;
  const works = said?.session?.status === "processing";
  const words = said?.status || (works ? "is at work …" : "");
  const prompts = said?.suggested_prompts?.prompts ?? [];
  place.hidden = !words && !prompts.length;
  place.replaceChildren(...[
    words && h("span", { class: "quiet writing" }, `${appName()} ${words}`),
    works && h("button", { type: "button", class: "button", onclick: () => act("stop_session", { channel, thread_ts: thread }) }, "Stop"),
    ...prompts.map((prompt) => h("button", { type: "button", class: "button", onclick: () =>
      act("message", { channel, text: prompt.message, ...(thread && { thread_ts: thread }) }) }, prompt.title)),
  ].filter(Boolean));
}
