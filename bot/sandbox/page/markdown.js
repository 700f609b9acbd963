// The `markdown` block: what Slack takes of Markdown. Returns DOM nodes.

import { h } from "./dom.js";
import { emoji } from "./emoji.js";
import { angled, link, unescape } from "./mrkdwn.js";

const INLINE = new RegExp(
  [
    "\\\\([\\\\`*_{}\\[\\]()#+.!~|>-])",
    "(`+)(?!`)([\\s\\S]*?[^`])\\2(?!`)",
    "!?\\[([^\\]\\n]*)\\]\\(((?:[^\\s()]|\\([^\\s()]*\\))+)(?:\\s+\"[^\"]*\")?\\)",
    "<([@#!][^<>\\n]+|(?:https?:|mailto:)[^<>\\s]+)>",
    "(https?://[^\\s<>()]*[^\\s<>().,;:!?'\"])",
    "\\*\\*\\*(?=\\S)([^*]*\\S)\\*\\*\\*",
    "(?:\\*\\*|(?<!\\w)__)(?=\\S)([\\s\\S]*?\\S)(?:\\*\\*|__(?!\\w))",
    "(?:\\*|(?<!\\w)_)(?=\\S)([^*_]*?\\S)(?:\\*|_(?!\\w))",
    "~~(?=\\S)([\\s\\S]*?\\S)~~",
    ":([a-z0-9_+'-]+):",
  ].join("|"),
  "g",
);

function inline(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(text.slice(end, found.index));
    end = found.index + found[0].length;
    const [, escaped, , code, label, url, angle, address, both, bold, italic, strike, name] = found;
    if (escaped !== undefined) nodes.push(escaped);
    else if (code !== undefined) nodes.push(h("code", {}, code.trim()));
    else if (url !== undefined) nodes.push(link(unescape(url), label || unescape(url)));
    else if (angle !== undefined) nodes.push(angled(angle));
    else if (address !== undefined) nodes.push(link(address));
    else if (both !== undefined) nodes.push(h("strong", {}, h("em", {}, inline(both))));
    else if (bold !== undefined) nodes.push(h("strong", {}, inline(bold)));
    else if (italic !== undefined) nodes.push(h("em", {}, inline(italic)));
    else if (strike !== undefined) nodes.push(h("s", {}, inline(strike)));
    else nodes.push(emoji(name));
  }
  return [...nodes, text.slice(end)];
}

const ITEM = /^(\s*)(?:([-*+])|(\d+)[.)])\s+(.*)$/;
const IS_RULE = /^\s*(?:-\s*){3,}$|^\s*(?:\*\s*){3,}$|^\s*(?:_\s*){3,}$/;
const IS_FENCE = /^\s*(```+|~~~+)\s*\S*\s*$/;
const IS_DASHES = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

// Each takes what it knows off the front of the lines, and gives what it drew; or null.
const READERS = [fence, heading, rule, table, quote, list, paragraph];

export function markdown(text) {
  const lines = text.split("\n");
  const nodes = [];
  while (lines.length) {
    if (!lines[0].trim()) lines.shift();
    else nodes.push(READERS.reduce((found, read) => found ?? read(lines), null));
  }
  return nodes;
}

function fence(lines) {
  const mark = lines[0].match(IS_FENCE)?.[1];
  if (!mark) return null;
  lines.shift();
  const inside = [];
  while (lines.length && lines[0].trim() !== mark) inside.push(lines.shift());
  lines.shift();
  return h("pre", {}, h("code", {}, inside.join("\n")));
}

function heading(lines) {
  const found = lines[0].match(/^(#{1,6})\s+(.*?)\s*#*$/);
  if (!found) return null;
  lines.shift();
  // The page's own headings come above it.
  return h(`h${Math.min(6, found[1].length + 2)}`, { class: "m-heading", "data-level": found[1].length }, inline(found[2]));
}

function rule(lines) {
  if (!IS_RULE.test(lines[0])) return null;
  lines.shift();
  return h("hr", { class: "b-divider" });
}

const cells = (line) => line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

function table(lines) {
  if (!lines[0].includes("|") || !lines[1] || !IS_DASHES.test(lines[1])) return null;
  const head = cells(lines.shift());
  const sides = cells(lines.shift()).map((one) => (/^:.*:$/.test(one) ? "center" : one.endsWith(":") ? "right" : "left"));
  const rows = [];
  while (lines.length && lines[0].includes("|")) rows.push(cells(lines.shift()));
  const cell = (tag) => (text, at) => h(tag, { "data-side": sides[at], scope: tag === "th" ? "col" : null }, inline(text));
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", {},
    h("thead", {}, h("tr", {}, head.map(cell("th")))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell("td")))))));
}

function quote(lines) {
  if (!/^\s*>/.test(lines[0])) return null;
  const inside = [];
  while (lines.length && /^\s*>/.test(lines[0])) inside.push(lines.shift().replace(/^\s*> ?/, ""));
  return h("blockquote", {}, markdown(inside.join("\n")));
}

function list(lines) {
  const first = lines[0].match(ITEM);
  if (!first) return null;
  const depth = first[1].length;
  const made = h(first[3] ? "ol" : "ul", { start: first[3] > 1 ? first[3] : null });
  while (lines.length) {
    // Items may stand apart.
    if (!lines[0].trim() && ITEM.test(lines[1] ?? "")) lines.shift();
    const item = lines[0].match(ITEM);
    if (!item || item[1].length < depth || (item[1].length < depth + 2 && Boolean(item[3]) !== Boolean(first[3]))) break;
    if (item[1].length >= depth + 2 && made.lastChild) made.lastChild.append(list(lines));
    else {
      lines.shift();
      made.append(drawItem(item[4]));
      while (lines.length && /^\s{2,}\S/.test(lines[0]) && !ITEM.test(lines[0])) made.lastChild.append("\n", ...inline(lines.shift().trim()));
    }
  }
  return made;
}

function drawItem(text) {
  const task = text.match(/^\[([ xX])\]\s+(.*)$/);
  if (!task) return h("li", {}, inline(text));
  const done = task[1] !== " ";
  return h("li", { class: "task" }, h("span", { role: "img", "aria-label": done ? "done" : "to do" }, done ? "☑" : "☐"), " ", inline(task[2]));
}

const BEGINS_ELSE = [IS_FENCE, /^#{1,6}\s/, /^\s*>/, ITEM, IS_RULE];

function paragraph(lines) {
  const inside = [lines.shift()];
  while (lines.length && lines[0].trim() && !BEGINS_ELSE.some((begins) => begins.test(lines[0]))) inside.push(lines.shift());
  return h("p", {}, inline(inside.join("\n")));
}
