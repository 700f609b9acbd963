// Files below a message: a picture, or the beginning of what is in them; and a way to have them.

import { h } from "./dom.js";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const SHOWN = 2000;

export function drawFiles(message) {
  return h("ul", { class: "files", "aria-label": "Files" }, message.files.map((file) => h("li", {}, drawFile(file))));
}

function drawFile(file) {
  if (file.mode === "tombstone") return h("span", { class: "quiet" }, "This file was deleted");
  const name = file.title || file.name || file.id;
  if (file.mode === "external") {
    return h("div", { class: "file" }, h("a", { href: file.url_private, target: "_blank", rel: "noopener noreferrer" }, `📄 ${name}`),
      h("span", { class: "quiet" }, "from elsewhere"));
  }
  const href = `/sandbox/files/${file.id}`;
  return h("div", { class: "file" },
    h("a", { href, target: "_blank", rel: "noopener" }, `📄 ${name}`),
    h("span", { class: "quiet" }, `${file.title && file.title !== file.name ? `${file.name} · ` : ""}${sizeOf(file.size)}`),
    h("a", { class: "button bare", href, download: file.name, "aria-label": `Download ${name}`, title: "Download" }, "⤓"),
    IMAGES.includes(file.mimetype) ? drawPicture(href, file, name) : isText(file) && drawText(href, file));
}

const isText = (file) => /^text\/|json|xml|yaml|csv|javascript/.test(file.mimetype);
const sizeOf = (bytes) => (bytes < 1024 ? `${bytes} bytes` : `${Math.ceil(bytes / 1024)} KB`);

// The sandbox hands everything out as plain text, so that nothing in it can run: so by way of its bytes.
function drawPicture(href, file, name) {
  const picture = h("img", { alt: file.alt_txt || name, class: "preview" });
  fetch(href).then((response) => response.blob()).then((bytes) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => { picture.src = reader.result; });
    reader.readAsDataURL(bytes.slice(0, bytes.size, file.mimetype));
  }).catch(() => picture.remove());
  return picture;
}

function drawText(href, file) {
  const text = h("pre", {}, "…");
  const details = h("details", { class: "preview", "data-key": `file ${file.id}` }, h("summary", {}, "Show what is in it"), text);
  details.addEventListener("toggle", async () => {
    if (!details.open || details.asked) return;
    details.asked = true;
    try {
      const all = await (await fetch(href)).text();
      text.textContent = all.length > SHOWN ? `${all.slice(0, SHOWN)}\n…` : all;
    } catch {
      text.textContent = "The sandbox does not answer.";
    }
  });
  return details;
}
