// What can be pressed or chosen in a message, a modal or Home, and tells the app at once.

import { confirmed } from "./asking.js";
import { CONTROLS, drawControl } from "./controls.js";
import { h } from "./dom.js";
import { item, menuButton } from "./menu.js";
import { textOf, wordsOf } from "./mrkdwn.js";
import { notDrawn } from "./not_drawn.js";
import { where } from "./where.js";

export function drawElement(element, spot, block) {
  if (element.visible_to_user_ids && !element.visible_to_user_ids.includes(where.as)) return null;
  const pressed = (selected) => confirmed(element, () => spot.click(element, selected, block));
  const key = `${block} ${element.action_id}`;
  if (PRESSED[element.type]) return PRESSED[element.type](element, pressed, key);
  if (!CONTROLS[element.type]) return notDrawn(`element ${element.type}`);
  return drawControl(element, { key, changed: pressed, suggest: (typed) => spot.suggest(element, typed, block) }).node;
}

const ICONS = { trash: "🗑" };

const PRESSED = {
  button: drawButton,
  workflow_button: drawButton,
  icon_button: (element, pressed, key) => h("button", {
    type: "button", class: "button bare", "data-key": key, title: wordsOf(element.text),
    "aria-label": element.accessibility_label ?? wordsOf(element.text), onclick: () => pressed(),
  }, ICONS[element.icon] ?? textOf(element.text)),
  feedback_buttons: (element, pressed, key) => h("span", { class: "pair", role: "group", "aria-label": "Feedback" },
    [["positive_button", "👍"], ["negative_button", "👎"]].map(([name, sign]) => h("button", {
      type: "button", class: "button bare", "data-key": `${key} ${name}`, title: wordsOf(element[name].text),
      "aria-label": element[name].accessibility_label ?? wordsOf(element[name].text),
      onclick: () => pressed(element[name].value),
    }, sign))),
  overflow: (element, pressed, key) => menuButton(
    { class: "button overflow", "aria-label": "More", title: "More", "data-key": key }, "⋯",
    () => element.options.map((option) => item([textOf(option.text),
      option.description && h("small", {}, textOf(option.description))], () => {
      if (option.url) window.open(option.url, "_blank", "noopener,noreferrer");
      pressed(option.value);
    })),
  ),
};

function drawButton(element, pressed, key) {
  const is = { class: `button ${element.style ?? ""}`.trim(), "data-key": key, "aria-label": element.accessibility_label, onclick: () => pressed() };
  if (!element.url) return h("button", { ...is, type: "button" }, textOf(element.text));
  return h("a", { ...is, href: element.url, target: "_blank", rel: "noopener noreferrer" }, textOf(element.text));
}
