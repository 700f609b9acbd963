// A field with a list below it, in which one types to find: of several, or of what the app suggests.

import { h } from "./dom.js";
import { wordsOf } from "./mrkdwn.js";
import { firstOptions, groupsOf, isSeveral, valuesOf } from "./options.js";

const PAUSE = 250;
let lists = 0;

export function picker(element, given) {
  const asks = element.type.endsWith("external_select");
  const names = new Map([...(asks ? firstOptions(element) : groupsOf(element).flatMap((group) => group.options))].map((one) => [one.value, wordsOf(one.text)]));
  let chosen = (given.kept === undefined ? valuesOf(element) : [given.kept].flat()).filter(Boolean);
  const list = h("ul", { class: "options", role: "listbox", id: `options-${lists += 1}`, hidden: true });
  const input = h("input", {
    type: "text", id: given.id, role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": list.id,
    "aria-autocomplete": "list", "aria-describedby": given.about, "data-key": given.key,
    "aria-label": given.id ? null : wordsOf(element.placeholder) || "Choose",
    placeholder: wordsOf(element.placeholder) || "Choose …",
  });
  const tokens = h("span", { class: "tokens" });
  const node = h("div", { class: "picker" }, tokens, input, list);
  const read = () => (isSeveral(element) ? chosen : chosen[0] ?? null);

  function choose(value, name) {
    names.set(value, name);
    const had = chosen.includes(value);
    if (isSeveral(element)) chosen = had ? chosen.filter((one) => one !== value) : [...chosen, value];
    else chosen = [value];
    input.value = "";
    show(false);
    drawTokens();
    given.changed?.(read());
  }

  function drawTokens() {
    tokens.replaceChildren(...chosen.map((value) => h("span", { class: "token" }, names.get(value) ?? value,
      h("button", { type: "button", "aria-label": `Remove ${names.get(value) ?? value}`, onclick: () => {
        chosen = chosen.filter((one) => one !== value);
        drawTokens();
        input.focus();
        if (isSeveral(element)) given.changed?.(read());
      } }, "✕"))));
  }

  function show(open) {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (!open) input.removeAttribute("aria-activedescendant");
  }

  function fill(groups, none) {
    let count = 0;
    const row = (one) => h("li", { role: "option", id: `${list.id}-${count += 1}`, "aria-selected": String(chosen.includes(one.value)),
      onpointerdown: (event) => { event.preventDefault(); choose(one.value, wordsOf(one.text)); } }, wordsOf(one.text));
    list.replaceChildren(...groups.flatMap((group) => [group.label && h("li", { role: "presentation", class: "quiet" }, wordsOf(group.label)),
      ...group.options.map(row)]).filter(Boolean));
    if (!count) list.append(h("li", { role: "presentation", class: "quiet" }, none));
    show(true);
  }

  let timer = null;
  async function look() {
    clearTimeout(timer);
    const wanted = input.value.trim().toLowerCase();
    if (!asks) {
      const fits = (one) => wordsOf(one.text).toLowerCase().includes(wanted);
      return fill(groupsOf(element).map((group) => ({ ...group, options: group.options.filter(fits) })), "Nothing found");
    }
    const least = element.min_query_length ?? 3;
    if (wanted.length < least) return fill([], `Type at least ${least} ${least === 1 ? "letter" : "letters"}`);
    fill([], "Looking …");
    timer = setTimeout(async () => {
      const asked = input.value;
      const answer = await given.suggest(asked);
      if (input.value !== asked) return;
      fill(answer.option_groups ?? [{ options: answer.options ?? [] }], answer.acknowledged ? "Nothing found" : "The app gave no options.");
    }, PAUSE);
  }

  function move(step) {
    const rows = [...list.querySelectorAll("[role=option]")];
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.id === input.getAttribute("aria-activedescendant"));
    const next = rows[(at + step + rows.length + (at < 0 && step < 0 ? 1 : 0)) % rows.length];
    for (const row of rows) row.classList.toggle("here", row === next);
    input.setAttribute("aria-activedescendant", next.id);
    next.scrollIntoView({ block: "nearest" });
  }

  input.addEventListener("input", look);
  input.addEventListener("click", () => list.hidden && look());
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      event.stopPropagation();
      if (list.hidden) look();
      else move(step);
    } else if (event.key === "Enter" && !list.hidden) {
      event.preventDefault();
      list.querySelector(".here")?.dispatchEvent(new Event("pointerdown", { cancelable: true }));
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      show(false);
    } else if (event.key === "Backspace" && !input.value && chosen.length) {
      tokens.lastChild.querySelector("button").click();
    }
  });
  drawTokens();
  return { node, read };
}
