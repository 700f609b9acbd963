// One message: who, when, what it says, its thread.

import { drawAttachment } from "./attachments.js";
import { drawBlocks } from "./blocks.js";
import { formatDate, fullDate } from "./dates.js";
import { act } from "./doing.js";
import { h } from "./dom.js";
import { emoji } from "./emoji.js";
import { drawFiles } from "./files.js";
import { read } from "./inputs.js";
import { mrkdwn } from "./mrkdwn.js";
import { standing, userName, userOf } from "./names.js";
import { drawnOrNot } from "./not_drawn.js";
import { hasNewReplies } from "./read_marks.js";
import { messageOf } from "./sight.js";
import { drawReactions, drawTools } from "./tools.js";
import { go } from "./where.js";

export const authorOf = (message) => (message.subtype === "tombstone" ? "Deleted" : message.username ?? userName(message.user));

export function drawMessage(message, inThread) {
  const author = authorOf(message);
  const open = () => go({ thread: message.thread_ts ?? message.ts });
  const isGone = message.subtype === "tombstone";
  const article = h("article", {
    class: classOf(message), "data-ts": message.ts, "data-author": message.username ?? message.user, tabindex: "-1",
    "aria-label": `${author}, ${formatDate(message.ts, "{time}")}${message.is_ephemeral ? ", only visible to you" : ""}`,
  });
  const spot = spotOf(message, article);
  article.append(
    h("div", { class: "gutter" },
      isGone ? h("span", { class: "face", "aria-hidden": "true" }, "🗑") : drawFace(message.user, author, message.bot_id, message.icons),
      h("time", { class: "quiet", "aria-hidden": "true", title: fullDate(message.ts) }, formatDate(message.ts, "{time}"))),
    h("div", { class: "said" },
      message.is_ephemeral && h("p", { class: "only" }, "Only visible to you"),
      drawBroadcast(message, inThread),
      drawHead(message, author),
      drawBody(message, spot),
      message.files && drawFiles(message),
      message.reactions && drawReactions(message),
      drawStream(message),
      !inThread && message.reply_count > 0 && drawReplies(message, open)),
    message.is_ephemeral || isGone ? "" : drawTools(message, inThread ? null : open));
  reach(article, false);
  return article;
}

function classOf(message) {
  const is = { private: message.is_ephemeral, gone: message.subtype === "tombstone", line: isLine(message) };
  return ["message", ...Object.keys(is).filter((name) => is[name])].join(" ");
}

// Whether Tab stops at what is in a message. It does in one at a time: else the way through a channel would be endless.
export function reach(article, may) {
  for (const one of article.querySelectorAll("a, button, summary, input, select, textarea, [role=region]")) one.tabIndex = may ? 0 : -1;
}

function spotOf(message, article) {
  const place = { channel: message.channel, ts: message.ts };
  const values = () => Object.fromEntries(read(article));
  return {
    click: async (element, selected, block_id) => {
      article.setAttribute("aria-busy", "true");
      const answer = await act("click", { ...place, action_id: element.action_id, block_id, selected, values: values() });
      article.removeAttribute("aria-busy");
      return answer;
    },
    suggest: (element, value, block_id) => act("options", { ...place, action_id: element.action_id, block_id, value, values: values() }),
  };
}

function drawHead(message, author) {
  const user = userOf(message.user);
  const about = standing(user);
  return h("p", { class: "who" }, h("strong", {}, author),
    message.bot_id && h("span", { class: "badge" }, "APP"),
    about && !message.bot_id && h("span", { class: "badge" }, about),
    h("time", { class: "quiet", title: fullDate(message.ts) }, formatDate(message.ts, "{time}")));
}

// What Slack itself writes of who comes and goes, in few words below their name.
const isLine = (message) => /^(channel|group)_(join|leave|topic|purpose|name)$/.test(message.subtype ?? "");

// An app may say under which sign it speaks.
export function drawFace(id, name, isApp, icons) {
  const is = { class: isApp ? "face app" : "face", "data-tone": tone(id), "data-is": standing(userOf(id)), "aria-hidden": "true" };
  const sign = icons?.emoji ? emoji(icons.emoji.replaceAll(":", "")) : "⎈";
  return h("span", is, isApp ? sign : name[0]);
}

const tone = (id) => [...(id ?? "")].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 6;

function drawBody(message, spot) {
  const blocks = message.bot_id ? message.blocks ?? [] : [];
  const edited = message.edited && h("span", { class: "quiet edited", title: fullDate(message.edited.ts) }, "(edited)");
  return [
    blocks.length ? drawBlocks(blocks, spot) : message.text && h("div", { class: "b-text" }, mrkdwn(message.text), edited && " ", edited),
    blocks.length > 0 && edited && h("p", {}, edited),
    message.attachments?.map((one) => drawnOrNot("attachment", () => drawAttachment(one, spot))),
  ];
}

function drawStream(message) {
  if (message.streaming_state === "in_progress") return h("p", { class: "quiet writing" }, "is being written …");
  return message.streaming_state === "errored" && h("p", { class: "error" }, "Something went wrong while this was being written.");
}

function drawBroadcast(message, inThread) {
  if (message.subtype !== "thread_broadcast") return null;
  if (inThread) return h("p", { class: "quiet" }, "Also sent to the channel");
  const parent = messageOf(message.channel, message.thread_ts);
  return h("p", { class: "quiet" }, "replied to a thread: ", h("button", { type: "button", class: "as-link", "data-key": "thread",
    onclick: () => go({ thread: message.thread_ts }) }, (parent && h("span", {}, mrkdwn(parent.text)).textContent) || "a message"));
}

function drawReplies(message, open) {
  const isNew = hasNewReplies(message);
  const faces = message.reply_users.slice(0, 5).map((id) => drawFace(id, userName(id), userOf(id)?.is_bot));
  return h("button", { type: "button", class: isNew ? "replies new" : "replies", "data-key": "replies", onclick: open },
    h("span", { class: "faces" }, faces),
    `${message.reply_count} ${message.reply_count === 1 ? "reply" : "replies"}`,
    isNew && h("span", { class: "dot" }, "new"),
    h("span", { class: "quiet" }, ` Last reply ${formatDate(message.latest_reply, "{date_short_pretty} {time}")}`));
}
