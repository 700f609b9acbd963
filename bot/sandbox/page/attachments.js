// Attachments: what apps of old sent beside their text, and where a link leads.

import { drawBlocks } from "./blocks.js";
import { formatDate } from "./dates.js";
import { h } from "./dom.js";
import { drawImage } from "./images.js";
import { link, mrkdwn, unescape } from "./mrkdwn.js";

const COLOURS = { good: "#2eb67d", warning: "#ecb22e", danger: "#e01e5a" };

export function drawAttachment(attachment, spot) {
  const { title, title_link = attachment.from_url, image_url, thumb_url, fallback } = attachment;
  const inside = attachment.blocks ? drawBlocks(attachment.blocks, spot) : [
    attachment.author_name && h("p", { class: "quiet" }, linked(attachment.author_link, attachment.author_name)),
    title && h("p", {}, h("strong", {}, linked(title_link, unescape(title)))),
    attachment.text && h("div", { class: "b-text" }, mrkdwn(attachment.text)),
    attachment.fields && h("div", { class: "b-fields" }, attachment.fields.map((field) =>
      h("div", {}, h("strong", {}, field.title), "\n", mrkdwn(field.value ?? "")))),
    image_url && drawImage({ image_url, alt_text: fallback ?? title ?? "image" }, ""),
    !title && !attachment.text && !image_url && h("p", {}, fallback ?? ""),
  ];
  const footer = [attachment.footer, attachment.ts && formatDate(attachment.ts, "{date_short} {time}")].filter(Boolean).join(" · ");
  const drawn = h("div", { class: "attachment" },
    attachment.pretext && h("div", { class: "b-text" }, mrkdwn(attachment.pretext)),
    h("div", { class: "barred" },
      h("div", {},
        attachment.service_name && h("p", { class: "quiet" }, attachment.service_name),
        inside,
        footer && h("p", { class: "quiet" }, footer)),
      thumb_url && drawImage({ image_url: thumb_url, alt_text: title ?? "" }, "b-thumb")));
  drawn.querySelector(".barred").style.borderColor = colourOf(attachment.color ?? "") ?? "";
  return drawn;
}

const linked = (url, words) => (url ? link(url, words) : words);

function colourOf(name) {
  return COLOURS[name] ?? (/^#?[0-9a-f]{6}$/i.test(name) ? `#${name.replace("#", "")}` : null);
}
