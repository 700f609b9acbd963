// A field with a list below it, in which one types to find: of several, or of what the app suggests.

import { h } from "./dom.js";
import { wordsOf } from "./mrkdwn.js";
import { firstOptions, groupsOf, isSeveral, valuesOf } from "./options.js";

const PAUSE = 250;
let lists = 0;

export function picker(element, given) {
  const made = new Picker(element, given);
  return { node: made.node, read: () => made.value };
}

class Picker {
  constructor(element, given) {
    Object.assign(this, { element, given, timer: null });
    this.asksTheApp = element.type.endsWith("external_select");
    this.isSeveral = isSeveral(element);
    const first = this.asksTheApp ? firstOptions(element) : groupsOf(element).flatMap((group) => group.options);
    this.names = new Map(first.map((one) => [one.value, wordsOf(one.text)]));
    this.chosen = (given.kept === undefined ? valuesOf(element) : [given.kept].flat()).filter(Boolean);
    this.draw();
    this.listen();
  }

  get value() {
    return this.isSeveral ? this.chosen : this.chosen[0] ?? null;
  }

  draw() {
    const { element, given } = this;
    const words = wordsOf(element.placeholder);
    this.list = h("ul", { class: "options", role: "listbox", id: `options-${lists += 1}`, hidden: true });
    this.input = h("input", {
      type: "text", id: given.id, role: "combobox", autocomplete: "off", "data-key": given.key, placeholder: words || "Choose …",
      "aria-expanded": "false", "aria-controls": this.list.id, "aria-autocomplete": "list",
      "aria-describedby": given.about, "aria-required": given.required ? "true" : null, "aria-label": given.id ? null : words || "Choose",
    });
    this.tokens = h("span", { class: "tokens" });
    this.node = h("div", { class: "picker" }, this.tokens, this.input, this.list);
    this.drawTokens();
  }

  drawTokens() {
    const token = (value) => {
      const name = this.names.get(value) ?? value;
      return h("span", { class: "token" }, name,
        h("button", { type: "button", "aria-label": `Remove ${name}`, onclick: () => this.leaveOut(value) }, "✕"));
    };
    this.tokens.replaceChildren(...this.chosen.map(token));
  }

  choose(option) {
    const { value } = option;
    this.names.set(value, wordsOf(option.text));
    const others = this.chosen.filter((one) => one !== value);
    this.chosen = !this.isSeveral ? [value] : others.length < this.chosen.length ? others : [...others, value];
    this.input.value = "";
    this.show(false);
    this.drawTokens();
    this.given.changed?.(this.value);
  }

  leaveOut(value) {
    this.chosen = this.chosen.filter((one) => one !== value);
    this.drawTokens();
    this.input.focus();
    // Of a single choice the app is told of the next one only.
    if (this.isSeveral) this.given.changed?.(this.value);
  }

  show(open) {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    if (open) this.list.scrollIntoView({ block: "nearest" });
    else this.input.removeAttribute("aria-activedescendant");
  }

  fill(groups, none) {
    let count = 0;
    const row = (one) => h("li", {
      role: "option", id: `${this.list.id}-${count += 1}`, "aria-selected": String(this.chosen.includes(one.value)),
      // The field keeps the focus, and a finger that scrolls the list chooses nothing.
      onmousedown: (event) => event.preventDefault(), onclick: () => this.choose(one),
    }, wordsOf(one.text));
    const rows = groups.flatMap((group) => [
      group.label && group.options.length && h("li", { role: "presentation", class: "quiet" }, wordsOf(group.label)),
      ...group.options.map(row),
    ]).filter(Boolean);
    this.list.replaceChildren(...(count ? rows : [h("li", { role: "presentation", class: "quiet" }, none)]));
    this.show(true);
  }

  look() {
    clearTimeout(this.timer);
    const wanted = this.input.value.trim().toLowerCase();
    if (this.asksTheApp) return this.suggest(wanted);
    const fits = (one) => wordsOf(one.text).toLowerCase().includes(wanted);
    return this.fill(groupsOf(this.element).map((group) => ({ ...group, options: group.options.filter(fits) })), "Nothing found");
  }

  suggest(wanted) {
    const least = this.element.min_query_length ?? 3;
    if (wanted.length < least) return this.fill([], `Type at least ${least} ${least === 1 ? "letter" : "letters"}`);
    this.fill([], "Looking …");
    this.timer = setTimeout(async () => {
      const asked = this.input.value;
      const answer = await this.given.suggest(asked);
      if (this.input.value !== asked || !this.node.isConnected) return;
      this.fill(answer.option_groups ?? [{ options: answer.options ?? [] }], answer.acknowledged ? "Nothing found" : "The app gave no options.");
    }, PAUSE);
    return undefined;
  }

  move(step) {
    const rows = [...this.list.querySelectorAll("[role=option]")];
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.classList.contains("here"));
    const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : (at + step + rows.length) % rows.length];
    for (const row of rows) row.classList.toggle("here", row === next);
    this.input.setAttribute("aria-activedescendant", next.id);
    next.scrollIntoView({ block: "nearest" });
  }

  listen() {
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("click", () => this.list.hidden && this.look());
    this.input.addEventListener("blur", () => this.show(false));
    this.input.addEventListener("keydown", (event) => this.steer(event));
  }

  steer(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isOpen = !this.list.hidden;
    if (step && isOpen) this.move(step);
    else if (step) this.look();
    else if (event.key === "Enter" && isOpen) this.list.querySelector(".here")?.click();
    else if (event.key === "Escape" && isOpen) this.show(false);
    else if (event.key === "Backspace" && !this.input.value && this.chosen.length) this.leaveOut(this.chosen.at(-1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
