// A guided tour, where whoever runs the sandbox has given it one. It goes on when a thing was done.

import { feed, follow } from "./feed.js";
import { everyPlace } from "./names.js";
import { messageOf, sight, told } from "./sight.js";
import { drawCard, placeCard } from "./tour_card.js";
import { go, where } from "./where.js";

const KEY = "sandbox.tour";
// `since`: the newest message when it began; `found`: the message to which its story led.
const START = { step: 0, found: null, looked: false, isDismissed: false };

let steps = [];
let progress = { ...START, since: null };
let stop = null;

const step = () => steps[progress.step];
const isOpen = () => steps.length > 0 && !progress.isDismissed && step() !== undefined;

// `given`: the steps, as in `/sandbox/workspace`.
export function takeTour(given, place) {
  steps = given;
  progress = { ...progress, ...remembered() };
  placeCard(place, { help, dismiss, open });
  draw();
}

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(KEY));
  } catch {
    return null;
  }
}

function keep(change) {
  progress = { ...progress, ...change };
  localStorage.setItem(KEY, JSON.stringify(progress));
}

// Where it was left; from the beginning once it has ended.
function open() {
  if (step()?.done) keep({ isDismissed: false });
  else keep({ ...START, since: newest() });
  goOn();
}

function dismiss() {
  keep({ isDismissed: true });
  draw();
}

function draw() {
  watch();
  if (isOpen()) drawCard(step(), progress.step, steps.length - 1, isThere(step().help));
  else drawCard(null);
}

// ---- doing it for one ----

// As far as the step, up to where the person decides.
function help() {
  const does = step().help;
  if (!does) return dismiss();
  if (does.as && does.as !== where.as) go({ as: does.as });
  if (does.channel) go({ channel: does.channel, thread: null });
  if (does.thread && progress.found) go({ channel: progress.found.channel, thread: progress.found.thread });
  if (does.write) write(does.write);
  if (does.drawer) document.dispatchEvent(new CustomEvent("sandbox:drawer", { detail: does.drawer }));
}

// Who looks is whom the step asks for, at the thread that it is about.
const isThere = (does) => Boolean(does?.thread) && does.as === where.as && progress.found?.thread === where.thread;

function write(words) {
  const area = document.querySelector("#composer textarea");
  area.value = words;
  area.dispatchEvent(new Event("input", { bubbles: true }));
  area.focus();
}

// ---- what was done ----

// The page was drawn anew.
export function lookAround() {
  if (steps.length === 0 || sight.version < 0) return;
  if (progress.since === null) keep({ since: newest() });
  // What it led to is gone, and with it the story: another begins.
  if (progress.found && !messageOf(progress.found.channel, progress.found.ts)) keep({ ...START, isDismissed: progress.isDismissed, since: newest() });
  goOn();
}

export function drawerOpened(panel) {
  if (isOpen() && panel && panel === step().done?.opens) looked();
}

function goOn() {
  while (isOpen() && step().done && isDone(step().done)) keep({ step: progress.step + 1 });
  draw();
}

function isDone(done) {
  if (done.shows) return find(done.shows);
  if (done.no_longer_shows) return Boolean(progress.found) && !shows(messageOf(progress.found.channel, progress.found.ts), done.no_longer_shows);
  return progress.looked;
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
  const waits = isOpen() && step().done?.ends_connection;
  if (waits && !stop) {
    const from = Date.now() / 1000 + feed.ahead;
    stop = follow((rows) => { if (rows.some((row) => row.name === "disconnected" && row.at > from)) looked(); });
  } else if (!waits && stop) {
    stop();
    stop = null;
  }
}

function looked() {
  keep({ looked: true });
  goOn();
}

const newest = () => everyPlace().reduce((last, { id }) => (told(id).at(-1)?.ts > last ? told(id).at(-1).ts : last), "0");
const shows = (message, control) => Boolean(message) && JSON.stringify(message.blocks ?? []).includes(JSON.stringify(control));
