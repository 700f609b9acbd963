// A small question to the person: some words, or whether they mean it.

import { h } from "./dom.js";

// The words, or null if they'd rather not. Enter sends, Shift+Enter is a new line, Escape closes.
export function ask(title, value, button) {
  const area = h("textarea", { rows: "2", "aria-label": title, value });
  return shown(title, [area], button, () => area.value.trim() || null, area);
}

export function sure(title, button) {
  return shown(title, [], button, () => true, null);
}

function shown(title, body, button, answer, first) {
  const dialog = document.getElementById("ask");
  return new Promise((resolve) => {
    const form = h("form", { method: "dialog" },
      h("header", {}, h("h2", { id: "ask-title" }, title)),
      h("div", { class: "modal-body field" }, body),
      h("footer", {},
        h("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Cancel"),
        h("button", { type: "submit", class: "button primary", value: "yes" }, button)));
    form.addEventListener("keydown", (event) => {
      if (event.target !== first || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit(form.querySelector(".primary"));
    });
    dialog.replaceChildren(form);
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? answer() : null), { once: true });
    dialog.showModal();
    first?.select();
  });
}
