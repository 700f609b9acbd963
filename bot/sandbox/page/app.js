// The page: whose eyes, which channel, which thread; drawn anew with whatever changed.

import { announce } from "./announcing.js";
import { composer } from "./composer.js";
import { act } from "./doing.js";
import { h } from "./dom.js";
import { furnish } from "./drawer.js";
import { anew, follow } from "./following.js";
import { drawHome } from "./home.js";
import { fill, listen } from "./list.js";
import { showViews } from "./modal.js";
import { appName, everybody, placeName, placeOf, userName } from "./names.js";
import { readUpTo, read } from "./read_marks.js";
import { drawSession } from "./session.js";
import { drawSidebar, fillActing, myPlaces, showMenu } from "./sidebar.js";
import { sight, threadOf, told, topLevel } from "./sight.js";
import { lookAround } from "./tour.js";
import { visit } from "./visiting.js";
import { HOME, go, moved, readAddress, where } from "./where.js";

const $ = (id) => document.getElementById(id);
const writing = {};

function drawChannel() {
  const list = $("messages");
  const isHome = where.channel === HOME;
  $("composer").hidden = isHome;
  $("session").hidden = true;
  if (isHome) return drawHome(list);
  const messages = topLevel(where.channel);
  list.querySelector(".welcome")?.remove();
  fill(list, messages, { place: `${where.as} ${where.channel}`, inThread: false, newSince: readUpTo(where.channel) });
  if (messages.length === 0) list.append(welcome());
  if (!document.hidden) read(where.channel, null, told(where.channel).at(-1)?.ts);
  if (placeOf(where.channel).kind === "im") drawSession($("session"), where.channel, "");
}

function welcome() {
  return h("div", { class: "welcome" },
    h("h2", {}, "Nothing was said here yet"),
    h("p", {}, `Mention @${appName()}, or type a slash command; answers come into the channel or a thread. `,
      "To act as somebody else, change “You are”, below the channels."));
}

function drawThread() {
  const pane = $("thread");
  const inside = where.thread && where.channel !== HOME ? threadOf(where.channel, where.thread) : [];
  const isOpened = where.thread && where.thread !== pane.dataset.thread && moved.byHand;
  pane.dataset.thread = where.thread ?? "";
  pane.hidden = inside.length === 0;
  document.body.classList.toggle("threaded", !pane.hidden);
  if (pane.hidden) return;
  $("thread-place").textContent = placeName(placeOf(where.channel));
  fill($("replies"), inside, { place: `${where.as} ${where.thread}`, inThread: true, newSince: readUpTo(where.channel, where.thread) });
  if (!document.hidden) read(where.channel, where.thread, inside.at(-1).ts);
  for (const one of document.querySelectorAll(`#messages [data-ts="${where.thread}"] .replies.new`)) {
    one.classList.remove("new");
    one.querySelector(".dot").remove();
  }
  drawSession($("thread-session"), where.channel, where.thread);
  if (isOpened && !matchMedia("(hover: none)").matches) $("reply").querySelector("textarea").focus();
}

function drawBar() {
  const channel = placeOf(where.channel);
  $("title").textContent = channel ? (channel.kind === "private" ? channel.name : placeName(channel)) : `${appName()}: Home`;
  $("title").dataset.kind = channel?.kind ?? "home";
  const people = channel?.members.length ?? 0;
  $("about").textContent = [people > 2 && `${people} members`, channel?.kind === "private" && "private",
    channel?.shared && "shared with another company", channel?.archived && "archived", channel?.topic].filter(Boolean).join(" · ");
  if (channel) $("composer").querySelector("textarea").placeholder = `Message ${placeName(channel)} as ${userName(where.as)}, or /command …`;
  $("reply").querySelector("textarea").placeholder = `Reply as ${userName(where.as)} …`;
}

function drawAll() {
  if (sight.as !== null && sight.as !== where.as) anew();
  if (where.channel !== HOME && !myPlaces().some((one) => one.id === where.channel)) {
    where.channel = myPlaces()[0].id;
    where.thread = null;
  }
  fillActing();
  drawBar();
  drawChannel();
  drawThread();
  drawSidebar();
  writing.top.switchTo(`${where.as} ${where.channel}`);
  writing.reply.switchTo(`${where.as} ${where.channel} ${where.thread}`);
  showViews(sight.views, act);
  announce(`${where.as} ${where.channel} ${where.thread}`, inSight());
  lookAround();
  visit();
}

function inSight() {
  if (where.channel === HOME) return [];
  return $("thread").hidden ? topLevel(where.channel) : threadOf(where.channel, where.thread);
}

// Back to the message whose thread it was.
function closeThread() {
  const parent = document.querySelector(`#messages [data-ts="${CSS.escape(where.thread)}"]`);
  go({ thread: null });
  (parent ?? $("composer").querySelector("textarea")).focus({ preventScroll: true });
}

function steer(event) {
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (document.body.classList.contains("menu")) showMenu(false);
  else if (where.thread) closeThread();
  else if (event.target.closest?.(".message")) $("composer").querySelector("textarea").focus();
}

// An address may name nobody.
function somebody() {
  if (!everybody().some((user) => user.id === where.as && !user.is_bot)) where.as = "U0ALICE";
}

function fromAddress() {
  readAddress();
  if (everybody().length === 0) return;
  somebody();
  drawAll();
}

// A permalink of this sandbox opens here.
function inPage(event) {
  const target = event.target.closest?.("a[href]");
  if (!target || !target.href.startsWith(`${location.origin}/archives/`)) return;
  event.preventDefault();
  history.pushState(null, "", target.href);
  fromAddress();
}

async function begin() {
  readAddress();
  moved.then = drawAll;
  writing.top = composer($("composer"), () => null);
  writing.reply = composer($("reply"), () => where.thread);
  for (const list of [$("messages"), $("replies")]) listen(list);
  $("acting").addEventListener("change", () => go({ as: $("acting").value }));
  $("thread-close").addEventListener("click", closeThread);
  $("menu").addEventListener("click", () => showMenu(!document.body.classList.contains("menu")));
  $("scrim").addEventListener("click", () => showMenu(false));
  window.addEventListener("popstate", fromAddress);
  document.addEventListener("visibilitychange", () => { if (!document.hidden && sight.as) drawAll(); });
  document.addEventListener("click", inPage);
  document.addEventListener("keydown", steer);
  furnish($("tools"));
  await follow({
    lost: (is) => { $("lost").hidden = !is; },
    known: somebody,
    changed: drawAll,
  });
}

begin();
