// The page: whose eyes, which channel, which thread; what they see; what they do.

import { drawBlocks } from "./blocks.js";
import { act, composer } from "./doing.js";
import { h, reconcile } from "./dom.js";
import { furnish } from "./drawer.js";
import { drawMessage } from "./message.js";
import { showViews } from "./modal.js";
import { know, userName } from "./mrkdwn.js";
import { HOME, go, moved, readAddress, where } from "./where.js";

const $ = (id) => document.getElementById(id);

let workspace;
let state = { boot: "", version: -1, ephemerals: [], views: [], home: null };
const messages = new Map();
const seen = new Map();

const app = () => userName(workspace.bot);
const place = (id) => workspace.channels.find((channel) => channel.id === id);
const myPlaces = () => workspace.channels.filter((channel) => channel.members.includes(where.as));

function placeName(channel) {
  if (channel.kind === "im") return app();
  if (channel.kind === "mpim") return channel.members.map(userName).join(", ");
  return (channel.kind === "private" ? "🔒 " : "# ") + channel.name;
}

// ---- drawing ----

const byTs = (one, other) => (one.ts < other.ts ? -1 : 1);

function visible(channel) {
  const mine = state.ephemerals.filter((message) => message.channel === channel);
  return [...(messages.get(channel)?.values() ?? []), ...mine].sort(byTs);
}

function fill(list, items, inThread) {
  const low = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  reconcile(list, items, (message) => message.ts, (message) => drawMessage(message, inThread));
  if (low || list.fresh) toEnd(list, 3);
  list.fresh = false;
}

// Messages out of sight have a guessed height until they come near: so more than once.
function toEnd(list, times) {
  list.scrollTop = list.scrollHeight;
  if (times > 0) requestAnimationFrame(() => toEnd(list, times - 1));
}

function drawChannel() {
  const list = $("messages");
  const place_ = `${where.as} ${where.channel}`;
  if (list.place !== place_) {
    list.replaceChildren();
    list.drawn = new Map();
    list.place = place_;
    list.fresh = true;
  }
  $("composer").hidden = where.channel === HOME;
  if (where.channel === HOME) return drawHome(list);
  const top = visible(where.channel).filter((message) =>
    !message.thread_ts || message.thread_ts === message.ts || message.subtype === "thread_broadcast");
  list.classList.toggle("empty", top.length === 0);
  list.querySelector(".welcome")?.remove();
  fill(list, top, false);
  if (top.length === 0) list.append(welcome());
  seen.set(where.channel, visible(where.channel).at(-1)?.ts ?? "");
}

function welcome() {
  return h("div", { class: "welcome" },
    h("h2", {}, "Nothing was said here yet"),
    h("p", {}, `Mention @${app()}, or type a slash command; answers come into the channel or a thread. To act as somebody else, change “You are”, below the channels.`));
}

function drawHome(list) {
  const pressed = (element, selected, block_id) =>
    act("click", { view_id: state.home.id, action_id: element.action_id, block_id, selected });
  if (list.home === state.home?.hash && list.firstChild) return;
  list.home = state.home?.hash;
  list.drawn = new Map();
  list.replaceChildren(h("div", { class: "home" }, state.home
    ? drawBlocks(state.home.blocks, pressed)
    : h("p", { class: "quiet" }, `${app()} has published nothing here yet.`)));
}

function drawThread() {
  const pane = $("thread");
  const all = visible(where.channel);
  const inside = all.filter((message) => message.ts === where.thread || message.thread_ts === where.thread);
  pane.hidden = !where.thread || where.channel === HOME || inside.length === 0;
  document.body.classList.toggle("threaded", !pane.hidden);
  if (pane.hidden) return;
  const list = $("replies");
  const key = `${where.as} ${where.thread}`;
  if (list.place !== key) {
    list.replaceChildren();
    list.drawn = new Map();
    list.place = key;
    list.fresh = true;
  }
  $("thread-place").textContent = placeName(place(where.channel));
  fill(list, inside, true);
}

