// What an admin, or the app's owner, may have set in a workspace.

import { asked } from "./asked.js";
import { h } from "./dom.js";
import { everyPlace, placeName } from "./names.js";
import { where } from "./where.js";

const SWITCHES = [
  ["messages_tab", "People can write to the app in its Messages tab"],
  ["home_tab", "The app has a Home tab"],
  ["user_groups", "The workspace has user groups (a paid plan)"],
  ["agent_sessions", "Sessions of agents are switched on"],
  ["commands_escaped", "Mentions and channels in a command come as <@U…> and <#C…>"],
];
const RESTRICTIONS = [["", "anybody may post"], ["posting", "posting is restricted"], ["read_only_channel", "it is read-only"],
  ["thread_only_channel", "only in threads"], ["non_threadable_channel", "not in threads"]];

const told = h("p", { class: "faults-told", role: "status" });
const body = h("div", { class: "policies" });
let policies;

async function change(what) {
  const answer = await asked("POST", "/sandbox/policies", what);
  told.classList.toggle("error", !answer.ok);
  told.textContent = answer.ok ? "Set." : answer.error;
  if (answer.ok) policies = answer;
}

function draw() {
  body.replaceChildren(
    h("section", { "aria-label": "Switches" }, h("h2", {}, "The app and the workspace"), SWITCHES.map(([name, label]) => flag(label, policies[name], (is) => change({ [name]: is })))),
    h("section", { "aria-label": "Messages" }, h("h2", {}, "Messages"), editing(), lock()),
    h("section", { "aria-label": "Where the app may post" }, h("h2", {}, "Where the app may post"), everyPlace().filter((one) => one.kind === "public" || one.kind === "private").map(restriction)));
}

function flag(label, is, does) {
  const box = h("input", { type: "checkbox", checked: is, onchange: () => does(box.checked) });
  return h("label", { class: "flag" }, box, h("span", {}, label));
}

function editing() {
  const seconds = h("input", { type: "number", min: "0", value: policies.edit_window ?? "", placeholder: "always", "aria-label": "Seconds",
    onchange: () => change({ edit_window: seconds.value === "" ? null : Number(seconds.value) }) });
  return h("label", { class: "policy" }, h("span", {}, "Messages can be edited for so many seconds"), seconds);
}

function lock() {
  if (!where.thread) return h("p", { class: "quiet" }, "Open a thread to lock it.");
  const key = `${where.channel}/${where.thread}`;
  return flag("The open thread is locked", policies.locked_threads.includes(key), (is) => change({
    locked_threads: is ? [...policies.locked_threads, key] : policies.locked_threads.filter((one) => one !== key),
  }));
}

function restriction(place) {
  const chosen = policies.restrictions[place.id] ?? "";
  const select = h("select", { onchange: () => {
    const { [place.id]: _, ...others } = policies.restrictions;
    change({ restrictions: select.value ? { ...others, [place.id]: select.value } : others });
  } }, RESTRICTIONS.map(([value, label]) => h("option", { value, selected: value === chosen }, label)));
  return h("label", { class: "policy" }, h("span", {}, placeName(place)), select);
}

async function shown(is) {
  if (!is) return;
  told.textContent = "";
  policies = await asked("GET", "/sandbox/policies");
  if (policies.restrictions) draw();
}

// As the drawer has it.
export const policiesPanel = { element: h("div", { class: "settings" }, h("p", { class: "quiet" }, "What an admin may have set. The app meets the errors that Slack would give it."), body, told), badge: null, shown, back: () => false };
