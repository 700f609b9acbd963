// Modals: drawn once a version, so that what somebody is typing stays; the topmost is seen.

import { drawBlocks } from "./blocks.js";
import { again, carry } from "./carry.js";
import { h } from "./dom.js";
import { read, showErrors } from "./inputs.js";
import { textOf } from "./mrkdwn.js";

const dialog = document.getElementById("modal");
let shown = null;
let back = null;
// By view id, what was filled in: one comes back to it from a view above.
const kept = new Map();

// Show the topmost view, or none. `act(do, fields)` returns the sandbox's answer.
export function showViews(views, act) {
  const view = views.at(-1);
  if (!view) return hide();
  if (shown?.hash !== view.hash || shown?.id !== view.id) draw(view, views.length, act);
  if (!dialog.open) {
    back = again(document.activeElement);
    dialog.showModal();
  }
  showErrors(dialog, view.errors);
}

function hide() {
  shown = null;
  kept.clear();
  if (!dialog.open) return;
  dialog.close();
  // The browser gives the focus back itself, unless what had it was drawn again.
  back?.()?.focus({ preventScroll: true });
}

function draw(view, depth, act) {
  if (shown) kept.set(shown.id, read(dialog));
  const before = shown?.id === view.id ? dialog.firstElementChild : null;
  shown = view;
  const values = () => Object.fromEntries(read(dialog));
  const spot = {
    kept: kept.get(view.id),
    click: (element, selected, block_id) =>
      act("click", { view_id: view.id, action_id: element.action_id, block_id, selected, values: values() }),
    suggest: (element, value, block_id) =>
      act("options", { view_id: view.id, action_id: element.action_id, block_id, value, values: values() }),
  };
  const form = h("form", { novalidate: true, tabindex: "-1", onsubmit: (event) => submit(event, view, act) },
    h("header", {}, h("h2", { id: "modal-title" }, textOf(view.title)),
      h("button", { type: "button", class: "icon", "aria-label": "Close", "data-key": "close all",
        onclick: () => act("close", { view_id: view.id, all: true }) }, "✕")),
    h("div", { class: "modal-body" }, drawBlocks(view.blocks, spot)),
    h("footer", {},
      h("span", { class: "modal-state quiet", role: "status" }),
      h("button", { type: "button", class: "button", "data-key": "close one", onclick: () => act("close", { view_id: view.id }) },
        view.close ? textOf(view.close) : depth > 1 ? "Back" : "Cancel"),
      view.submit && h("button", { type: "submit", class: "button primary", "data-key": "submit",
        disabled: view.submit_disabled }, textOf(view.submit))));
  dialog.append(form);
  if (before) carry(before, form);
  for (const old of [...dialog.children]) if (old !== form) old.remove();
  if (!dialog.open || form.contains(document.activeElement)) return;
  const first = form.querySelector("[autofocus]") ?? form.querySelector(".modal-body :is(input, select, textarea, button)") ?? form;
  first.focus();
}

async function submit(event, view, act) {
  event.preventDefault();
  const button = dialog.querySelector("button[type=submit]");
  if (!button || button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  say("");
  const answer = await act("submit", { view_id: view.id, values: Object.fromEntries(read(dialog)) });
  button.removeAttribute("aria-busy");
  if (shown?.id !== view.id || answer.errors || answer.acknowledged) return;
  say("We had some trouble connecting. Try again?");
}

function say(text) {
  dialog.querySelector(".modal-state").textContent = text;
}

// Escape closes what is seen, and nothing below it.
dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  dialog.querySelector("[data-key='close one']")?.click();
});
