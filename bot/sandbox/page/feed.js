// What passed between Slack and the app, as the sandbox tells it: followed while anybody listens.

const MOST = 2000;
const PAUSE_MS = 150;

export const feed = { boot: "", rows: new Map(), oldest: 0, violations: 0, ahead: 0, forgot: false };

const listeners = new Set();
const byEnvelope = new Map();
let change = 0;
let following = null;

// `listen` is called with the rows that came or changed. Returns how to stop.
export function follow(listen) {
  listeners.add(listen);
  if (feed.rows.size > 0) listen([...feed.rows.values()]);
  if (!following) {
    following = new AbortController();
    keepUp(following.signal);
  }
  return () => {
    listeners.delete(listen);
    if (listeners.size > 0) return;
    following?.abort();
    following = null;
  };
}

// By the sandbox's clock, in seconds.
export const now = () => Date.now() / 1000 + feed.ahead;

async function keepUp(signal) {
  while (!signal.aborted) {
    try {
      const response = await fetch(`/sandbox/inspector?${new URLSearchParams({ since: change, boot: feed.boot })}`, { signal });
      const changed = take(await response.json());
      for (const listen of [...listeners]) listen(changed);
      await pause(PAUSE_MS);
    } catch (error) {
      if (error.name === "AbortError") return;
      await pause(1000);
    }
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function take(told) {
  if (told.boot !== feed.boot) {
    feed.rows.clear();
    byEnvelope.clear();
    feed.forgot = false;
  }
  feed.boot = told.boot;
  change = told.change;
  feed.oldest = told.oldest;
  feed.violations = told.violations;
  feed.ahead = told.now - Date.now() / 1000;
  const changed = new Map();
  for (const row of told.rows) for (const one of put(row)) changed.set(one.seq, one);
  for (const seq of feed.rows.keys()) {
    if (feed.rows.size <= MOST) break;
    feed.rows.delete(seq);
    feed.forgot = true;
  }
  return [...changed.values()];
}

// The row, and those that it says more of: an acknowledgement is told with its delivery.
function put(row) {
  if (row.group === "acknowledgement") return acknowledge(row);
  const before = feed.rows.get(row.seq);
  const now_ = { ...row, marks: before?.marks ?? [], acknowledged: before?.acknowledged };
  feed.rows.set(row.seq, now_);
  if (row.envelope_id) byEnvelope.set(row.envelope_id, row.seq);
  return row.group === "violation" && !before ? [now_, ...blame(now_)] : [now_];
}

function acknowledge({ envelope_id, seq, at, sense, ignored }) {
  const delivery = feed.rows.get(byEnvelope.get(envelope_id));
  if (!delivery || ignored) return [];
  return [replaced(delivery, { acknowledged: { seq, ms: Math.max(0, Math.round((at - delivery.at) * 1000)), sense } })];
}

// Which call or delivery broke the rule, where the words of the violation tell.
function blame(violation) {
  const all = [...feed.rows.values()].reverse();
  const one = all.find((row) => row.seq < violation.seq && row.marks && row.group !== "violation"
    && (violation.sense.startsWith(`${row.name}:`) || (row.event_id && violation.sense.includes(row.event_id))));
  return one ? [replaced(one, { marks: [...one.marks, violation.name] })] : [];
}

function replaced(row, more) {
  const fresh = { ...row, ...more };
  feed.rows.set(row.seq, fresh);
  return fresh;
}
