// What the sandbox doesn't draw says so, so that nobody thinks that Slack wouldn't either.

import { h } from "./dom.js";

export const notDrawn = (type) => h("span", { class: "not-drawn" }, `not drawn here: ${type}`);
