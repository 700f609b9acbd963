// One entry of the record in full: its payload, what came of it, and whether it is sent again.

import { asked } from "./asked.js";
import { toast } from "./doing.js";
import { h } from "./dom.js";
import { zone } from "./names.js";
import { LATE_MS, clock, length } from "./row.js";
import { go, setAddress } from "./where.js";

// Draws it into `pane`, with what its row tells; null where another was asked for meanwhile. `ways`: to
// `leave()` it, and to `look(seq)` at another. Of what is returned, `changed(row)` draws a newer row.
export async function drawEntry(pane, seq, rowOf, ways) {
  setAddress({ entry: seq });
  pane.dataset.seq = seq;
  const fetched = await look(seq);
  if (pane.dataset.seq !== String(seq)) return null;
  const close = () => {
    pane.hidden = true;
    pane.dataset.seq = "";
    pane.replaceChildren();
    setAddress({ entry: null });
  };
  const row = rowOf();
  await draw(pane, seq, row, ways, fetched);
  pane.scrollTop = 0;
  return { seq, row, close, changed: (newer) => draw(pane, seq, newer, ways) };
}

async function look(seq) {
  const found = await asked("GET", `/sandbox/calls/${seq}`);
  return found.entry ? found : { gone: found.error };
}

async function draw(pane, seq, row, ways, fetched) {
  const found = fetched ?? await look(seq);
  const acknowledged = row?.acknowledged ? await look(row.acknowledged.seq) : null;
  if (pane.dataset.seq !== String(seq)) return;
  const focused = pane.contains(document.activeElement) ? document.activeElement.dataset.what : null;
  const outcome = pane.querySelector(".outcome") ?? h("div", { class: "outcome" });
  if (outcome.dataset.seq !== String(seq)) outcome.replaceChildren();
  outcome.dataset.seq = seq;
  pane.hidden = false;
  const read = pane.scrollTop;
  pane.replaceChildren(
    h("header", {},
      h("button", { type: "button", class: "icon", "data-what": "back", "aria-label": "Close the entry", title: "Close (Esc)", onclick: ways.leave }, "✕"),
      h("h2", {}, `#${seq} ${row?.name ?? ""}`)),
    ...(found.gone ? [h("p", { class: "entry-gone" }, found.gone)] : [
      row && h("p", { class: "entry-sense" }, row.sense),
      facts(found.entry, row),
      deeds(found, row, outcome, ways),
      outcome,
      payloads(found.entry, acknowledged?.entry).map(([name, value]) => payload(name, value)),
    ].filter(Boolean).flat()));
  pane.scrollTop = read;
  if (focused) pane.querySelector(`[data-what="${focused}"]`)?.focus();
}

function facts(entry, row) {
  const told = [
    ["when", `${new Date(entry.at * 1000).toLocaleDateString([], { timeZone: zone() })} ${clock(entry.at)}`],
    entry.took_ms !== undefined && ["answered", `after ${length(entry.took_ms)}${entry.status ? `, HTTP ${entry.status}` : ""}`],
    row?.problem && ["went wrong", row.problem],
    row?.acknowledged && ["acknowledged", `after ${length(row.acknowledged.ms)}${row.acknowledged.ms > LATE_MS ? ", which is late: Slack waits three seconds" : ""}`],
    entry.kind === "delivery" && !row?.acknowledged && ["acknowledged", "not yet"],
    entry.retry_attempt > 0 && ["retry", `number ${entry.retry_attempt}`],
    row?.marks?.length > 0 && ["broke a rule", row.marks.join(", ")],
    entry.connection && ["over", entry.connection],
  ].filter(Boolean);
  return h("dl", { class: "facts" }, told.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function deeds(found, row, outcome, ways) {
  const event = found.entry.type === "events_api";
  const again = (label, more) => h("button", {
    type: "button", class: "button", "data-what": label, title: found.why_not_again ?? "", disabled: Boolean(found.why_not_again),
    onclick: () => sendAgain({ seq: found.entry.seq, ...more }, outcome, ways),
  }, label);
  const sendable = found.entry.kind === "call" || found.entry.kind === "delivery";
  return h("div", { class: "deeds" },
    sendable && again(found.entry.kind === "call" ? "Call again" : "Send again", {}),
    event && again("Send as Slack’s retry", { as_retry: true }),
    row?.channel && row?.ts && h("button", { type: "button", class: "button", "data-what": "go", onclick: () => jump(row) }, "Go to the message"),
    sendable && found.why_not_again && h("p", { class: "quiet" }, found.why_not_again));
}

async function sendAgain(what, outcome, ways) {
  const told = h("p", { role: "status" }, "…");
  outcome.replaceChildren(told);
  const answer = await asked("POST", "/sandbox/again", what);
  told.classList.toggle("error", !isFine(answer));
  told.textContent = said(answer);
  if (answer.seq) outcome.append(h("button", { type: "button", class: "chip", onclick: () => ways.look(answer.seq) }, `Look at it: #${answer.seq}`));
  outcome.append(...answered(answer));
}

const isFine = (answer) => answer.ok && answer.acknowledged !== false && !answer.lost && answer.answer?.ok !== false;

function said(answer) {
  if (!answer.ok) return answer.error;
  if (answer.lost) return "It was done, and its answer was lost.";
  if (answer.status) return answer.answer?.ok === false ? `Called: ${answer.answer.error}` : `Called: HTTP ${answer.status}`;
  if (answer.acknowledged) return `Sent, and acknowledged after ${length(answer.elapsed_ms)}.`;
  return `Sent, and not acknowledged: ${answer.why}.`;
}

function answered(answer) {
  const body = answer.answer ?? answer.response;
  return body === undefined ? [] : [payload("What it answered", body)];
}

function jump(row) {
  const thread = row.thread_ts && row.thread_ts !== row.ts ? row.thread_ts : null;
  go({ channel: row.channel, thread });
  seek(row.ts, 20);
}

// It may be drawn only after the next answer of the sandbox.
function seek(ts, times) {
  const message = document.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
  if (!message) {
    if (times > 0) setTimeout(seek, 50, ts, times - 1);
    else toast("That message is not here any more, or nothing that you see.");
    return;
  }
  message.scrollIntoView({ block: "center" });
  message.classList.add("found");
  setTimeout(() => message.classList.remove("found"), 2000);
}

// ---- payloads ----

function payloads(entry, acknowledgement) {
  if (entry.kind === "call") {
    return [["Arguments", entry.arguments ?? { file: entry.file }], entry.answer !== undefined && ["Answer", entry.answer]].filter(Boolean);
  }
  if (entry.kind === "delivery") {
    const body = acknowledgement?.body;
    return [body && Object.keys(body).length > 0 && ["Acknowledgement", body], ["Payload", entry.payload]].filter(Boolean);
  }
  const { seq: _, at: __, kind: ___, ...rest } = entry;
  return [["Facts", rest]];
}

function payload(name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, unshown, 2);
  const copy = h("button", { type: "button", class: "chip", "data-what": `copy ${name}`, "aria-label": `Copy: ${name}`, onclick: () => copied(text, copy) }, "Copy");
  return h("section", { class: "payload" }, h("header", {}, h("h3", {}, name), copy), h("pre", { tabindex: "0", "aria-label": name }, text));
}

const unshown = (key, value) => (key === "token" && typeof value === "string" ? "•••" : value);

async function copied(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "This browser copies only by hand";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}
