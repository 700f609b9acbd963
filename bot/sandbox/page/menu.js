// A button that opens a menu above everything else. By keyboard: arrows, Home, End, Escape.

import { again } from "./carry.js";
import { h } from "./dom.js";

let open = null;

// `items()` gives what it holds: buttons made by `item`, or anything else that can be focused.
export function menuButton(attributes, label, items) {
  const button = h("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", ...attributes }, label);
  button.addEventListener("click", () => (open?.button === button ? close(true) : show(button, items())));
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    event.stopPropagation();
    if (open?.button !== button) show(button, items());
  });
  return button;
}

export function item(label, does, more = {}) {
  return h("button", { type: "button", role: "menuitem", tabindex: "-1", ...more, onclick: () => { close(true); does(); } }, label);
}

function show(button, items) {
  close(false);
  const menu = h("div", { class: "menu-list", role: "menu", popover: "manual", "aria-label": button.getAttribute("aria-label") ?? button.textContent }, items);
  // Behind an open dialog nothing can be reached: so inside of it.
  (button.closest("dialog") ?? document.body).append(menu);
  menu.showPopover();
  put(menu, button);
  menu.addEventListener("keydown", steer);
  button.setAttribute("aria-expanded", "true");
  open = { button, menu, back: again(button) };
  choices(menu)[0]?.focus();
}

// Below its button where there is room, else above; never beyond the edge of a narrow screen.
function put(menu, button) {
  const box = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const edge = document.documentElement;
  const below = box.bottom + 4 + height < edge.clientHeight - 8;
  menu.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - 4 - height)}px`;
  menu.style.left = `${Math.max(8, Math.min(box.right - width, edge.clientWidth - width - 8))}px`;
}

const choices = (menu) => [...menu.querySelectorAll("[role=menuitem], input")];

function steer(event) {
  const all = choices(open.menu);
  const at = all.indexOf(document.activeElement);
  const across = open.menu.querySelector(".grid") && event.target.tagName !== "INPUT";
  const steps = { ArrowDown: across ? 8 : 1, ArrowUp: across ? -8 : -1, ...(across && { ArrowRight: 1, ArrowLeft: -1 }) };
  const to = { Home: 0, End: all.length - 1 }[event.key] ?? (event.key in steps ? (at + steps[event.key] + all.length) % all.length : null);
  event.stopPropagation();
  if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    close(true);
  } else if (to !== null && !(event.target.tagName === "INPUT" && ["Home", "End"].includes(event.key))) {
    event.preventDefault();
    all[to].focus();
  }
}

// Back to where it was opened, also where that was drawn again meanwhile.
function close(back) {
  if (!open) return;
  const { menu, back: found } = open;
  const button = found();
  open = null;
  menu.remove();
  if (button?.hasAttribute("aria-expanded")) button.setAttribute("aria-expanded", "false");
  if (back) button?.focus({ preventScroll: true });
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.menu.contains(event.target) && !open.button.contains(event.target)) close(false);
});
// What moves below it takes it along, as a new message does; out of sight it goes.
function follow() {
  const button = open?.back();
  const list = button?.closest(".messages, .modal-body")?.getBoundingClientRect();
  const box = button?.getBoundingClientRect();
  if (!box || (list && (box.bottom < list.top || box.top > list.bottom))) return close(false);
  return put(open.menu, button);
}

document.addEventListener("scroll", (event) => { if (open && !open.menu.contains(event.target)) follow(); }, true);
window.addEventListener("resize", () => open && follow());
