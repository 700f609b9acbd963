// The drawer below the page: the inspector, the faults, an admin's settings. Kept in the address.

import { asked } from "./asked.js";
import { h } from "./dom.js";
import { faultsPanel } from "./faults.js";
import { inspectorPanel } from "./inspector.js";
import { policiesPanel } from "./policies.js";
import { drawerOpened, lookAround, takeTour } from "./tour.js";
import { setAddress } from "./where.js";

// Without a letter a panel has no shortcut of its own. The letters are none of a browser's menus.
const PANELS = [
  { id: "inspector", label: "Inspector", key: "I", view: inspectorPanel },
  { id: "faults", label: "Faults", key: "G", view: faultsPanel },
  { id: "settings", label: "Settings", key: "", view: policiesPanel },
];

let drawer;
let shown = null;
let opener = null;

// `place`: where the buttons stand that open it.
export async function furnish(place) {
  drawer = build();
  document.body.append(drawer);
  for (const panel of PANELS.filter((one) => one.key)) place.append(opensFrom(panel));
  document.addEventListener("keydown", onShortcut);
  drawer.addEventListener("keydown", onEscape);
  window.addEventListener("popstate", fromAddress);
  document.addEventListener("sandbox:drawer", (event) => show(event.detail));
  fromAddress();
  const { tour } = await asked("GET", "/sandbox/workspace");
  if (tour?.length) takeTour(tour, place);
}

function build() {
  const tabs = h("div", { role: "tablist", "aria-label": "Inspector, faults and settings", class: "drawer-tabs" });
  const body = h("div", { class: "drawer-body" });
  for (const panel of PANELS) {
    panel.pane = h("div", { role: "tabpanel", id: `pane-${panel.id}`, "aria-labelledby": `tab-${panel.id}`, hidden: true }, panel.view.element);
    panel.tab = h("button", {
      type: "button", role: "tab", id: `tab-${panel.id}`, class: "drawer-tab", "aria-controls": `pane-${panel.id}`,
      onclick: () => show(panel.id), onkeydown: alongTabs,
    }, panel.label, " ", panel.view.badge ?? "");
    tabs.append(panel.tab);
    body.append(panel.pane);
  }
  const taller = h("button", { type: "button", class: "icon drawer-taller", "aria-pressed": "false", "aria-label": "Taller", title: "Taller",
    onclick: () => taller.setAttribute("aria-pressed", String(document.body.classList.toggle("drawer-tall"))) }, "⇕");
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close the drawer", title: "Close (Esc)", onclick: () => show(null) }, "✕");
  return h("aside", { class: "drawer", "aria-label": "Inspector and faults", hidden: true }, h("header", {}, tabs, taller, close), body);
}

function opensFrom(panel) {
  panel.button = h("button", {
    type: "button", class: "icon", "aria-expanded": "false", "aria-keyshortcuts": `Alt+${panel.key}`, title: `${panel.label} (Alt+${panel.key})`,
    onclick: () => show(shown === panel.id ? null : panel.id),
  }, panel.label);
  return panel.button;
}

// `isTold`: by the address, which moves nobody's focus.
function show(id, isTold = false) {
  if (id === shown) return;
  if (!shown) opener = document.activeElement;
  shown = id;
  for (const panel of PANELS) {
    const here = panel.id === shown;
    panel.pane.hidden = !here;
    panel.tab.setAttribute("aria-selected", String(here));
    panel.tab.tabIndex = here ? 0 : -1;
    panel.button?.setAttribute("aria-expanded", String(here));
    panel.view.shown(here, shown !== null);
  }
  const had = drawer.contains(document.activeElement);
  drawer.hidden = shown === null;
  document.body.classList.toggle("drawered", shown !== null);
  if (!isTold) setAddress({ drawer: shown, entry: null });
  if (shown && !isTold) PANELS.find((one) => one.id === shown).tab.focus();
  else if (had) (opener?.isConnected ? opener : document.body).focus?.();
  drawerOpened(shown);
}

function onShortcut(event) {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const panel = PANELS.find((one) => one.key && event.code === `Key${one.key}`);
  if (!panel || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  show(shown === panel.id ? null : panel.id);
}

// First the entry, then the drawer; what is behind it hears nothing of it.
function onEscape(event) {
  if (event.key !== "Escape" || (event.target.type === "search" && event.target.value)) return;
  event.preventDefault();
  event.stopPropagation();
  if (!PANELS.find((one) => one.id === shown).view.back()) show(null);
}

function alongTabs(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const here = PANELS.findIndex((one) => one.id === shown);
  show(PANELS[(here + step + PANELS.length) % PANELS.length].id);
}

// ---- the address ----

function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const entry = given.get("entry");
  const wanted = PANELS.some((one) => one.id === given.get("drawer")) ? given.get("drawer") : null;
  if (wanted !== shown) show(wanted, true);
  if (shown === "inspector" && entry) PANELS[0].view.look(Number(entry));
}
