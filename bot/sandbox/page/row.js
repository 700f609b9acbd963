// One row of the inspector: when, what, about what, and what came of it.

import { h } from "./dom.js";
import { now } from "./feed.js";
import { zone } from "./names.js";

export const LATE_MS = 3000;
const ARROWS = { call: "←", event: "→", interaction: "→", violation: "⚠", fault: "⚡", again: "↻", connection: "·" };
const TOLD = { call: "call of the app", event: "event to the app", interaction: "interaction, to the app", violation: "broken rule", fault: "fault", again: "sent again", connection: "connection" };

export function drawRow(row, here, look) {
  const [result, tone] = resultOf(row);
  const label = [TOLD[row.group], row.name, row.sense, result, ...row.marks].filter(Boolean).join(", ");
  return h("li", { "data-seq": row.seq, "data-group": row.group }, h("button", {
    type: "button", class: `row ${tone && `is-${tone}`}${here ? " here" : ""}`, tabindex: "-1", "aria-label": label, onclick: () => look(row.seq),
  },
    h("time", {}, clock(row.at)),
    h("span", { class: "arrow", "aria-hidden": "true" }, ARROWS[row.group]),
    h("span", { class: "name" }, row.name, row.retry_attempt > 0 && h("span", { class: "mark" }, `retry ${row.retry_attempt}`),
      row.marks.map((one) => h("span", { class: "mark bad" }, `⚠ ${one}`))),
    h("span", { class: "sense" }, row.sense),
    h("span", { class: "result" }, result)));
}

export function isWaiting(row) {
  return (row.group === "event" || row.group === "interaction") && !row.acknowledged;
}

// What came of it, and how it looks.
function resultOf(row) {
  if (row.group === "violation" || row.group === "fault") return ["", row.group];
  if (row.group === "call") {
    if (row.problem) return [row.took_ms === undefined ? row.problem : `${row.problem} · ${length(row.took_ms)}`, "bad"];
    return row.took_ms === undefined ? ["…", "open"] : [length(row.took_ms), ""];
  }
  if (!isWaiting(row)) {
    if (!row.acknowledged) return ["", "faint"];
    return row.acknowledged.ms > LATE_MS ? [`late: ${length(row.acknowledged.ms)}`, "bad"] : [`acknowledged ${length(row.acknowledged.ms)}`, ""];
  }
  return (now() - row.at) * 1000 > LATE_MS ? ["not acknowledged", "bad"] : ["…", "open"];
}

export function isWrong(row) {
  return row.marks.length > 0 || row.group === "violation" || row.group === "fault" || resultOf(row)[1] === "bad";
}

export const words = (row) => `${row.name} ${row.sense} ${resultOf(row)[0]} ${row.marks.join(" ")} #${row.seq}`.toLowerCase();

export const length = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

export function clock(at) {
  const moment = new Date(at * 1000);
  return `${moment.toLocaleTimeString([], { hour12: false, timeZone: zone() })}.${String(moment.getMilliseconds()).padStart(3, "0")}`;
}
