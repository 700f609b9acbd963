// What can be done with a message: react, reply, edit, delete, a shortcut of its menu.

import { ask, sure } from "./asking.js";
import { act, toast } from "./doing.js";
import { h } from "./dom.js";
import { OFTEN, emoji } from "./emoji.js";
import { item, menuButton } from "./menu.js";
import { unescape } from "./mrkdwn.js";
import { shortcutsOfApp, userName } from "./names.js";
import { where } from "./where.js";

const spot = (message) => ({ channel: message.channel, ts: message.ts });

// `open` opens its thread; null within one.
export function drawTools(message, open) {
  const mine = message.user === where.as && (!message.subtype || ["file_share", "thread_broadcast"].includes(message.subtype));
  return h("div", { class: "start" },
    menuButton({ class: "icon wide-only", "aria-label": "Add a reaction", title: "Add a reaction", "data-key": "react" }, "☺",
      () => palette(message)),
    open && h("button", { type: "button", class: "icon wide-only", "aria-label": "Reply in a thread", title: "Reply in a thread",
      "data-key": "reply", onclick: open }, "💬"),
    menuButton({ class: "icon", "aria-label": "More to do with this message", title: "More", "data-key": "more" }, "⋯", () => [
      open && item("Reply in a thread", open),
      item("Add a reaction …", () => react(message)),
      item("Copy the link to it", () => copyLink(message)),
      mine && item("Edit …", () => edit(message)),
      mine && item("Delete …", () => remove(message), { class: "danger" }),
      ...shortcuts(message)]));
}

function palette(message) {
  const one = (name) => item(emoji(name), () => add(message, name), { "aria-label": name, title: `:${name}:` });
  return [h("div", { class: "grid", role: "presentation" }, OFTEN.map(one)), item("By its name …", () => react(message))];
}

export function drawReactions(message) {
  const toggle = (one) => (one.users.includes(where.as) ? act("unreact", { ...spot(message), name: one.name }, { quietly: true }) : add(message, one.name));
  return h("p", { class: "reactions" }, message.reactions.map((one) => h("button", {
    type: "button", title: `${one.users.map(userName).join(", ")} reacted with :${one.name}:`, "data-key": `reaction ${one.name}`,
    "aria-label": `${one.name}, ${one.count} ${one.count === 1 ? "reaction" : "reactions"}`,
    "aria-pressed": String(one.users.includes(where.as)), onclick: () => toggle(one),
  }, `${emoji(one.name)} ${one.count}`)));
}

async function react(message) {
  const name = await ask("Which reaction? By its name, such as eyes or +1", "eyes", "React");
  if (name) add(message, name.replace(/^:|:$/g, ""));
}

// It is for people: whether the app hears of it is no matter.
const add = (message, name) => act("react", { ...spot(message), name }, { quietly: true });

export async function edit(message) {
  const text = await ask("Edit the message", typed(message.text), "Save");
  if (text) act("edit", { ...spot(message), text });
}

async function remove(message) {
  if (await sure("Delete this message?", "Delete")) act("delete", spot(message));
}

async function copyLink(message) {
  const inside = message.thread_ts ? `?thread_ts=${message.thread_ts}` : "";
  const link = `${location.origin}/archives/${message.channel}/p${message.ts.replace(".", "")}${inside}`;
  try {
    await navigator.clipboard.writeText(link);
    toast("The link is copied.");
  } catch {
    toast(link);
  }
}

function shortcuts(message) {
  const named = shortcutsOfApp();
  const run = (callback_id) => act("shortcut", { ...spot(message), callback_id });
  if (!named.length) return [item("Shortcut of the app …", () => shortcut(message))];
  return named.map(([callback_id, name]) => item(name, () => run(callback_id)));
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
