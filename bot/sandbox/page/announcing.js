// For those who listen: the newest message where one is, once, and not all that changes.

import { h } from "./dom.js";
import { mrkdwn } from "./mrkdwn.js";
import { authorOf } from "./message.js";
import { where } from "./where.js";

const PAUSE = 700;
const WORDS = 200;
let last = null;
let timer = null;

// `messages` are those in sight, the newest last. One that is being written is heard once it is there.
export function announce(place, messages) {
  const newest = messages.findLast((message) => message.streaming_state !== "in_progress");
  const before = last;
  last = { place, ts: newest?.ts ?? "" };
  if (!newest || before?.place !== place || newest.ts <= before.ts || newest.user === where.as) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    const said = h("p", {}, mrkdwn(newest.text ?? "")).textContent.slice(0, WORDS);
    document.getElementById("heard").textContent = `${authorOf(newest)}: ${said}`;
  }, PAUSE);
}
