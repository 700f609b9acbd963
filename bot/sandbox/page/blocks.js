// Block Kit: what a message, a modal or Home is made of. What is not drawn says so.

import { drawAlert, drawCard, drawPlan, drawTask } from "./agents.js";
import { h } from "./dom.js";
import { drawElement } from "./elements.js";
import { drawImage } from "./images.js";
import { drawInput } from "./inputs.js";
import { markdown } from "./markdown.js";
import { link, textOf } from "./mrkdwn.js";
import { drawnOrNot, notDrawn } from "./not_drawn.js";
import { richText } from "./rich.js";
import { drawDataTable, drawTable } from "./tables.js";

// `spot` is where it stands: `click(element, selected, block_id)` is called when somebody uses a
// control, `suggest(element, typed, block_id)` gives an external select its options.
export function drawBlocks(blocks, spot) {
  return blocks.map((block) => drawnOrNot(`block ${block.type}`, () => BLOCKS[block.type]?.(block, spot)));
}

const BLOCKS = {
  header: (block) => h("h3", { class: "b-header" }, textOf(block.text)),
  divider: () => h("hr", { class: "b-divider" }),
  section: drawSection,
  context: (block) => h("div", { class: "b-context" }, block.elements.map((element) =>
    (element.type === "image" ? drawImage(element, "b-icon") : h("span", {}, textOf(element))))),
  actions: drawActions,
  context_actions: drawActions,
  image: (block) => h("figure", { class: "b-image" },
    block.title && h("figcaption", { class: "quiet" }, textOf(block.title)), drawImage(block, "")),
  markdown: (block) => h("div", { class: "b-markdown" }, markdown(block.text)),
  rich_text: (block) => h("div", { class: "b-rich" }, richText(block)),
  input: drawInput,
  table: drawTable,
  data_table: drawDataTable,
  task_card: drawTask,
  plan: drawPlan,
  alert: drawAlert,
  card: drawCard,
  carousel: (block, spot) => h("div", { class: "carousel", tabindex: "0", role: "region", "aria-label": "Cards" },
    block.elements.map((card) => drawCard(card, spot))),
  container: drawContainer,
  video: drawVideo,
};

function drawActions(block, spot) {
  return h("div", { class: "b-actions" }, block.elements.map((one) => drawElement(one, spot, block.block_id)));
}

function drawSection(block, spot) {
  const accessory = block.accessory;
  return h("div", { class: "b-section" },
    h("div", { class: "b-words" },
      block.text && h("div", { class: "b-text" }, textOf(block.text)),
      block.fields && h("div", { class: "b-fields" }, block.fields.map((field) => h("div", {}, textOf(field))))),
    accessory && h("div", { class: "b-accessory" },
      accessory.type === "image" ? drawImage(accessory, "b-thumb") : drawElement(accessory, spot, block.block_id)));
}

function drawContainer(block, spot) {
  const title = [
    block.icon && drawImage(block.icon, "b-icon"),
    block.rich_text_title ? h("span", { class: "b-rich" }, richText(block.rich_text_title)) : h("strong", {}, textOf(block.title)),
    block.subtitle && h("span", { class: "quiet" }, textOf(block.subtitle)),
  ];
  const inside = h("div", { class: "inside" }, drawBlocks(block.child_blocks, spot));
  const is = { class: "b-container", "data-width": block.width ?? "standard" };
  const head = { class: block.has_header_divider ? "head divided" : "head" };
  if (!block.is_collapsible) return h("section", is, h("div", head, title), inside);
  return h("details", { ...is, open: !block.default_collapsed, "data-key": `container ${block.block_id}` }, h("summary", head, title), inside);
}

// The film itself would come from a network: only what stands around it.
function drawVideo(block) {
  return h("figure", { class: "b-video" },
    h("figcaption", {},
      block.provider_name && h("p", { class: "quiet" }, block.provider_name),
      h("strong", {}, block.title_url ? link(block.title_url, textOf(block.title)) : textOf(block.title)),
      block.author_name && h("p", { class: "quiet" }, block.author_name),
      block.description && h("p", {}, textOf(block.description))),
    drawImage({ image_url: block.thumbnail_url, alt_text: block.alt_text }, ""),
    notDrawn("the video itself"));
}
