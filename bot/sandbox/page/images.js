// Images from elsewhere. What can't be fetched is named by its alternative text.

import { h } from "./dom.js";

export function drawImage(image, css) {
  const missing = () => h("span", { class: "no-image", title: image.image_url ?? "a file of Slack's" }, `🖼 ${image.alt_text}`);
  if (!image.image_url) return missing();
  const drawn = h("img", { src: image.image_url, alt: image.alt_text, class: css, loading: "lazy", referrerpolicy: "no-referrer" });
  drawn.addEventListener("error", () => drawn.replaceWith(missing()), { once: true });
  return drawn;
}
