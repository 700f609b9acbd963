// The inspector: each call, event, command and interaction as it passes, and what came of it.

import { h } from "./dom.js";
import { drawEntry } from "./entry.js";
import { feed, follow, now } from "./feed.js";
import { zone } from "./names.js";
import { LATE_MS, drawRow, isWaiting, isWrong, words } from "./row.js";

const SHOWS = [
  ["All", () => true],
  ["Calls", (row) => row.group === "call"],
  ["Events", (row) => row.group === "event"],
  ["Interactions", (row) => row.group === "interaction"],
  ["Errors", isWrong],
];

const drawn = new Map();
const waiting = new Map();
let show = SHOWS[0];
let boot = "";
let from = 0;
let stop = null;
let timer = 0;
let open = null;
let atEnd = true;
let clockOf;

const list = h("ol", { class: "rows", "aria-label": "What passed, the newest last", onkeydown: alongRows });
const note = h("p", { class: "rows-note quiet", hidden: true });
const none = h("p", { class: "rows-none quiet" });
const detail = h("section", { class: "entry", "aria-label": "Entry", hidden: true });
const text = h("input", { type: "search", placeholder: "Filter …", "aria-label": "Filter by text", oninput: filter });
const chips = SHOWS.map((one) => h("button", {
  type: "button", class: "chip", "aria-pressed": String(one === show),
  onclick: () => choose(one),
}, one[0]));
const clear = h("button", { type: "button", class: "chip", title: "Hide what passed so far", onclick: hideAll }, "Clear");
const scroll = h("div", { class: "rows-scroll", onscroll: notice }, note, list, none);
const badge = h("span", { class: "violations", hidden: true });
const element = h("div", { class: "inspector" },
  h("div", { class: "filters" }, h("div", { class: "chips", role: "group", "aria-label": "Show" }, chips), text, clear),
  h("div", { class: "inspector-split" }, scroll, detail));

const fits = (row) => row.seq > from && show[1](row) && (!text.value || words(row).includes(text.value.toLowerCase()));

function choose(one) {
  show = one;
  chips.forEach((chip, n) => chip.setAttribute("aria-pressed", String(SHOWS[n] === one)));
  filter();
}

function hideAll() {
  from = Math.max(0, ...feed.rows.keys());
  filter();
}

function notice() {
  atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 40;
}

function filter() {
  for (const [seq, one] of drawn) one.hidden = !fits(feed.rows.get(seq) ?? { seq: -1 });
  tellNone();
}

function tellNone() {
  const any = [...drawn.values()].some((one) => !one.hidden);
  none.hidden = any;
  none.textContent = feed.rows.size === 0 ? "Nothing has passed yet." : "Nothing that passed fits the filter.";
  if (!any || list.querySelector('li:not([hidden]) [tabindex="0"]')) return;
  (list.querySelector("li:not([hidden]) .row") ?? {}).tabIndex = 0;
}

function take(rows) {
  const follows = atEnd;
  if (boot !== feed.boot) anew();
  for (const row of rows) put(row);
  for (const [seq, one] of drawn) if (!feed.rows.has(seq)) drop(seq, one);
  tellBounds();
  tellNone();
  if (follows) toEnd(3);
}

function drop(seq, one) {
  one.remove();
  drawn.delete(seq);
  waiting.delete(seq);
}

// What isn't here, and how many rules were broken.
function tellBounds() {
  note.hidden = feed.oldest <= 1 && !feed.forgot;
  note.textContent = feed.oldest > 1 ? `What passed before #${feed.oldest} is no longer kept.`
    : "What passed earlier is in /sandbox/calls, and not shown here.";
  badge.hidden = feed.violations === 0;
  badge.replaceChildren(h("span", { "aria-hidden": "true" }, "⚠ "), String(feed.violations), h("span", { class: "unseen" }, " of Slack’s rules broken"));
}

// Rows out of sight have a guessed height until they come near: so more than once.
function toEnd(times) {
  scroll.scrollTop = scroll.scrollHeight;
  atEnd = true;
  if (times > 0) requestAnimationFrame(() => toEnd(times - 1));
}

// Another life of the sandbox: its entries are counted from the beginning.
function anew() {
  boot = feed.boot;
  from = 0;
  waiting.clear();
  drawn.clear();
  list.replaceChildren();
}

// The newer row in place of the older, with its place on the way of the Tab key.
function put(row) {
  const before = drawn.get(row.seq);
  const one = drawRow(row, open?.seq === row.seq, look);
  one.hidden = !fits(row);
  const inside = before?.contains(document.activeElement);
  if (before) before.replaceWith(one);
  else list.insertBefore(one, after(row.seq));
  if (before) one.firstChild.tabIndex = before.firstChild.tabIndex;
  if (inside) one.firstChild.focus();
  drawn.set(row.seq, one);
  if (isWaiting(row)) waiting.set(row.seq, row);
  else waiting.delete(row.seq);
  if (open?.seq === row.seq) open.changed(row);
}

// Almost always the end of the list.
function after(seq) {
  const last = list.lastElementChild;
  if (!last || Number(last.dataset.seq) < seq) return null;
  return [...list.children].find((one) => Number(one.dataset.seq) > seq) ?? null;
}

// Whoever looks may be another by now, by another clock; at first it isn't known who does.
function setClock() {
  if (zone() === clockOf) return;
  clockOf = zone();
  for (const row of feed.rows.values()) put(row);
}

// What is waited for too long is marked while it is waited for: once, so that it can be read in peace.
function mark() {
  setClock();
  for (const row of [...waiting.values()].filter((one) => (now() - one.at) * 1000 > LATE_MS)) {
    put(row);
    waiting.delete(row.seq);
  }
}

async function look(seq) {
  const opened = await drawEntry(detail, seq, () => feed.rows.get(seq), { leave: back, look });
  // Meanwhile another may have been asked for.
  if (!opened) return;
  open = opened;
  list.querySelector(".here")?.classList.remove("here");
  drawn.get(seq)?.firstChild.classList.add("here");
  if (feed.rows.get(seq) !== opened.row) opened.changed(feed.rows.get(seq));
  element.classList.add("split");
}

function back() {
  if (!open) return false;
  const row = drawn.get(open.seq)?.firstChild;
  open.close();
  open = null;
  element.classList.remove("split");
  list.querySelector(".here")?.classList.remove("here");
  (row ?? chips[0]).focus();
  return true;
}

function shown(is) {
  clearInterval(timer);
  if (!is) {
    stop?.();
    stop = null;
    return;
  }
  stop ??= follow(take);
  timer = setInterval(mark, 500);
  toEnd(3);
}

// As the drawer has it.
export const inspectorPanel = { element, badge, shown, back, look };

// One row is on the way of the Tab key; the arrows lead to the others.
function alongRows(event) {
  const row = event.target.closest(".row");
  const all = [...event.currentTarget.querySelectorAll("li:not([hidden]) .row")];
  const place = all.indexOf(row);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: all.length - 1, PageDown: Math.min(place + 10, all.length - 1), PageUp: Math.max(place - 10, 0) }[event.key];
  if (next === undefined || !all[next]) return;
  event.preventDefault();
  for (const one of event.currentTarget.querySelectorAll('.row[tabindex="0"]')) one.tabIndex = -1;
  all[next].tabIndex = 0;
  all[next].focus();
}
