// A small question to the person: some words, or whether they mean it.

import { again } from "./carry.js";
import { h } from "./dom.js";
import { textOf } from "./mrkdwn.js";

// The words, or null if they'd rather not. Enter sends, Shift+Enter is a new line, Escape closes.
export function ask(title, value, button) {
  const area = h("textarea", { rows: "2", "aria-label": title, value });
  return shown(title, h("div", { class: "modal-body field" }, area), { confirm: button }, () => area.value.trim() || null, area);
}

export function sure(title, button) {
  return shown(title, null, { confirm: button, style: "danger" }, () => true, null);
}

// Go on, or first ask where the element says so.
export async function confirmed(element, go) {
  if (!element.confirm) return go();
  const { title, text, confirm, deny, style } = element.confirm;
  const words = h("div", { class: "modal-body b-text", id: "ask-words" }, textOf(text));
  const buttons = { confirm: textOf(confirm), deny: textOf(deny), style };
  if (await shown(textOf(title), words, buttons, () => true, null)) go();
}

function shown(title, body, { confirm, deny = "Cancel", style = "primary" }, answer, first) {
  const dialog = document.getElementById("ask");
  const back = again(document.activeElement);
  return new Promise((resolve) => {
    const form = h("form", { method: "dialog" },
      h("header", {}, h("h2", { id: "ask-title" }, title)),
      body,
      h("footer", {},
        h("button", { type: "button", class: "button", onclick: () => dialog.close() }, deny),
        h("button", { type: "submit", class: `button ${style}`, value: "yes" }, confirm)));
    form.addEventListener("keydown", (event) => {
      if (event.target !== first || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit(form.querySelector("[type=submit]"));
    });
    dialog.replaceChildren(form);
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      back()?.focus({ preventScroll: true });
      resolve(dialog.returnValue === "yes" ? answer() : null);
    }, { once: true });
    dialog.showModal();
    first?.select();
  });
}
