// A guided tour, where whoever runs the sandbox has given it one. It goes on when a thing was done.

import { h } from "./dom.js";
import { feed, follow } from "./feed.js";
import { go, where } from "./where.js";

const KEY = "sandbox.tour";

// `steps` as in `/sandbox/workspace`; `place`: where a button opens the tour again.
export function tourOf(steps, place) {
  if (!steps?.length) return;
  let progress = read();
  let stop = null;
  const messages = new Map();
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

  const newest = () => [...messages.values()].reduce((last, one) => (one.ts > last ? one.ts : last), "0");

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

  function write(words_) {
    const area = document.querySelector("#composer textarea");
    area.value = words_;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.focus();
  }

  // ---- what was done ----

  function take({ messages: changed, gone }) {
    for (const message of changed) messages.set(`${message.channel} ${message.ts}`, message);
    for (const { channel, ts } of gone) messages.delete(`${channel} ${ts}`);
    if (progress.since === null) keep({ since: newest() });
    // What it led to is gone, and with it the story: another begins.
    if (progress.found && !messages.has(progress.found.key)) keep({ step: 0, since: newest(), found: null, looked: false });
    goOn();
  }

  function goOn() {
    while (!card.hidden && steps[progress.step]?.done && isDone(steps[progress.step].done)) keep({ step: progress.step + 1 });
    draw();
  }

  function isDone(done) {
    if (done.shows) return Boolean(find(done.shows));
    if (done.no_longer_shows) return Boolean(progress.found) && !shows(messages.get(progress.found.key), done.no_longer_shows);
    return Boolean(progress.looked);
  }

  function find(control) {
    const [key, message] = [...messages].reverse().find(([, one]) => one.ts > progress.since && shows(one, control)) ?? [];
    if (message) keep({ found: { key, channel: message.channel, thread: message.thread_ts ?? message.ts } });
    return message;
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

  document.addEventListener("sandbox:state", (event) => take(event.detail));
  document.addEventListener("sandbox:drawer-shown", (event) => { if (event.detail === steps[progress.step]?.done?.opens) looked(); });
  for (const moves of ["popstate", "resize", "sandbox:moved"]) window.addEventListener(moves, () => { if (!card.hidden) stand(); });
  draw();
}

const shows = (message, control) => Boolean(message) && JSON.stringify(message.blocks ?? []).includes(JSON.stringify(control));
