// The app hears that its Home, or what one writes to it, was opened: however one came there.

import { act } from "./doing.js";
import { placeOf } from "./names.js";
import { HOME, where } from "./where.js";

let here = null;

// `again`: also where it is open already.
export function visit({ again = false } = {}) {
  const before = here;
  here = `${where.as} ${where.channel}`;
  if (here === before && !again) return;
  if (where.channel === HOME) act("home", {});
  else if (placeOf(where.channel).kind === "im") act("home", { tab: "messages" }, { quietly: true });
}
