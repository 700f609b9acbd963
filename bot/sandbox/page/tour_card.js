// The tour's card: which step, what it says, and a button that does it for one.

import { h } from "./dom.js";

const count = h("p", { class: "quiet" });
const title = h("h2", {});
const text = h("p", {});
const doing = h("button", { type: "button", class: "button primary" });
const close = h("button", { type: "button", class: "icon", "aria-label": "Close the tour", title: "Close the tour" }, "✕");
const card = h("aside", { class: "tour", "aria-label": "Guided tour", hidden: true },
  h("div", { class: "tour-head" }, count, close),
  h("div", { class: "tour-words", role: "status" }, title, text), doing);
const opener = h("button", { type: "button", class: "icon", title: "The guided tour" }, "Tour");

// `place`: where the button stands that opens it again.
export function placeCard(place, { help, dismiss, open }) {
  doing.addEventListener("click", help);
  close.addEventListener("click", dismiss);
  opener.addEventListener("click", () => (card.hidden ? open() : dismiss()));
  place.append(opener);
  window.addEventListener("resize", stand);
}

// `step`: null hides it. `isHelped`: there is nothing left to do for one.
export function drawCard(step, number, last, isHelped) {
  if (!step && card.contains(document.activeElement)) opener.focus();
  card.hidden = step === null;
  opener.setAttribute("aria-expanded", String(!card.hidden));
  if (step === null) return;
  stand();
  doing.hidden = isHelped;
  if (card.dataset.step === String(number)) return;
  card.dataset.step = number;
  count.textContent = number < last ? `Step ${number + 1} of ${last}` : "That was it";
  title.textContent = step.title;
  text.replaceChildren(...step.text.split("`").map((part, n) => (n % 2 ? h("code", {}, part) : part)));
  doing.textContent = step.help?.label ?? "Done";
}

// On a narrow screen the thread covers the channel: the card stands in what is seen.
function stand() {
  const main = document.getElementById("main");
  const home = getComputedStyle(main).display === "none" ? document.getElementById("thread") : main;
  if (card.parentElement === home) return;
  const focused = card.contains(document.activeElement) ? document.activeElement : null;
  home.querySelector("header").after(card);
  focused?.focus();
}
