// A list of messages: by days, in groups of one author, with what is new marked; only so many are drawn
// as one can see soon.

import { dayOf, formatDate } from "./dates.js";
import { empty, h, reconcile } from "./dom.js";
import { drawMessage, reach } from "./message.js";
import { where } from "./where.js";

const AT_ONCE = 120;
const LOW = 80;
const GROUPED_SECONDS = 300;

// `place` names what it is a list of; `newSince` is the time of the last message that was read before.
export function fill(list, messages, { place, inThread, newSince }) {
  const fresh = list.place !== place;
  if (fresh) begin(list, place, newSince ?? "", messages);
  const low = isLow(list);
  const last = messages.at(-1);
  const isNewer = !fresh && last && last.ts > (list.last ?? "");
  // Somebody comes back to where they looked away.
  if (isNewer && document.hidden && last.user !== where.as) list.firstNew ??= last.ts;
  list.all = { messages, inThread };
  list.last = last?.ts ?? null;
  redraw(list);
  if (fresh) show(list);
  else if (low || (isNewer && last.user === where.as)) toEnd(list);
  else if (isNewer) jump(list, true);
}

function begin(list, place, newSince, messages) {
  empty(list);
  const first = newSince ? messages.find((one) => one.ts > newSince && one.user !== where.as) : null;
  const unread = first ? messages.length - messages.indexOf(first) : 0;
  Object.assign(list, { place, last: null, firstNew: first?.ts ?? null, drawnAtOnce: Math.max(AT_ONCE, unread + 20) });
  jump(list, false);
}

const isLow = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < LOW;

function redraw(list) {
  const { messages, inThread } = list.all;
  const seen = messages.slice(-list.drawnAtOnce);
  reconcile(list, seen.length ? withLines(seen, list, inThread) : [], (one) => one.draw?.() ?? drawMessage(one, inThread));
  group(list);
}

// The messages, and between them the days, and where the new ones begin. An object stays the same
// while what it stands for does.
function withLines(messages, list, inThread) {
  const items = [];
  const lines = list.lines ??= new Map();
  const line = (key, draw) => {
    if (!lines.has(key)) lines.set(key, { draw });
    items.push({ key, of: lines.get(key) });
  };
  let day = null;
  messages.forEach((message, at) => {
    const today = dayOf(message.ts);
    if (today !== day) line(`day ${today}`, () => drawLine("day", formatDate(message.ts, "{day_divider_pretty}")));
    day = today;
    if (message.ts === list.firstNew) line("new", () => drawLine("day fresh", "New", "New messages"));
    items.push({ key: message.ts, of: message });
    const count = inThread && at === 0 ? message.reply_count : 0;
    if (count) line(`replies ${count}`, () => drawLine("day count", `${count} ${count === 1 ? "reply" : "replies"}`));
  });
  return items;
}

function drawLine(css, words, name) {
  return h("div", { class: css, role: "separator", "aria-label": name ?? words }, h("span", {}, words));
}

// One author's messages in a row have one head.
function group(list) {
  let before = null;
  for (const one of list.children) {
    const isMessage = one.matches(".message");
    const follows = isMessage && before && before.dataset.author === one.dataset.author && !before.matches(".gone")
      && one.matches(".private") === before.matches(".private") && one.dataset.ts - before.dataset.ts < GROUPED_SECONDS;
    one.classList.toggle("follows", Boolean(follows));
    before = isMessage ? one : null;
  }
  if (!list.querySelector(":scope > .message[tabindex='0']")) list.querySelector(":scope > .message:last-of-type")?.setAttribute("tabindex", "0");
}

// Where what is new begins, else the end.
function show(list) {
  const line = list.querySelector(".fresh");
  if (line && line.offsetTop < list.scrollHeight - list.clientHeight) line.scrollIntoView({ block: "center" });
  else toEnd(list);
}

// Messages out of sight have a guessed height until they come near: so more than once.
export function toEnd(list, times = 3) {
  list.scrollTop = list.scrollHeight;
  if (times > 0) requestAnimationFrame(() => toEnd(list, times - 1));
  else jump(list, false);
}

function jump(list, is) {
  list.parentElement.querySelector(".jump").hidden = !is;
}

// What a list does by itself, once.
export function listen(list) {
  list.parentElement.querySelector(".jump").addEventListener("click", () => toEnd(list));
  let isAtEnd = true;
  list.addEventListener("scroll", () => {
    isAtEnd = isLow(list);
    if (isAtEnd) jump(list, false);
    if (list.scrollTop < 300 && list.all?.messages.length > list.drawnAtOnce) earlier(list);
  }, { passive: true });
  // What is newest stays in sight where something else takes room, such as the drawer.
  new ResizeObserver(() => { if (isAtEnd && list.all) toEnd(list, 0); }).observe(list);
  list.addEventListener("focusin", (event) => current(list, event.target.closest(".message")));
  list.addEventListener("keydown", (event) => steer(list, event));
}

// What is seen stays where it is.
function earlier(list) {
  const from = list.scrollHeight - list.scrollTop;
  list.drawnAtOnce += AT_ONCE;
  redraw(list);
  list.scrollTop = list.scrollHeight - from;
}

function current(list, message) {
  if (!message || message === list.current) return;
  for (const one of list.querySelectorAll(":scope > .message[tabindex='0']")) one.tabIndex = -1;
  if (list.current?.isConnected) reach(list.current, false);
  list.current = message;
  message.tabIndex = 0;
  reach(message, true);
}

// Up and down from message to message; Enter opens the thread.
function steer(list, event) {
  const message = event.target.closest(".message");
  if (!message || event.target !== message) return;
  const all = [...list.querySelectorAll(":scope > .message")];
  const at = all.indexOf(message);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (event.key === "Enter") message.querySelector("[data-key=replies], [data-key=reply]")?.click();
  else if (to === undefined) return;
  else all[Math.max(0, Math.min(to, all.length - 1))].focus();
  event.preventDefault();
}

