// The faults: what is armed, what can be, and an experiment to begin with.

import { asked } from "./asked.js";
import { h } from "./dom.js";
import { CALLS, FAULTS, TOLD, inWords } from "./fault_kinds.js";
import { now } from "./feed.js";
import { everyPlace, placeName, placeOf } from "./names.js";
import { threadOf, topLevel } from "./sight.js";
import { HOME, where } from "./where.js";

const EVERY_MS = 1500;

let timer = 0;
const armed = h("ul", { class: "armed" });
const none = h("p", { class: "quiet", tabindex: "-1" }, "Nothing is armed: Slack is well.");
const mend = h("button", { type: "button", class: "button", onclick: async () => { said(await asked("DELETE", "/sandbox/faults"), "All is well again."); look(); } }, "Mend everything");
const told = h("p", { class: "faults-told", role: "status" });
const badge = h("span", { class: "violations", hidden: true });
const kinds = h("div", { class: "fault-groups" });
const element = h("div", { class: "faults" },
  h("section", { class: "faults-now", "aria-label": "What is armed" }, h("h2", {}, "Armed now"), armed, none, mend, told, experiment()),
  kinds);

function experiment() {
  return h("details", { class: "experiment", open: true },
    h("summary", {}, "Try it: watch a lost answer heal"),
    h("ol", {},
      h("li", {}, h("button", { type: "button", class: "button", onclick: () => order({ method: "chat.postMessage", drop_after_commit: true }, "Armed. Now ask the app for something.") }, "Arm it"),
        " Slack will do the app’s next ", h("code", {}, "chat.postMessage"), " and lose the answer."),
      h("li", {}, "Ask the app for something: it posts, and can’t know whether that was done."),
      h("li", {}, h("button", { type: "button", class: "button", onclick: () => document.dispatchEvent(new CustomEvent("sandbox:drawer", { detail: "inspector" })) }, "Look"),
        " The inspector marks the lost answer. An app that heals looks for its message before it posts again; one that doesn’t posts it twice, or never uses it.")));
}

async function order(fault, done) {
  said(await asked("POST", "/sandbox/faults", fault), done);
  look();
}

function said(answer, done) {
  told.classList.toggle("error", !answer.ok);
  told.textContent = answer.ok ? done : answer.error;
}

async function look() {
  const found = await asked("GET", "/sandbox/faults");
  if (!Array.isArray(found)) return;
  const was = document.activeElement;
  none.hidden = found.length > 0;
  if (!none.hidden && (was === mend || armed.contains(was))) none.focus();
  mend.hidden = found.length === 0;
  badge.hidden = found.length === 0;
  badge.replaceChildren(String(found.length), h("span", { class: "unseen" }, " armed"));
  const words = found.map((fault) => [fault.number, inWords(fault, (id) => placeName(placeOf(id)), now())]);
  const looks = JSON.stringify(words);
  if (armed.dataset.looks === looks) return;
  armed.dataset.looks = looks;
  const focused = armed.contains(document.activeElement) ? document.activeElement.dataset.number : null;
  armed.replaceChildren(...words.map(([number, text]) => h("li", {}, h("span", {}, text), h("button", {
    type: "button", class: "chip", "data-number": number, "aria-label": `Clear: ${text}`,
    onclick: async () => { said(await asked("DELETE", `/sandbox/faults/${number}`), "Cleared."); look(); },
  }, "Clear"))));
  if (focused) (armed.querySelector(`[data-number="${focused}"]`) ?? armed.querySelector("button") ?? mend).focus();
}

// How many are armed is told while the drawer is open.
function shown(is, isDrawerOpen) {
  clearInterval(timer);
  if (!isDrawerOpen) return;
  timer = setInterval(look, EVERY_MS);
  if (is && kinds.childElementCount === 0) kinds.replaceChildren(...FAULTS.map(([title, all]) => group(title, all)));
  look();
}

// As the drawer has it.
export const faultsPanel = { element, badge, shown, back: () => false };

function group(title, kinds) {
  return h("section", { class: "fault-group", "aria-label": title }, h("h2", {}, title), kinds.map(drawKind));
}

function drawKind(kind) {
  const fields = kind.fields.map(drawField);
  const form = h("form", { class: "fault-form" },
    fields.map((field) => h("label", {}, h("span", {}, field.label), field.element)),
    h("button", { type: "submit", class: "button primary" }, kind.now ? "Do it" : "Arm"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const fault = { ...kind.does };
    for (const field of fields) if (field.value() !== undefined) fault[field.name] = field.value();
    order(fault, kind.now ? `Done: ${kind.title}.` : `Armed: ${kind.title}.`);
  });
  const details = h("details", { class: "fault" }, h("summary", {}, h("strong", {}, kind.title), kind.about && h("span", { class: "quiet" }, kind.about)), form);
  details.addEventListener("toggle", () => { if (details.open) for (const field of fields) field.freshen?.(); });
  return details;
}

// ---- fields ----

function drawField(field) {
  const made = { call: () => listed(field, [["*", "any call"], ...CALLS.map(same)]), told: () => listed(field, [["*", "anything"], ...TOLD.map(same)]),
    choice: () => listed(field, field.choices), channel: () => listed(field, everyPlace().filter((one) => one.kind === "public" || one.kind === "private").map((one) => [one.id, placeName(one)])),
    number: () => numbered(field), words: () => worded(field), message: () => messaged() }[field.kind]();
  return { name: field.name, label: field.label, ...made };
}

const same = (one) => [one, one];

function listed(field, choices) {
  const element = h("select", {}, choices.map(([value, label]) => h("option", { value, selected: value === field.first }, label)));
  return { element, value: () => element.value };
}

function numbered(field) {
  const element = h("input", { type: "number", required: true, step: field.step ?? "any", value: String(field.first) });
  return { element, value: () => Number(element.value) };
}

let lists = 0;
function worded(field) {
  const id = field.known && `known-${(lists += 1)}`;
  const element = h("input", { type: "text", list: id, value: field.first, required: field.first !== "" });
  const known = field.known && h("datalist", { id }, field.known.map((one) => h("option", { value: one })));
  return { element: known ? h("span", {}, element, known) : element, value: () => element.value.trim() || undefined };
}

// The app's newest messages of the thread or channel that is open.
function messaged() {
  const element = h("select", { required: true });
  const freshen = () => {
    const { channel, thread } = where;
    const mine = (channel === HOME ? [] : thread ? threadOf(channel, thread) : topLevel(channel))
      .filter((one) => one.bot_id && !one.is_ephemeral).slice(-20);
    const before = element.value;
    element.replaceChildren(...mine.toReversed().map((one) => h("option", { value: `${channel} ${one.ts}` }, (one.text || one.ts).slice(0, 60))));
    if (mine.length === 0) element.append(h("option", { value: "" }, "no message of the app is open"));
    else if (mine.some((one) => before === `${channel} ${one.ts}`)) element.value = before;
  };
  // One may have gone elsewhere since.
  element.addEventListener("focus", freshen);
  const value = () => {
    const [channel, ts] = element.value.split(" ");
    return { channel, ts };
  };
  return { element, freshen, value };
}
