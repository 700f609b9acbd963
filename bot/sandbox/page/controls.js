// Controls that hold a value, in a form or by themselves. Each is drawn as `{ node, read }`:
// `read()` gives its value as `POST /sandbox/act` takes it.

import { fromLocal, toLocal } from "./dates.js";
import { h } from "./dom.js";
import { textOf, wordsOf } from "./mrkdwn.js";
import { picker } from "./picker.js";
import { groupsOf, isSeveral, valuesOf } from "./options.js";

// `kept`: the value that it had before; without, the app's own. `changed(value)` is called when a
// person has changed it; `id` and `about` tie it to its label and what stands below.
export function drawControl(element, given) {
  return CONTROLS[element.type](element, given);
}

function typed(type, initial, more = {}) {
  return (element, given) => {
    const value = given.kept === undefined ? element[initial] ?? "" : given.kept ?? "";
    const tag = element.multiline ? "textarea" : "input";
    const node = h(tag, { ...frame(element, given), type: element.multiline ? null : type, rows: element.multiline ? 4 : null,
      placeholder: element.placeholder && wordsOf(element.placeholder), value, ...(more.of?.(element)) });
    const read = () => (node.value === "" ? null : more.read?.(node.value) ?? node.value);
    if (more.shown) node.value = more.shown(value);
    tell(node, element, given, read);
    return { node, read };
  };
}

// What is picked tells at once; what is typed once it is entered, or at each letter.
function tell(node, element, given, read) {
  if (!given.changed) return;
  const { trigger_actions_on: when = ["on_enter_pressed"] } = element.dispatch_action_config ?? {};
  if (!element.type.endsWith("_input")) node.addEventListener("change", () => read() !== null && given.changed(read()));
  else {
    if (when.includes("on_character_entered")) node.addEventListener("input", () => given.changed(read() ?? ""));
    if (when.includes("on_enter_pressed")) node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || (element.multiline && !event.ctrlKey)) return;
      event.preventDefault();
      given.changed(read() ?? "");
    });
  }
}

function frame(element, given) {
  return {
    class: given.id ? null : "button", id: given.id, "data-key": given.key,
    "aria-describedby": given.about, "aria-required": given.required ? "true" : null,
    "aria-label": given.id ? null : wordsOf(element.placeholder) || "Choose",
    autofocus: element.focus_on_load && given.id ? true : null,
  };
}

function lines(block) {
  const texts = (one) => one.text ?? (one.elements ?? []).map(texts).join("");
  return block.elements.map(texts).join("\n");
}

function richInput(element, given) {
  const initial = element.initial_value ? lines(element.initial_value) : "";
  const node = h("textarea", { ...frame(element, given), rows: element.min_lines ?? 4, value: given.kept ?? initial,
    placeholder: element.placeholder && wordsOf(element.placeholder) });
  const read = () => (node.value === initial && element.initial_value ? element.initial_value : node.value || null);
  tell(node, element, given, read);
  return { node, read };
}

function select(element, given) {
  const chosen = (given.kept === undefined ? valuesOf(element)[0] : given.kept) ?? "";
  const option = (one) => h("option", { value: one.value, selected: one.value === chosen }, textOf(one.text),
    one.description && ` – ${wordsOf(one.description)}`);
  const groups = groupsOf(element);
  const node = h("select", frame(element, given),
    h("option", { value: "" }, element.placeholder ? textOf(element.placeholder) : "Choose an option"),
    groups.map((group) => (group.label ? h("optgroup", { label: wordsOf(group.label) }, group.options.map(option)) : group.options.map(option))));
  const read = () => node.value || null;
  if (given.changed) node.addEventListener("change", () => node.value && given.changed(node.value));
  return { node, read };
}

let sets = 0;

// Of one name are those of which one is chosen: an action id is one only within its block.
function boxes(type) {
  return (element, given) => {
    const name = `choices-${sets += 1}`;
    const chosen = given.kept === undefined ? valuesOf(element) : [given.kept].flat();
    const node = h("div", { class: "choices", role: type === "radio" ? "radiogroup" : "group", "aria-label": given.id ? null : "Choose" },
      element.options.map((option) => h("label", { class: "choice" },
        h("input", { type, name, value: option.value, checked: chosen.includes(option.value), "data-key": `${given.key} ${option.value}`,
          "aria-describedby": given.about, onchange: () => given.changed?.(read() ?? []) }),
        h("span", {}, textOf(option.text), option.description && h("small", {}, textOf(option.description))))));
    const read = () => {
      const ticked = [...node.querySelectorAll("input:checked")].map((one) => one.value);
      return type === "checkbox" ? ticked : ticked[0] ?? null;
    };
    return { node, read };
  };
}

const DATE_TIME = { read: fromLocal, shown: (value) => toLocal(value), of: () => ({ step: 1 }) };

export const CONTROLS = {
  plain_text_input: typed("text", "initial_value"),
  number_input: typed("text", "initial_value", { of: (element) => ({ inputmode: element.is_decimal_allowed ? "decimal" : "numeric" }) }),
  email_text_input: typed("email", "initial_value"),
  url_text_input: typed("url", "initial_value"),
  rich_text_input: richInput,
  datepicker: typed("date", "initial_date"),
  timepicker: typed("time", "initial_time", { of: (element) => ({ title: element.timezone }) }),
  datetimepicker: typed("datetime-local", "initial_date_time", DATE_TIME),
  checkboxes: boxes("checkbox"),
  radio_buttons: boxes("radio"),
  file_input: picker,
  external_select: picker,
  static_select: select,
  ...Object.fromEntries(["users", "conversations", "channels"].map((what) => [`${what}_select`, select])),
  ...Object.fromEntries(["static", "external", "users", "conversations", "channels"].map((what) => [`multi_${what}_select`, picker])),
};

// Several controls under one label.
export const isSet = (element) => ["checkboxes", "radio_buttons"].includes(element.type);
export { isSeveral };
