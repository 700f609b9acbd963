// Modals: drawn once a version, so that what somebody is typing stays.

import { drawBlocks, notDrawn } from "./blocks.js";
import { h } from "./dom.js";
import { textOf, userName } from "./mrkdwn.js";

const dialog = document.getElementById("modal");
let shown = null;

// Show the topmost view, or none. `act(do, fields)` returns the sandbox's answer.
export function showViews(views, users, act) {
  const view = views.at(-1);
  if (!view) {
    shown = null;
    if (dialog.open) dialog.close();
    return;
  }
  if (shown?.hash !== view.hash || shown?.id !== view.id) draw(view, users, act);
  showErrors(view.errors);
  if (!dialog.open) dialog.showModal();
}

function draw(view, users, act) {
  const typed = shown?.id === view.id ? read() : new Map();
  shown = view;
  const clicked = (element, selected, block_id) =>
    act("click", { view_id: view.id, action_id: element.action_id, block_id, selected, values: Object.fromEntries(read()) });
  const form = h("form", { novalidate: true, onsubmit: (event) => submit(event, view, act) },
    h("header", {}, h("h2", { id: "modal-title" }, textOf(view.title)),
      h("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => close(view, act) }, "✕")),
    h("div", { class: "modal-body" },
      view.blocks.map((block) => block.type === "input"
        ? drawInput(block, users, typed)
        : drawBlocks([block], clicked))),
    h("footer", {},
      h("span", { class: "modal-state quiet", role: "status" }),
      h("button", { type: "button", class: "button", onclick: () => close(view, act) },
        view.close ? textOf(view.close) : "Cancel"),
      view.submit && h("button", { type: "submit", class: "button primary" }, textOf(view.submit))));
  dialog.replaceChildren(form);
}

const INPUTS = {
  plain_text_input: (element) => element.multiline
    ? h("textarea", { rows: 4, value: element.initial_value ?? "" })
    : h("input", { type: "text", value: element.initial_value ?? "" }),
  number_input: (element) => h("input", { type: "text", value: element.initial_value ?? "",
    inputmode: element.is_decimal_allowed ? "decimal" : "numeric" }),
  email_text_input: (element) => h("input", { type: "email", value: element.initial_value ?? "" }),
  url_text_input: (element) => h("input", { type: "url", value: element.initial_value ?? "" }),
  datepicker: (element) => h("input", { type: "date", value: element.initial_date ?? "" }),
  datetimepicker: (element) => h("input", { type: "datetime-local", step: 1, value: local(element.initial_date_time) }),
  timepicker: (element) => h("input", { type: "time", value: element.initial_time ?? "" }),
  static_select: (element) => select(element.options ?? element.option_groups.flatMap((one) => one.options),
    element.initial_option?.value),
  users_select: (element, users) => select(
    users.map((user) => ({ value: user.id, text: { type: "plain_text", text: userName(user.id) } })), element.initial_user),
};

const TICKED = ["checkboxes", "multi_static_select"];

// Seconds since 1970 as an input of the reader's own clock has them, and back.
function local(seconds) {
  if (!seconds) return "";
  const at = new Date(seconds * 1000);
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

const secondsOf = (text) => Math.floor(new Date(text).getTime() / 1000);

function select(options, chosen) {
  return h("select", {}, h("option", { value: "" }, "Choose …"), options.map((option) =>
    h("option", { value: option.value, selected: option.value === chosen }, textOf(option.text))));
}

function drawInput(block, users, typed) {
  const element = block.element;
  const id = `input-${block.block_id}`;
  const frame = (control) => h("div", { class: "field", "data-block": block.block_id, "data-kind": element.type },
    control,
    block.hint && h("p", { class: "quiet hint", id: `${id}-hint` }, textOf(block.hint)),
    h("p", { class: "error", id: `${id}-error`, hidden: true }));
  const optional = block.optional && h("span", { class: "quiet" }, " (optional)");
  if (TICKED.includes(element.type) || element.type === "radio_buttons") {
    return frame(h("fieldset", {}, h("legend", {}, textOf(block.label), optional), boxes(element, id, typed.get(block.block_id))));
  }
  const make = INPUTS[element.type];
  if (!make) return frame(notDrawn(`Input “${element.type}”`));
  const control = make(element, users);
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-error ${id}-hint`);
  if (element.placeholder) control.setAttribute("placeholder", element.placeholder.text);
  if (element.focus_on_load) control.setAttribute("autofocus", "");
  const kept = typed.get(block.block_id);
  if (kept !== undefined && kept !== null) control.value = element.type === "datetimepicker" ? local(kept) : kept;
  return frame([h("label", { for: id }, textOf(block.label), optional), control]);
}

// Of one name are those of which one is chosen: an action id is one only within its block.
function boxes(element, name, kept) {
  const type = TICKED.includes(element.type) ? "checkbox" : "radio";
  const options = element.options ?? element.option_groups.flatMap((one) => one.options);
  const initial = (element.initial_options ?? [element.initial_option]).filter(Boolean).map((one) => one.value);
  const chosen = kept === undefined ? initial : [kept].flat();
  return options.map((option) => h("label", { class: "choice" },
    h("input", { type, name, value: option.value, checked: chosen.includes(option.value) }),
    h("span", {}, textOf(option.text), option.description && h("small", {}, textOf(option.description)))));
}

// Block id → value, of each input on the screen.
function read() {
  const values = new Map();
  for (const field of dialog.querySelectorAll(".field")) {
    const checked = [...field.querySelectorAll("input:checked")].map((one) => one.value);
    if (TICKED.includes(field.dataset.kind)) values.set(field.dataset.block, checked);
    else if (field.dataset.kind === "radio_buttons") values.set(field.dataset.block, checked[0] ?? null);
    else {
      const control = field.querySelector("input, textarea, select");
      const valueOf = field.dataset.kind === "datetimepicker" ? secondsOf : (text) => text;
      if (control) values.set(field.dataset.block, control.value === "" ? null : valueOf(control.value));
    }
  }
  return values;
}

async function submit(event, view, act) {
  event.preventDefault();
  const button = dialog.querySelector("button[type=submit]");
  button.disabled = true;
  say("");
  const answer = await act("submit", { view_id: view.id, values: Object.fromEntries(read()) });
  button.disabled = false;
  if (answer.ok && !answer.acknowledged && !answer.errors) {
    say("We had some trouble connecting. Try again?");
  }
}

function close(view, act) {
  act("close", { view_id: view.id });
}

function say(text) {
  dialog.querySelector(".modal-state").textContent = text;
}

function showErrors(errors) {
  let first = null;
  for (const field of dialog.querySelectorAll(".field")) {
    const error = errors[field.dataset.block];
    const place = field.querySelector(".error");
    place.hidden = !error;
    if (place.textContent === (error ?? "")) continue;
    place.textContent = error ?? "";
    const control = field.querySelector("input, textarea, select");
    control?.setAttribute("aria-invalid", error ? "true" : "false");
    if (error) first ??= control;
  }
  first?.focus();
}

dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  dialog.querySelector("header .icon")?.click();
});
