// Keeping up with the sandbox: asked again as soon as it has answered, for as long as the page is open.

import { know, lookAs } from "./names.js";
import { forget, sight, take } from "./sight.js";
import { where } from "./where.js";

const PAUSE = 1000;
let known = null;
let isLost = false;
let polling = new AbortController();

// `changed()` is called after each change, `lost(is)` with whether the sandbox is out of reach, and
// `known()` once it is known who there is.
export async function follow(told) {
  for (;;) {
    try {
      if (known === null) await look("", told);
      const next = await ask();
      if (next.workspace !== known) await look(next.workspace, told);
      isLost = false;
      told.lost(false);
      if (next.asked !== where.as) continue;
      lookAs(where.as);
      take(next, where.as);
      told.changed();
    } catch (error) {
      if (error.name === "AbortError") continue;
      if (!(error instanceof TypeError && /fetch|network/i.test(error.message)) && !(error instanceof SyntaxError)) console.error(error);
      isLost = true;
      told.lost(true);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

async function ask() {
  const asked = where.as;
  // After a failure it is to answer at once, and not only when something changes.
  const since = isLost ? Math.max(0, sight.version - 1) : sight.version;
  const query = new URLSearchParams({ as: asked, since, boot: sight.as === asked ? sight.boot : "" });
  const response = await fetch(`/sandbox/state?${query}`, { signal: polling.signal });
  return { ...(await response.json()), asked };
}

// Who and what there is: people join, leave and open conversations, but seldom.
async function look(version, told) {
  know(await (await fetch("/sandbox/workspace")).json());
  known = version;
  told.known();
}

// Somebody else looks now: nothing of the one may be seen by the other.
export function anew() {
  forget();
  lookAs(where.as);
  polling.abort();
  polling = new AbortController();
}
