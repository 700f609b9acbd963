// The blocks that came with agents: tasks, plans, alerts, cards.

import { drawElement } from "./elements.js";
import { h } from "./dom.js";
import { withEmoji } from "./emoji.js";
import { drawImage } from "./images.js";
import { link, textOf } from "./mrkdwn.js";
import { richText } from "./rich.js";

const STATES = { pending: ["○", "not begun"], in_progress: ["◌", "in progress"], complete: ["✓", "done"], error: ["✗", "failed"] };

export function drawTask(block) {
  const state = block.status ?? "pending";
  const [sign, word] = STATES[state];
  const head = [
    h("span", { class: "state", role: "img", "aria-label": word, title: word }, sign),
    h("span", { class: "name" }, withEmoji(block.title)),
  ];
  const inside = [block.details, block.output].filter(Boolean).map((more) => h("div", { class: "b-rich" }, richText(more)));
  const sources = block.sources?.length && h("p", { class: "sources" }, block.sources.map((source) => link(source.url, source.text)));
  const is = { class: "task-card", "data-state": state };
  if (!inside.length && !sources) return h("div", is, h("div", { class: "head" }, head));
  return h("details", { ...is, open: true, "data-key": `task ${block.task_id}` },
    h("summary", { class: "head" }, head), h("div", { class: "inside" }, inside, sources));
}

export function drawPlan(block) {
  const tasks = block.tasks ?? [];
  const done = tasks.filter((task) => task.status === "complete").length;
  return h("details", { class: "plan", open: true, "data-key": `plan ${block.block_id}` },
    h("summary", {}, withEmoji(block.title), tasks.length > 0 && h("span", { class: "quiet" }, ` ${done} of ${tasks.length}`)),
    tasks.map(drawTask));
}

const LEVELS = { default: "", info: "ℹ️ ", warning: "⚠️ ", error: "⛔ ", success: "✅ " };

export function drawAlert(block) {
  const level = block.level ?? "default";
  return h("div", { class: "alert", "data-level": level, role: "note" }, h("span", { "aria-hidden": "true" }, LEVELS[level]), textOf(block.text));
}

export function drawCard(block, spot) {
  return h("section", { class: "card" },
    block.hero_image && drawImage(block.hero_image, "hero"),
    h("div", { class: "inside" },
      h("div", { class: "head" },
        block.icon && drawImage(block.icon, "b-icon"),
        h("div", {},
          block.title && h("h4", {}, textOf(block.title)),
          block.subtitle && h("p", { class: "quiet" }, textOf(block.subtitle)))),
      block.body && h("p", { class: "b-text" }, textOf(block.body)),
      block.actions && h("div", { class: "b-actions" }, block.actions.map((one) => drawElement(one, spot, block.block_id)))));
}
