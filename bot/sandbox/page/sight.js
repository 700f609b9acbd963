// What the person who looks can see: messages, what only they were told, modals, Home, sessions.

import { everyPlace } from "./names.js";

export const sight = { boot: "", version: -1, as: null, ephemerals: [], views: [], home: null, sessions: [] };

// By channel, `{ messages: Map by ts, sorted: all of them in order, once asked for }`.
const channels = new Map();

function channelOf(id) {
  if (!channels.has(id)) channels.set(id, { messages: new Map(), sorted: null });
  return channels.get(id);
}

// Take in what the sandbox says has changed; `as` is for whom.
export function take(next, as) {
  if (next.boot !== sight.boot) channels.clear();
  for (const message of next.messages) {
    const channel = channelOf(message.channel);
    channel.messages.set(message.ts, message);
    channel.sorted = null;
  }
  for (const { channel, ts } of next.gone) {
    channelOf(channel).messages.delete(ts);
    channelOf(channel).sorted = null;
  }
  takeEphemerals(next.ephemerals);
  Object.assign(sight, { boot: next.boot, version: next.version, as, views: next.views, home: next.home, sessions: next.sessions });
}

// The same one as before stays the same object, so that it isn't drawn again.
function takeEphemerals(found) {
  const known = new Map(sight.ephemerals.map((message) => [message.ts, message]));
  const now = found.map((message) => {
    const before = known.get(message.ts);
    return before && JSON.stringify(before) === JSON.stringify(message) ? before : message;
  });
  if (now.length === sight.ephemerals.length && now.every((one, at) => one === sight.ephemerals[at])) return;
  for (const { channel } of [...now, ...sight.ephemerals]) channelOf(channel).sorted = null;
  sight.ephemerals = now;
}

// Nothing of the one may be seen by the other.
export function forget() {
  takeEphemerals([]);
  Object.assign(sight, { as: null, views: [], home: null, sessions: [] });
}

const byTs = (one, other) => (one.ts < other.ts ? -1 : 1);

// All that was said in a channel, threads included, the oldest first.
export function told(id) {
  const channel = channelOf(id);
  channel.sorted ??= [...channel.messages.values(), ...sight.ephemerals.filter((one) => one.channel === id)].sort(byTs);
  return channel.sorted;
}

export const isReply = (message) => Boolean(message.thread_ts) && message.thread_ts !== message.ts;
const isAtTop = (message) => !isReply(message) || message.subtype === "thread_broadcast";

export const topLevel = (id) => told(id).filter(isAtTop);
export const threadOf = (id, ts) => told(id).filter((message) => message.ts === ts || message.thread_ts === ts);
export const messageOf = (id, ts) => channelOf(id).messages.get(ts);
export const sessionOf = (id, ts) => sight.sessions.find((one) => one.channel === id && one.thread_ts === ts);

// Files that were shared where this person is, for a field that takes one.
export function fileOptions(kinds) {
  const mine = everyPlace().filter((channel) => channel.members.includes(sight.as));
  const files = mine.flatMap((channel) => told(channel.id)).flatMap((message) => message.files ?? []);
  return files.filter((file) => file.mode !== "tombstone" && (!kinds || kinds.includes(file.filetype)))
    .map((file) => ({ value: file.id, text: { type: "plain_text", text: file.title || file.name, emoji: false } }));
}
