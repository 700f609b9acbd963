// The places to go to, and who one is.

import { carry } from "./carry.js";
import { h } from "./dom.js";
import { appName, everybody, everyPlace, placeName, standing, userOf, zone } from "./names.js";
import { drawFace } from "./message.js";
import { unread } from "./read_marks.js";
import { visit } from "./visiting.js";
import { HOME, go, where } from "./where.js";

const $ = (id) => document.getElementById(id);

export const myPlaces = () => everyPlace().filter((channel) => channel.members.includes(where.as));

export function drawSidebar() {
  const places = myPlaces().map((channel) => ({ channel, ...unread(channel.id) }));
  const looks = JSON.stringify([where.as, where.channel, places.map((one) => [one.channel.id, one.channel.name, one.any, one.calls])]);
  if ($("places").dataset.looks === looks) return;
  $("places").dataset.looks = looks;
  const draw = ({ channel, any, calls }) => entry(channel.id, labelOf(channel), any, calls);
  const direct = places.filter((one) => ["im", "mpim"].includes(one.channel.kind));
  const fresh = h("div", { id: "places", "data-looks": looks },
    h("h2", {}, "Channels"), places.filter((one) => !direct.includes(one)).map(draw),
    h("h2", {}, "Apps"), direct.map(draw),
    entry(HOME, [h("span", { class: "sign", "aria-hidden": "true" }, "⌂"), `${appName()}: Home`], false, 0));
  const old = $("places");
  old.after(fresh);
  carry(old, fresh);
  old.remove();
  const waits = places.reduce((sum, one) => sum + one.calls, 0);
  document.title = `${waits ? `(${waits}) ` : ""}${where.as ? userOf(where.as)?.profile.display_name : ""} · Sandbox`;
}

function labelOf(channel) {
  const sign = { im: "⎈", mpim: "⁂", private: "🔒", public: "#" }[channel.kind];
  return [h("span", { class: "sign", "aria-hidden": "true" }, sign), placeName(channel).replace(/^#/, ""),
    channel.kind === "private" && h("span", { class: "unseen" }, " private"),
    channel.shared && h("span", { class: "badge", title: "Shared with another company" }, "shared")];
}

function entry(id, label, any, calls) {
  return h("button", {
    type: "button", class: any ? "place unread" : "place", "data-key": `place ${id}`,
    "aria-current": where.channel === id ? "page" : null, onclick: () => enter(id),
  }, label, calls > 0 && h("span", { class: "count" }, calls, h("span", { class: "unseen" }, " for you")),
  any && h("span", { class: "unseen" }, " unread"));
}

function enter(id) {
  const isThere = where.channel === id;
  showMenu(false);
  go({ channel: id, thread: null });
  if (isThere) visit({ again: true });
  if (id !== HOME && !matchMedia("(hover: none)").matches) $("composer").querySelector("textarea").focus();
}

// On a narrow screen the places lie above all else.
export function showMenu(open) {
  const was = document.body.classList.contains("menu");
  document.body.classList.toggle("menu", open);
  $("menu").setAttribute("aria-expanded", String(open));
  $("main").inert = open;
  if (open) $("places").querySelector("[aria-current], button")?.focus();
  else if (was) $("menu").focus();
}

export function fillActing() {
  const people = everybody().filter((user) => !user.is_bot);
  const looks = JSON.stringify(people);
  if ($("acting").dataset.looks !== looks) {
    $("acting").dataset.looks = looks;
    $("acting").replaceChildren(...people.map((user) => h("option", { value: user.id }, `${user.profile.display_name} · ${user.about}`)));
  }
  $("acting").value = where.as;
  const me = userOf(where.as);
  $("me").replaceChildren(drawFace(me.id, me.profile.display_name, false),
    h("span", {}, [standing(me), `times are ${zone()}`].filter(Boolean).join(" · ")));
  $("standing").hidden = !me.deleted;
  $("standing").textContent = `${me.profile.display_name} is deactivated: Slack would let nobody in by that name. `
    + "What you do here is delivered all the same, for the app to refuse.";
}