function drawSidebar() {
  const places = myPlaces().map((channel) => [channel.id, isUnread(channel.id)]);
  const looks = JSON.stringify([where.as, where.channel, places]);
  if ($("places").dataset.looks === looks) return;
  $("places").dataset.looks = looks;
  const entry = (id, label, unread) => h("button", {
    type: "button", class: unread ? "place unread" : "place",
    "aria-current": where.channel === id ? "page" : null,
    onclick: () => {
      showMenu(false);
      go({ channel: id, thread: null });
      if (id === HOME) act("home", {});
    },
  }, label);
  const draw = (channel) => entry(channel.id, placeName(channel), isUnread(channel.id));
  const channels = myPlaces().filter((channel) => channel.kind !== "im");
  const direct = myPlaces().filter((channel) => channel.kind === "im");
  $("places").replaceChildren(
    h("h2", {}, "Channels"), ...channels.map(draw),
    h("h2", {}, "Apps"), ...direct.map(draw), entry(HOME, `${app()}: Home`, false));
}

function isUnread(channel) {
  const newest = visible(channel).at(-1);
  return Boolean(newest) && newest.user !== where.as && newest.ts > (seen.get(channel) ?? "");
}

function drawAll() {
  if (where.channel !== HOME && !myPlaces().some((one) => one.id === where.channel)) {
    where.channel = myPlaces()[0].id;
    where.thread = null;
  }
  const channel = place(where.channel);
  $("title").textContent = channel ? placeName(channel) : "Home";
  $("about").textContent = channel?.shared ? "shared with another company" : "";
  $("composer").querySelector("textarea").placeholder =
    channel ? `Message ${placeName(channel).replace("# ", "#")} as ${userName(where.as)}, or /command …` : "";
  $("acting").value = where.as;
  drawChannel();
  drawThread();
  drawSidebar();
  showViews(state.views, workspace.users, act);
}

function showMenu(open) {
  document.body.classList.toggle("menu", open);
  $("menu").setAttribute("aria-expanded", String(open));
}

// ---- keeping up ----

function take(next) {
  if (next.boot !== state.boot) messages.clear();
  for (const message of next.messages) {
    if (!messages.has(message.channel)) messages.set(message.channel, new Map());
    messages.get(message.channel).set(message.ts, message);
  }
  for (const { channel, ts } of next.gone) messages.get(channel)?.delete(ts);
  // The same ephemeral as before stays the same object, so that it isn't drawn again.
  const known = new Map(state.ephemerals.map((message) => [message.ts, message]));
  next.ephemerals = next.ephemerals.map((message) => {
    const before = known.get(message.ts);
    return before && JSON.stringify(before) === JSON.stringify(message) ? before : message;
  });
  state = next;
  document.dispatchEvent(new CustomEvent("sandbox:state", { detail: next }));
}

let polling = new AbortController();

async function follow() {
  for (;;) {
    const asked = where.as;
    const query = new URLSearchParams({ as: asked, since: state.version, boot: state.as === asked ? state.boot : "" });
    try {
      const response = await fetch(`/sandbox/state?${query}`, { signal: polling.signal });
      const next = await response.json();
      await look();
      $("lost").hidden = true;
      if (asked !== where.as) continue;
      take({ ...next, as: asked });
      drawAll();
    } catch (error) {
      if (error.name === "AbortError") continue;
      $("lost").hidden = false;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

// Who and what there is: people join, leave and open conversations.
async function look() {
  workspace = await (await fetch("/sandbox/workspace")).json();
  know(workspace);
}

async function begin() {
  readAddress();
  moved.then = drawAll;
  await look();
  const people = workspace.users.filter((user) => !user.is_bot);
  if (!people.some((user) => user.id === where.as)) where.as = "U0ALICE";
  $("acting").append(...people.map((user) => h("option", { value: user.id }, `${user.profile.display_name} · ${user.about}`)));
  $("acting").addEventListener("change", () => {
    // Nothing of the one may be seen by the other.
    Object.assign(state, { ephemerals: [], views: [], home: null });
    go({ as: $("acting").value });
    polling.abort();
    polling = new AbortController();
  });
  composer($("composer"), () => null);
  composer($("reply"), () => where.thread);
  $("thread-close").addEventListener("click", () => go({ thread: null }));
  $("menu").addEventListener("click", () => showMenu(!document.body.classList.contains("menu")));
  $("scrim").addEventListener("click", () => showMenu(false));
  window.addEventListener("popstate", () => { readAddress(); drawAll(); });
  document.addEventListener("click", inPage);
  furnish(workspace);
  follow();
}

// A permalink of this sandbox opens here.
function inPage(event) {
  const target = event.target.closest?.("a[href]");
  if (!target || !target.href.startsWith(`${location.origin}/archives/`)) return;
  event.preventDefault();
  history.pushState(null, "", target.href);
  readAddress();
  drawAll();
}

begin();
