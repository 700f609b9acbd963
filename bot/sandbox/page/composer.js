// Where one writes: a message, a reply, or a slash command; with files beside it.

import { clip } from "./clip.js";
import { completing } from "./completing.js";
import { act, toast } from "./doing.js";
import { told } from "./sight.js";
import { edit } from "./tools.js";
import { where } from "./where.js";

// What was begun elsewhere, by place.
const drafts = new Map();

// `thread()` is the thread that it writes to, or null. `switchTo(place)` keeps what was begun here, and
// brings back what was begun there.
export function composer(form, thread) {
  const area = form.querySelector("textarea");
  const loud = document.querySelector(`input[form="${form.id}"]`);
  const files = clip(form);
  const completes = completing(area);
  const fit = () => {
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 200)}px`;
  };
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (event) => {
    if (completes(event) || event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "ArrowUp" && !area.value) editLast(event, thread());
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = area.value.trim();
    if (!text && !files.any()) return;
    if (thread() && text.startsWith("/")) return toast("Slash commands can't be used in threads.");
    const from = place;
    say(text, files, thread(), loud?.checked ?? false).then(({ ok }) => ok || giveBack(from, text));
    area.value = "";
    if (loud) loud.checked = false;
    fit();
  });
  let place = null;
  // What was refused is still to be had, unless something else was begun there meanwhile.
  const giveBack = (from, text) => {
    if (from !== place) drafts.set(from, drafts.get(from) || text);
    else if (!area.value) area.value = text;
    fit();
  };
  return {
    switchTo: (next) => {
      if (next === place) return;
      if (place !== null) drafts.set(place, area.value);
      place = next;
      area.value = drafts.get(next) ?? "";
      fit();
    },
  };
}

async function say(text, files, thread, broadcast) {
  const channel = where.channel;
  if (text.startsWith("/")) {
    const [command, ...rest] = text.split(" ");
    return act("command", { channel, command, text: rest.join(" ").trim() });
  }
  const attached = await files.take();
  return act("message", { channel, text, ...(attached.length && { files: attached }), ...(thread && { thread_ts: thread, broadcast }) });
}

function editLast(event, thread) {
  const mine = told(where.channel).findLast((one) => one.user === where.as && !one.bot_id && (thread ? one.thread_ts === thread : true));
  if (!mine) return;
  event.preventDefault();
  edit(mine);
}
