// Making elements. Data only ever becomes text nodes and attributes, never markup.

import { carry } from "./carry.js";

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Make the children of `parent` match `items`, each `{ key, of }`. An item that is `of` the same
// object as before keeps its element, so that a long channel costs only what changed in it.
export function reconcile(parent, items, draw) {
  const before = parent.drawn ?? new Map();
  const now = new Map();
  const wanted = new Set(items.map((item) => item.key));
  // First, lest all the others be moved past what goes.
  for (const [key, { element }] of before) if (!wanted.has(key)) take(element);
  let place = parent.firstChild;
  for (const item of items) {
    let drawn = before.get(item.key);
    if (!drawn || drawn.of !== item.of) {
      const element = draw(item.of);
      if (drawn) {
        if (place === drawn.element) place = element;
        drawn.element.after(element);
        carry(drawn.element, element);
        drawn.element.remove();
      }
      drawn = { of: item.of, element };
    }
    now.set(item.key, drawn);
    if (drawn.element === place) place = place.nextSibling;
    else parent.insertBefore(drawn.element, place);
  }
  parent.drawn = now;
}

// The focus goes to what stands beside it, not back to the top of the page.
function take(element) {
  if (element.contains(document.activeElement)) {
    const focusable = (one) => one?.hasAttribute("tabindex");
    const near = [element.nextElementSibling, element.previousElementSibling, element.parentElement].find(focusable);
    near?.focus({ preventScroll: true });
  }
  element.remove();
}

export function empty(parent) {
  parent.replaceChildren();
  parent.drawn = new Map();
}
