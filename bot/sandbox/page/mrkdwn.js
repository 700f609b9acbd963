// Slack's mrkdwn: emphasis, code, links, mentions, dates. Returns DOM nodes.

import { h } from "./dom.js";

const EMOJI = {
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", no_entry: "⛔", hourglass: "⌛",
  hourglass_flowing_sand: "⏳", warning: "⚠️", eyes: "👀", wave: "👋", tada: "🎉",
  robot_face: "🤖", wheel: "🛞", rocket: "🚀", lock: "🔒", bell: "🔔", "+1": "👍", "-1": "👎",
  thumbsup: "👍", thumbsdown: "👎", pause_button: "⏸️", stop_button: "⏹️", bulb: "💡",
};

const names = { users: new Map(), groups: new Map(), channels: new Map() };

export function know(workspace) {
  for (const user of workspace.users) names.users.set(user.id, user.profile.display_name);
  for (const group of workspace.groups) names.groups.set(group.id, group.handle);
  for (const channel of workspace.channels) names.channels.set(channel.id, channel.name);
}

export const userName = (id) => names.users.get(id) ?? id;
export const emoji = (name) => EMOJI[name] ?? `:${name}:`;

export function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

export function mention(kind, id) {
  const known = { user: names.users, group: names.groups, channel: names.channels }[kind];
  const sign = kind === "channel" ? "#" : "@";
  return h("span", { class: "mention" }, sign + (known.get(id) ?? id));
}

export function link(url, text) {
  const safe = /^(https?:|mailto:)/i.test(url);
  if (!safe) return document.createTextNode(text ?? url);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text ?? url);
}

const DAY = 86_400_000;

function nearDay(date) {
  const midnight = (one) => new Date(one.getFullYear(), one.getMonth(), one.getDate()).getTime();
  const days = Math.round((midnight(date) - midnight(new Date())) / DAY);
  return { 0: "today", 1: "tomorrow", [-1]: "yesterday" }[days] ?? null;
}

// `<!date^…>`: in the reader's zone and language.
export function formatDate(unix, pattern, fallback) {
  const date = new Date(Number(unix) * 1000);
  if (Number.isNaN(date.getTime())) return fallback ?? pattern;
  const say = (options) => new Intl.DateTimeFormat(undefined, options).format(date);
  const short = { month: "short", day: "numeric", year: "numeric" };
  const long = { weekday: "long", month: "long", day: "numeric", year: "numeric" };
  const usual = { month: "long", day: "numeric", year: "numeric" };
  const forms = {
    date_num: () => date.toLocaleDateString("sv"),
    date: () => say(usual), date_short: () => say(short), date_long: () => say(long),
    date_pretty: () => nearDay(date) ?? say(usual),
    date_short_pretty: () => nearDay(date) ?? say(short),
    date_long_pretty: () => nearDay(date) ?? say(long),
    time: () => say({ hour: "numeric", minute: "2-digit" }),
    time_secs: () => say({ hour: "numeric", minute: "2-digit", second: "2-digit" }),
    ago: () => ago(date),
  };
  return pattern.replace(/\{(\w+)\}/g, (whole, name) => (forms[name] ? forms[name]() : whole));
}

function ago(date) {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  for (const [unit, size] of [["day", 86_400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(seconds, "second");
}

function angled(inside) {
  const bar = inside.indexOf("|");
  const target = bar < 0 ? inside : inside.slice(0, bar);
  const label = bar < 0 ? null : unescape(inside.slice(bar + 1));
  if (target.startsWith("@")) return mention("user", target.slice(1));
  if (target.startsWith("#")) return mention("channel", target.slice(1));
  if (target.startsWith("!subteam^")) return mention("group", target.slice(9));
  if (target.startsWith("!date^")) {
    const [, unix, pattern, url] = target.split("^");
    const date = new Date(Number(unix) * 1000);
    const shown = formatDate(unix, pattern ?? "{date} {time}", label);
    const title = Number.isNaN(date.getTime()) ? null : date.toString();
    return url ? link(url, shown) : h("time", { title }, shown);
  }
  if (target.startsWith("!")) return h("span", { class: "mention" }, label ?? "@" + target.slice(1));
  return link(unescape(target), label);
}

const INLINE = new RegExp(
  [
    "```\\n?([\\s\\S]+?)```\\n?",
    "`([^`\\n]+)`",
    "<([^<>\\n]+)>",
    "(?<![\\w*])\\*(?=\\S)([^*\\n]*?\\S)\\*(?![\\w*])",
    "(?<![\\w_])_(?=\\S)([^_\\n]*?\\S)_(?![\\w_])",
    "(?<![\\w~])~(?=\\S)([^~\\n]*?\\S)~(?![\\w~])",
    ":([a-z0-9_+-]+):",
  ].join("|"),
  "g",
);

function inline(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(document.createTextNode(unescape(text.slice(end, found.index))));
    end = found.index + found[0].length;
    const [whole, block, code, angle, bold, italic, strike, name] = found;
    if (block !== undefined) nodes.push(h("pre", {}, unescape(block.replace(/\n$/, ""))));
    else if (code !== undefined) nodes.push(h("code", {}, unescape(code)));
    else if (angle !== undefined) nodes.push(angled(angle));
    else if (bold !== undefined) nodes.push(h("strong", {}, inline(bold)));
    else if (italic !== undefined) nodes.push(h("em", {}, inline(italic)));
    else if (strike !== undefined) nodes.push(h("s", {}, inline(strike)));
    else nodes.push(document.createTextNode(EMOJI[name] ?? whole));
  }
  nodes.push(document.createTextNode(unescape(text.slice(end))));
  return nodes;
}

export function mrkdwn(text) {
  const nodes = [];
  for (const part of text.split(/((?:^&gt; ?.*(?:\n|$))+)/m)) {
    if (!part) continue;
    if (!part.startsWith("&gt;")) nodes.push(...inline(part));
    else nodes.push(h("blockquote", {}, inline(part.replace(/^&gt; ?/gm, "").replace(/\n$/, ""))));
  }
  return nodes;
}

// A text object of Block Kit.
export function textOf(object) {
  if (!object) return [];
  if (object.type === "mrkdwn") return mrkdwn(object.text);
  const text = object.text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => EMOJI[name] ?? whole);
  return [document.createTextNode(unescape(text))];
}
