// One message: who, when, what it says, its thread.

import { drawBody } from "./blocks.js";
import { act } from "./doing.js";
import { h } from "./dom.js";
import { formatDate, userName } from "./mrkdwn.js";
import { drawReactions, drawTools } from "./tools.js";
import { go } from "./where.js";

export function drawMessage(message, inThread) {
  const app = Boolean(message.bot_id);
  const name = message.subtype === "tombstone" ? "Deleted" : message.username ?? userName(message.user);
  const pressed = async (element, selected, block_id) => {
    article.classList.add("busy");
    await act("click", { channel: message.channel, ts: message.ts, action_id: element.action_id, block_id, selected });
    article.classList.remove("busy");
  };
  const open = () => go({ thread: message.thread_ts ?? message.ts });
  const article = h("article", { class: message.is_ephemeral ? "message private" : "message", "data-ts": message.ts },
    h("div", { class: app ? "face app" : "face", "data-tone": tone(message.user), "aria-hidden": "true" }, app ? "⎈" : name[0]),
    h("div", { class: "said" },
      message.is_ephemeral && h("p", { class: "quiet" }, "Only visible to you"),
      h("p", { class: "who" }, h("strong", {}, name), app && h("span", { class: "badge" }, "APP"),
        h("time", { class: "quiet", title: new Date(message.ts * 1000).toString() }, formatDate(message.ts, "{time}")),
        message.streaming_state === "in_progress" && h("span", { class: "quiet" }, "is being written …"),
        message.edited && h("span", { class: "quiet" }, "(edited)")),
      drawBody(message, pressed),
      message.files && h("ul", { class: "files" }, message.files.map(drawFile)),
      message.reactions && drawReactions(message),
      !inThread && message.reply_count && h("button", { type: "button", class: "replies", onclick: open },
        `${message.reply_count} ${message.reply_count === 1 ? "reply" : "replies"}`,
        h("span", { class: "quiet" }, ` last ${formatDate(message.latest_reply, "{date_short_pretty} {time}")}`))),
    !message.is_ephemeral && message.subtype !== "tombstone" && h("div", { class: "start" },
      !inThread && h("button", { type: "button", class: "icon", "aria-label": "Reply in a thread",
        title: "Reply in a thread", onclick: open }, "💬"),
      drawTools(message)));
  return article;
}

function drawFile(file) {
  if (file.mode === "tombstone") return h("li", {}, h("span", { class: "quiet" }, "This file was deleted"));
  const href = file.mode === "external" ? file.url_private : `/sandbox/files/${file.id}`;
  const about = file.mode === "hosted" ? ` ${file.name} · ${Math.ceil(file.size / 1024)} KB` : " from elsewhere";
  return h("li", {}, h("a", { href, target: "_blank", rel: "noopener" }, `📄 ${file.title || file.name || file.id}`,
    h("span", { class: "quiet" }, about)));
}

const tone = (id) => [...(id ?? "")].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 6;
