// What can be done with a message: react, edit, delete, a shortcut of its menu.

import { ask, sure } from "./asking.js";
import { act } from "./doing.js";
import { h } from "./dom.js";
import { emoji, unescape, userName } from "./mrkdwn.js";
import { where } from "./where.js";

const spot = (message) => ({ channel: message.channel, ts: message.ts });

export function drawTools(message) {
  const mine = message.user === where.as && (!message.subtype || ["file_share", "thread_broadcast"].includes(message.subtype));
  const tool = (label, does) => h("button", {
    type: "button", class: "tool",
    onclick: (event) => { event.target.closest("details").open = false; does(); },
  }, label);
  const menu = h("details", { class: "tools" },
    h("summary", { class: "icon", "aria-label": "More to do with this message", title: "More" }, "⋯"),
    h("div", { class: "tool-list" },
      tool("Add a reaction …", () => react(message)),
      mine && tool("Edit …", () => edit(message)),
      mine && tool("Delete …", () => remove(message)),
      tool("Shortcut of the app …", () => shortcut(message))));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".tools[open]")) if (!menu.contains(event.target)) menu.open = false;
});

export function drawReactions(message) {
  const toggle = (one) => act(one.users.includes(where.as) ? "unreact" : "react", { ...spot(message), name: one.name });
  return h("p", { class: "reactions" }, message.reactions.map((one) => h("button", {
    type: "button", title: `:${one.name}: ${one.users.map(userName).join(", ")}`,
    "aria-pressed": String(one.users.includes(where.as)), onclick: () => toggle(one),
  }, `${emoji(one.name)} ${one.count}`)));
}

async function react(message) {
  const name = await ask("Which reaction? By its name, such as eyes or +1", "eyes", "React");
  if (name) act("react", { ...spot(message), name });
}

async function edit(message) {
  const text = await ask("Edit the message", typed(message.text), "Save");
  if (text) act("edit", { ...spot(message), text });
}

async function remove(message) {
  if (await sure("Delete this message?", "Delete")) act("delete", spot(message));
}

async function shortcut(message) {
  const callback_id = await ask("Which shortcut? By its callback id in the app's manifest", sessionStorage.getItem("shortcut") ?? "", "Run");
  if (!callback_id) return;
  sessionStorage.setItem("shortcut", callback_id);
  act("shortcut", { ...spot(message), callback_id });
}

// As it was typed: Slack's links and mentions of people are plain again, its other tokens stay.
function typed(text) {
  return unescape(text
    .replace(/<(https?:[^<>|]+)(\|[^<>]*)?>/g, "$1")
    .replace(/<@([A-Z0-9]+)(\|[^<>]*)?>/g, (_, id) => `@${userName(id)}`));
}
