// An input block: its label, its control, a hint, and what is wrong with it.

import { CONTROLS, drawControl, isSet } from "./controls.js";
import { h } from "./dom.js";
import { textOf } from "./mrkdwn.js";
import { notDrawn } from "./not_drawn.js";

let inputs = 0;

// `spot.kept`: by block id, what somebody had filled in before it was drawn again.
export function drawInput(block, spot) {
  const element = block.element;
  const id = `input-${inputs += 1}`;
  const changed = block.dispatch_action && ((value) => spot.click(element, value, block.block_id));
  const made = CONTROLS[element.type] ? drawControl(element, {
    id, key: `${block.block_id} ${element.action_id}`, about: `${id}-error ${id}-hint`, required: !block.optional,
    kept: spot.kept?.get(block.block_id), changed, suggest: (typed) => spot.suggest(element, typed, block.block_id),
  }) : { node: notDrawn(`input ${element.type}`), read: null };
  const label = [textOf(block.label), block.optional && h("span", { class: "quiet" }, " (optional)")];
  const field = h("div", { class: "field", "data-block": block.block_id },
    isSet(element) ? h("fieldset", {}, h("legend", {}, label), made.node) : [h("label", { for: id }, label), made.node],
    h("p", { class: "quiet hint", id: `${id}-hint`, hidden: !block.hint }, textOf(block.hint)),
    h("p", { class: "error", id: `${id}-error`, hidden: true }));
  field.read = made.read;
  return field;
}

// By block id, the value of each input within.
export function read(root) {
  const fields = [...root.querySelectorAll(".field[data-block]")].filter((field) => field.read);
  return new Map(fields.map((field) => [field.dataset.block, field.read()]));
}

// Say what is wrong, by block id, and go to the first that is.
export function showErrors(root, errors) {
  let first = null;
  for (const field of root.querySelectorAll(".field[data-block]")) {
    const error = errors[field.dataset.block];
    const place = field.querySelector(".error");
    place.hidden = !error;
    if (place.textContent === (error ?? "")) continue;
    place.textContent = error ?? "";
    const controls = field.querySelectorAll("input, textarea, select");
    for (const control of controls) control.setAttribute("aria-invalid", error ? "true" : "false");
    if (error) first ??= controls[0];
  }
  first?.focus();
}
