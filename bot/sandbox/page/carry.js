// What a person did to an element outlives its being drawn again: focus, what they typed, what they opened.

// What has the same `data-key` in the new one. It begins with a block's id, which is another one after each
// edit unless the app names it: so else the only one of which the rest is the same.
function same(root, { dataset: { key } }) {
  const exact = root.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const rest = key.includes(" ") ? key.slice(key.indexOf(" ")) : null;
  const alike = exact || !rest ? [] : root.querySelectorAll(`[data-key$="${CSS.escape(rest)}"]`);
  return exact ?? (alike.length === 1 ? alike[0] : null);
}

export function carry(from, to) {
  for (const details of from.querySelectorAll("details[data-key]")) {
    const found = same(to, details);
    if (found && details.dataset.moved) Object.assign(found, { open: details.open }).dataset.moved = "yes";
  }
  for (const control of from.querySelectorAll(":is(input, textarea, select)[data-key]")) {
    const found = same(to, control);
    if (found && control.dataset.moved) restore(found, control);
  }
  const active = document.activeElement;
  if (!from.contains(active)) return;
  const found = active.dataset.key && same(to, active);
  if (found) refocus(found, active);
  else to.focus({ preventScroll: true });
}

function restore(found, control) {
  found.dataset.moved = "yes";
  if ("checked" in control) found.checked = control.checked;
  if (control.type !== "checkbox" && control.type !== "radio" && control.type !== "file") found.value = control.value;
}

function refocus(found, active) {
  found.focus({ preventScroll: true });
  if (active.selectionStart === null || active.selectionStart === undefined || !found.setSelectionRange) return;
  found.setSelectionRange(active.selectionStart, active.selectionEnd);
}

// A mark on whatever a person, and not the app, has changed.
for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => { if (event.target.dataset) event.target.dataset.moved = "yes"; }, true);
}
document.addEventListener("click", (event) => {
  const summary = event.target.closest?.("summary");
  if (summary) summary.parentElement.dataset.moved = "yes";
}, true);

// How to find it later, also once its message was drawn again.
export function again(element) {
  const message = element?.closest?.("[data-ts]");
  const list = message?.parentElement;
  const { key } = element?.dataset ?? {};
  return () => {
    if (element?.isConnected) return element;
    const now = list?.querySelector(`[data-ts="${message.dataset.ts}"]`);
    return (key && now && same(now, element)) ?? now;
  };
}
