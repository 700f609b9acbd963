// A guided tour, where whoever runs the sandbox has given it one. It goes on when a thing was done.

import { h } from "./dom.js";
import { feed, follow } from "./feed.js";
import { everyPlace } from "./names.js";
import { messageOf, sight, told } from "./sight.js";
import { go, where } from "./where.js";

const KEY = "sandbox.tour";

// `steps` as in `/sandbox/workspace`; `place`: where a button opens the tour again.
export function tourOf(steps, place) {
  let progress = read();
  let stop = null;
  const count = h("p", { class: "quiet" });
  const title = h("h2", { id: "tour-title" });
  const text = h("p", {});
  const doing = h("button", { type: "button", class: "button primary", onclick: () => help(steps[progress.step]) });
  const words = h("div", { class: "tour-words", role: "status" }, title, text);
  const card = h("aside", { class: "tour", "aria-label": "Guided tour", hidden: true },
    h("div", { class: "tour-head" }, count, h("button", { type: "button", class: "icon", "aria-label": "Close the tour", title: "Close the tour", onclick: dismiss }, "✕")),
    words, doing);
  const button = h("button", { type: "button", class: "icon", title: "The guided tour", onclick: () => (card.hidden ? begin() : dismiss()) }, "Tour");
  place.append(button);

  function read() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? { step: 0, since: null };
    } catch {
      return { step: 0, since: null };
    }
  }

  function keep(change) {
    progress = { ...progress, ...change };
    localStorage.setItem(KEY, JSON.stringify(progress));
  }

  function begin() {
    keep({ step: 0, since: newest(), isDismissed: false, found: null, looked: false });
    draw();
    title.scrollIntoView({ block: "nearest" });
  }

  function dismiss() {
    const had = card.contains(document.activeElement);
    keep({ isDismissed: true });
    draw();
    if (had) button.focus();
  }

  const newest = () => everyPlace().reduce((last, { id }) => (told(id).at(-1)?.ts > last ? told(id).at(-1).ts : last), "0");

  // It does what the step tells, up to the point where the person decides.
  function help({ help: does }) {
    if (!does) return dismiss();
    if (does.as && does.as !== where.as) {
      const acting = document.getElementById("acting");
      acting.value = does.as;
      acting.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (does.channel) go({ channel: does.channel, thread: null });
    if (does.thread && progress.found) go({ channel: progress.found.channel, thread: progress.found.thread });
    if (does.write) write(does.write);
    if (does.drawer) document.dispatchEvent(new CustomEvent("sandbox:drawer", { detail: does.drawer }));
  }

  // Whom the step asks for is who looks, at the thread that it is about.
  const isThere = (does) => Boolean(does?.thread) && does.as === where.as && progress.found?.thread === where.thread;

  function write(words_) {
    const area = document.querySelector("#composer textarea");
    area.value = words_;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.focus();
  }

  // ---- what was done ----

  function look() {
    if (sight.version < 0) return;
    if (progress.since === null) keep({ since: newest() });
    // What it led to is gone, and with it the story: another begins.
    if (progress.found && !messageOf(progress.found.channel, progress.found.ts)) keep({ step: 0, since: newest(), found: null, looked: false });
    goOn();
  }

  function goOn() {
    while (!card.hidden && steps[progress.step]?.done && isDone(steps[progress.step].done)) keep({ step: progress.step + 1 });
    draw();
  }

  function isDone(done) {
    if (done.shows) return find(done.shows);
    if (done.no_longer_shows) return Boolean(progress.found) && !shows(messageOf(progress.found.channel, progress.found.ts), done.no_longer_shows);
    return Boolean(progress.looked);
  }

  function find(control) {
    for (const { id } of everyPlace()) {
      const message = told(id).findLast((one) => one.ts > progress.since && shows(one, control));
      if (!message) continue;
      keep({ found: { channel: id, ts: message.ts, thread: message.thread_ts ?? message.ts } });
      return true;
    }
    return false;
  }

  // A step may end with a look into the drawer, or with a connection of the app that ends.
  function watch() {
    const waits = !card.hidden && steps[progress.step]?.done?.ends_connection;
    if (waits && !stop) {
      const from = Date.now() / 1000 + feed.ahead;
      stop = follow((rows) => { if (rows.some((row) => row.name === "disconnected" && row.at > from)) looked(); });
    } else if (!waits && stop) {
      stop();
      stop = null;
    }
  }

  function looked() {
    if (!steps[progress.step]?.done?.opens) return;
    keep({ looked: true });
    goOn();
  }

  // ---- drawing ----

  function draw() {
    const step = steps[progress.step];
    card.hidden = Boolean(progress.isDismissed) || !step;
    button.setAttribute("aria-expanded", String(!card.hidden));
    watch();
    if (card.hidden) return;
    stand();
    doing.hidden = isThere(step.help);
    if (card.dataset.step === String(progress.step)) return;
    card.dataset.step = progress.step;
    const last = steps.length - 1;
    count.textContent = progress.step < last ? `Step ${progress.step + 1} of ${last}` : "That was it";
    title.textContent = step.title;
    text.replaceChildren(...step.text.split("`").map((part, n) => (n % 2 ? h("code", {}, part) : part)));
    doing.textContent = step.help?.label ?? "Done";
  }

  // On a narrow screen the thread covers the channel.
  function stand() {
    const main = document.getElementById("main");
    const home = getComputedStyle(main).display === "none" ? document.getElementById("thread") : main;
    if (card.parentElement === home) return;
    const focused = card.contains(document.activeElement) ? document.activeElement : null;
    home.querySelector("header").after(card);
    focused?.focus();
  }

  window.addEventListener("resize", () => { if (!card.hidden) stand(); });
  draw();
  return { look, opened: (panel) => { if (panel && panel === steps[progress.step]?.done?.opens) looked(); } };
}

const shows = (message, control) => Boolean(message) && JSON.stringify(message.blocks ?? []).includes(JSON.stringify(control));
