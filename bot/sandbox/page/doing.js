// What a person does: sent to the sandbox, and told to them if nobody answered.

import { where } from "./where.js";

const $ = (id) => document.getElementById(id);

// `quietly`: nobody is told if the app doesn't hear of it.
export async function act(what, fields, { quietly = false } = {}) {
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
  const problem = problemOf(what, answer);
  if (problem && !(quietly && answer.ok)) toast(problem);
  return answer;
}

function problemOf(what, answer) {
  if (!answer.ok) return answer.error;
  if (answer.acknowledged || what === "submit") return null;
  if (answer.errors) return what === "click" ? Object.values(answer.errors)[0] : null;
  return answer.why === "the app is not told of this" ? "The app is not told of this." : "The app did not answer in time.";
}

let toastTimer;
export function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("shown"), 6000);
}
