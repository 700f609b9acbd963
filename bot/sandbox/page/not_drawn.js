// What the sandbox doesn't draw says so, so that nobody thinks that Slack wouldn't either.

import { h } from "./dom.js";

export const notDrawn = (type) => h("span", { class: "not-drawn" }, `not drawn here: ${type}`);

// Also where what an app sent can't be drawn, which nobody foresaw: all else on the page is.
export function drawnOrNot(type, draw) {
  try {
    return draw() ?? h("p", {}, notDrawn(type));
  } catch (error) {
    console.error(error);
    return h("p", {}, notDrawn(type));
  }
}
