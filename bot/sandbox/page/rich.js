// Rich text: sections, lists, quotes, code; and in them words, links, mentions, dates.

import { h } from "./dom.js";
import { emoji } from "./emoji.js";
import { broadcast, link, mention, moment } from "./mrkdwn.js";
import { notDrawn } from "./not_drawn.js";

const MARKS = { 0: ["disc", "decimal"], 1: ["circle", "lower-alpha"], 2: ["square", "lower-roman"] };

const PARTS = {
  rich_text_section: (part) => h("div", { class: "r-section" }, words(part)),
  rich_text_preformatted: (part) => h("pre", {}, h("code", {}, words(part))),
  rich_text_quote: (part) => h("blockquote", {}, words(part)),
  rich_text_list: drawList,
};

export const richText = (block) => block.elements.map(drawPart);

function drawPart(part) {
  const drawn = PARTS[part.type]?.(part) ?? notDrawn(part.type);
  if (part.border) drawn.classList.add("bordered");
  return drawn;
}

const words = (part) => part.elements.map(drawWord);

function drawList(part) {
  const ordered = part.style === "ordered";
  const indent = part.indent ?? 0;
  const list = h(ordered ? "ol" : "ul", { start: ordered && part.offset ? part.offset + 1 : null },
    part.elements.map((item) => h("li", {}, words(item))));
  list.style.marginLeft = `${indent * 24}px`;
  list.style.listStyleType = MARKS[indent % 3][ordered ? 1 : 0];
  return list;
}

const WORDS = {
  text: (word) => document.createTextNode(word.text),
  link: (word) => link(word.url, word.text),
  user: (word) => mention("user", word.user_id),
  usergroup: (word) => mention("group", word.usergroup_id),
  channel: (word) => mention("channel", word.channel_id),
  team: (word) => h("span", { class: "mention" }, `@${word.team_id}`),
  broadcast: (word) => broadcast(word.range),
  emoji: (word) => document.createTextNode(inUnicode(word.unicode) ?? emoji(word.name)),
  date: (word) => moment(word.timestamp, word.format, word.fallback, word.url),
  color: (word) => [swatch(word.value), document.createTextNode(word.value)],
};

function drawWord(word) {
  const draw = WORDS[word.type];
  return draw ? styled(draw(word), word.style) : notDrawn(word.type);
}

function inUnicode(points) {
  if (!/^[0-9a-f-]+$/i.test(points ?? "")) return null;
  return String.fromCodePoint(...points.split("-").map((point) => Number.parseInt(point, 16)));
}

function swatch(value) {
  const square = h("span", { class: "swatch", "aria-hidden": "true" });
  square.style.backgroundColor = value;
  return square;
}

const TAGS = { code: "code", strike: "s", italic: "em", bold: "strong", underline: "u", highlight: "mark" };

function styled(node, style = {}) {
  let wrapped = node;
  for (const [name, tag] of Object.entries(TAGS)) if (style[name]) wrapped = h(tag, {}, wrapped);
  return wrapped;
}
