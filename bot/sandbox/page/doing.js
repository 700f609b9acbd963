// What a person does: sent to the sandbox, and told to them if nobody answered.

import { clip } from "./clip.js";
import { where } from "./where.js";

const $ = (id) => document.getElementById(id);

export async function act(what, fields) {
  let answer;
  try {
    const response = await fetch("/sandbox/act", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ as: where.as, do: what, ...fields }),
    });
    answer = await response.json();
  } catch {
    answer = { ok: false, error: "The sandbox does not answer." };
  }
  if (!answer.ok) toast(answer.error);
  else if (!answer.acknowledged && !answer.errors && what !== "submit") {
    const isTold = answer.why !== "the app is not told of this";
    toast(isTold ? "The app did not answer in time." : "The app is not told of this.");
  }
  return answer;
}

let toastTimer;
export function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("shown"), 6000);
}

async function say(text, files, thread, broadcast) {
  if (text.startsWith("/")) {
    if (thread) return toast("Slash commands can't be used in threads.");
    const [command, ...rest] = text.split(" ");
    act("command", { channel: where.channel, command, text: rest.join(" ").trim() });
  } else {
    const channel = where.channel;
    const attached = await files.take();
    act("message", { channel, text, ...(attached.length && { files: attached }), ...(thread && { thread_ts: thread, broadcast }) });
  }
}

export function composer(form, thread) {
  const area = form.querySelector("textarea");
  const loud = document.querySelector(`input[form="${form.id}"]`);
  const files = clip(form);
  const fit = () => {
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 200)}px`;
  };
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = area.value.trim();
    if (!text && !files.any()) return;
    say(text, files, thread(), loud?.checked ?? false);
    if (thread() && text.startsWith("/")) return;
    area.value = "";
    if (loud) loud.checked = false;
    fit();
  });
}
