// How far the person has read: in each channel and thread the newest message that they saw.

import { everyGroup, isMe, placeOf } from "./names.js";
import { isReply, sight, threadOf, told } from "./sight.js";
import { where } from "./where.js";

let marks = null;

// Kept for a tab, as long as the sandbox is the same.
function marksNow() {
  if (marks?.boot !== sight.boot) {
    const kept = JSON.parse(sessionStorage.getItem("read") ?? "{}");
    marks = kept.boot === sight.boot ? kept : { boot: sight.boot, of: {} };
  }
  return marks.of;
}

const key = (channel, thread) => `${where.as} ${channel} ${thread ?? ""}`;

export const readUpTo = (channel, thread = null) => marksNow()[key(channel, thread)] ?? "";

export function read(channel, thread, ts) {
  if (!ts || readUpTo(channel, thread) >= ts) return;
  marksNow()[key(channel, thread)] = ts;
  sessionStorage.setItem("read", JSON.stringify(marks));
}

const isNew = (message, after) => message.ts > after && message.user !== where.as && message.subtype !== "tombstone";

// Of a thread: is there a reply that this person hasn't seen?
export function hasNewReplies(message) {
  const after = readUpTo(message.channel, message.ts);
  if (!message.latest_reply || message.latest_reply <= after) return false;
  return threadOf(message.channel, message.ts).some((reply) => isReply(reply) && isNew(reply, after));
}

// `{ any, calls }`: is anything unread, and how much of it calls for this person?
export function unread(channel) {
  const after = readUpTo(channel);
  const seen = { any: false, calls: 0 };
  const all_ = told(channel);
  for (let at = all_.length - 1; at >= 0 && all_[at].ts > after; at -= 1) {
    if (!isNew(all_[at], after)) continue;
    seen.any = true;
    if (callsMe(all_[at])) seen.calls += 1;
  }
  return seen;
}

// Looked for once in each message, for one person.
const found = new WeakMap();

function callsMe(message) {
  if (found.get(message)?.as !== where.as) found.set(message, { as: where.as, is: isForMe(message) });
  return found.get(message).is;
}

function isForMe(message) {
  if (message.is_ephemeral || placeOf(message.channel)?.kind === "im") return true;
  const said = message.text + JSON.stringify(message.blocks ?? []);
  if (/<!(here|channel|everyone)/.test(said)) return true;
  return said.includes(where.as) || everyGroup().some((group) => isMe("group", group.id) && said.includes(group.id));
}
