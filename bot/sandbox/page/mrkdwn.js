// Slack's mrkdwn: emphasis, code, quotes, links, mentions, dates. Returns DOM nodes.

import { formatDate, fullDate } from "./dates.js";
import { h } from "./dom.js";
import { emoji, withEmoji } from "./emoji.js";
import { groupName, isMe, placeOf, userName } from "./names.js";

export function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

export function mention(kind, id) {
  const name = { user: userName, group: groupName, channel: (one) => placeOf(one)?.name ?? one }[kind](id);
  const css = isMe(kind, id) ? "mention me" : "mention";
  return h("span", { class: css }, (kind === "channel" ? "#" : "@") + name);
}

export const broadcast = (range) => h("span", { class: "mention me" }, `@${range}`);

export function link(url, text) {
  const safe = /^(https?:|mailto:|tel:)/i.test(url);
  if (!safe) return document.createTextNode(text ?? url);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text ?? url.replace(/^(mailto|tel):/i, ""));
}

// A date in the reader's zone, with all of it on hover.
export function moment(seconds, pattern, fallback, url) {
  const shown = formatDate(seconds, pattern, fallback);
  return h("time", { title: fullDate(seconds) }, url ? link(url, shown) : shown);
}

// What stands between `<` and `>`.
export function angled(inside) {
  const bar = inside.indexOf("|");
  const target = bar < 0 ? inside : inside.slice(0, bar);
  const label = bar < 0 ? null : unescape(inside.slice(bar + 1));
  if (target.startsWith("@")) return mention("user", target.slice(1));
  if (target.startsWith("#")) return mention("channel", target.slice(1));
  if (target.startsWith("!subteam^")) return mention("group", target.slice(9));
  if (target.startsWith("!date^")) {
    const [, seconds, pattern, url] = target.split("^");
    return moment(seconds, pattern ?? "{date} {time}", label, url && unescape(url));
  }
  if (/^!(here|channel|everyone)$/.test(target)) return broadcast(target.slice(1));
  if (target.startsWith("!")) return h("span", { class: "mention" }, label ?? `@${target.slice(1)}`);
  return link(unescape(target), label);
}

const INLINE = new RegExp(
  [
    "`([^`\\n]+)`",
    "<([^<>\\n]+)>",
    "(?<![\\w*])\\*(?=\\S)([^*\\n]*?\\S)\\*(?![\\w*])",
    "(?<![\\w_])_(?=\\S)((?:[^_\\n]|(?<=\\w)_(?=\\w))*?\\S)_(?![\\w_])",
    "(?<![\\w~])~(?=\\S)([^~\\n]*?\\S)~(?![\\w~])",
    ":([a-z0-9_+'-]+):",
  ].join("|"),
  "g",
);

function inline(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(document.createTextNode(unescape(text.slice(end, found.index))));
    end = found.index + found[0].length;
    const [, code, angle, bold, italic, strike, name] = found;
    if (code !== undefined) nodes.push(h("code", {}, unescape(code)));
    else if (angle !== undefined) nodes.push(angled(angle));
    else if (bold !== undefined) nodes.push(h("strong", {}, inline(bold)));
    else if (italic !== undefined) nodes.push(h("em", {}, inline(italic)));
    else if (strike !== undefined) nodes.push(h("s", {}, inline(strike)));
    else nodes.push(document.createTextNode(emoji(name)));
  }
  nodes.push(document.createTextNode(unescape(text.slice(end))));
  return nodes;
}

const FENCE = /```\n?([\s\S]+?)```\n?/;
const QUOTE = /((?:^&gt; ?.*(?:\n|$))+)/m;

function quoted(text) {
  const rest = text.match(/^&gt;&gt;&gt; ?([\s\S]*)$/m);
  if (rest) return [...quoted(text.slice(0, rest.index)), h("blockquote", {}, inline(rest[1]))];
  return text.split(QUOTE).filter(Boolean).flatMap((part) => (part.startsWith("&gt;")
    ? h("blockquote", {}, inline(part.replace(/^&gt; ?/gm, "").replace(/\n$/, "")))
    : inline(part)));
}

export function mrkdwn(text) {
  // What stands in a fence is nothing but text: so these first.
  return text.split(FENCE).flatMap((part, at) =>
    (at % 2 ? h("pre", {}, unescape(part.replace(/\n$/, ""))) : quoted(part)));
}

// A text object of Block Kit.
export function textOf(object) {
  if (!object) return [];
  if (object.type === "mrkdwn") return mrkdwn(object.text);
  return [document.createTextNode(unescape(object.emoji === false ? object.text : withEmoji(object.text)))];
}

// The same as mere words: for a name.
export const wordsOf = (object) => textOf(object).map((node) => node.textContent).join("");
