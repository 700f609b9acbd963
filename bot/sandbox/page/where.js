// Who looks, at which channel and thread. Kept in the address, so that a tab is a person.

export const HOME = "home";
export const where = { as: "U0ALICE", channel: "C0SUPPORT", thread: null };

// Called after each move, by whoever draws. `byHand`: somebody went there, rather than began there.
export const moved = { then: () => {}, byHand: false };

export function readAddress() {
  const link = location.pathname.match(/^\/archives\/(\w+)\/p(\d+)(\d{6})$/);
  if (link) {
    const thread = new URLSearchParams(location.search).get("thread_ts") ?? `${link[2]}.${link[3]}`;
    history.replaceState(null, "", `/#channel=${link[1]}&thread=${thread}`);
  }
  const given = new URLSearchParams(location.hash.slice(1));
  where.as = given.get("as") ?? sessionStorage.getItem("as") ?? "U0ALICE";
  where.channel = given.get("channel") ?? "C0SUPPORT";
  where.thread = given.get("thread");
  sessionStorage.setItem("as", where.as);
}

export function go(change) {
  Object.assign(where, change);
  history.pushState(null, "", changed({ as: where.as, channel: where.channel, thread: where.thread }));
  readAddress();
  moved.byHand = true;
  moved.then();
}

// What else the address keeps, by name; null: no more.
export function setAddress(change) {
  history.replaceState(null, "", changed(change));
}

function changed(change) {
  const address = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) address.delete(name);
    else address.set(name, value);
  }
  return `/#${address}`;
}
