// Block Kit, as far as it is drawn here. What is not drawn says so.

import { h } from "./dom.js";
import { emoji, formatDate, link, mention, mrkdwn, textOf } from "./mrkdwn.js";

// `act(element, selected, block_id)` is called when somebody uses a control.
export function drawBlocks(blocks, act) {
  return blocks.map((block) => drawBlock(block, act));
}

export function notDrawn(what) {
  return h("div", { class: "not-drawn" }, `${what}: not drawn by the sandbox`);
}

function drawBlock(block, act) {
  const draw = BLOCKS[block.type];
  // Blocks may share an action id; of blocks within this one the inner id counts.
  const here = (element, selected, id = block.block_id) => act(element, selected, id);
  return draw ? draw(block, here) : notDrawn(`Block “${block.type}”`);
}

const BLOCKS = {
  header: (block) => h("h3", { class: "b-header" }, textOf(block.text)),
  divider: () => h("hr", { class: "b-divider" }),
  section: (block, act) => h(
    "div", { class: "b-section" },
    h("div", { class: "b-words" },
      block.text && h("div", { class: "b-text" }, textOf(block.text)),
      block.fields && h("div", { class: "b-fields" }, block.fields.map((field) => h("div", {}, textOf(field)))),
    ),
    block.accessory && drawElement(block.accessory, act),
  ),
  context: (block) => h("div", { class: "b-context" }, block.elements.map((element) =>
    element.type === "image" ? drawImage(element, "b-icon") : h("span", {}, textOf(element)))),
  actions: (block, act) => h("div", { class: "b-actions" }, block.elements.map((one) => drawElement(one, act))),
  image: (block) => h("figure", { class: "b-image" },
    block.title && h("figcaption", {}, textOf(block.title)), drawImage(block, "")),
  markdown: (block) => h("div", { class: "b-markdown" }, block.text),
  rich_text: (block) => h("div", { class: "b-rich" }, block.elements.map(drawRich)),
  task_card: (block) => h("div", { class: "b-task" }, h("span", { "aria-label": block.status ?? "pending" },
    { in_progress: "▶︎", complete: "✓", error: "✗" }[block.status] ?? "…"), ` ${block.title}`,
    [block.details, block.output].map((more) => more && drawBlock(more))),
  container: (block, act) => h(
    "details", { class: "b-container", open: !(block.is_collapsible && block.default_collapsed) },
    h("summary", {}, block.title ? textOf(block.title) : "More"),
    drawBlocks(block.child_blocks, act),
  ),
};

function drawImage(image, css) {
  return image.image_url
    ? h("img", { src: image.image_url, alt: image.alt_text, class: css, referrerpolicy: "no-referrer" })
    : h("span", { class: "quiet" }, `[${image.alt_text}]`);
}

const ELEMENTS = {
  button: (element, act) => {
    const css = `button ${element.style ?? ""}`;
    const press = () => confirmed(element, () => act(element));
    const button = h("button", { type: "button", class: css, onclick: press,
      "aria-label": element.accessibility_label }, textOf(element.text));
    if (!element.url) return button;
    return h("a", { class: css, href: element.url, target: "_blank", rel: "noopener noreferrer",
      onclick: () => act(element) }, textOf(element.text));
  },
  overflow: (element, act) => {
    const details = h("details", { class: "overflow" },
      h("summary", { class: "button", "aria-label": "More" }, "⋯"));
    const choose = (option) => () => {
      details.open = false;
      confirmed(element, () => act(element, option.value));
    };
    const menu = h("div", { class: "menu" }, element.options.map((option) =>
      h("button", { type: "button", onclick: choose(option) }, textOf(option.text),
        option.description && h("small", {}, textOf(option.description)))));
    details.append(menu);
    details.addEventListener("toggle", () => details.open && bringIntoSight(menu));
    details.addEventListener("focusout", (event) => {
      if (!details.contains(event.relatedTarget)) setTimeout(() => { details.open = false; }, 150);
    });
    details.addEventListener("keydown", (event) => {
      if (event.key === "Escape") details.open = false;
    });
    return details;
  },
  static_select: (element, act) => {
    const options = element.options ?? element.option_groups.flatMap((group) => group.options);
    const select = h("select", { class: "button", "aria-label": element.placeholder?.text ?? "Choose" },
      h("option", { value: "" }, element.placeholder ? textOf(element.placeholder) : "Choose"),
      options.map((option) => h("option", { value: option.value,
        selected: option.value === element.initial_option?.value }, textOf(option.text))));
    select.addEventListener("change", () => select.value && act(element, select.value));
    return select;
  },
  datepicker: (element, act) => h("input", { type: "date", class: "button", value: element.initial_date ?? "",
    "aria-label": element.placeholder?.text ?? "Date", onchange: (event) => act(element, event.target.value) }),
  checkboxes: (element, act) => choices(element, act, "checkbox"),
  radio_buttons: (element, act) => choices(element, act, "radio"),
  image: (element) => drawImage(element, "b-thumb"),
};

// Above its button where there is room, else below; and never beyond the edge of a narrow screen.
function bringIntoSight(menu) {
  menu.classList.remove("below");
  menu.style.translate = "";
  const top = menu.closest(".messages, .modal-body")?.getBoundingClientRect().top ?? 0;
  const box = menu.getBoundingClientRect();
  menu.classList.toggle("below", box.top < top);
  const aside = Math.max(8 - box.left, Math.min(0, document.documentElement.clientWidth - 8 - box.right));
  if (aside) menu.style.translate = `${aside}px 0`;
}

export function drawElement(element, act) {
  const draw = ELEMENTS[element.type];
  return draw ? draw(element, act) : notDrawn(`Element “${element.type}”`);
}

let groups = 0;

function choices(element, act, type) {
  // Of one name are those of which one is chosen; other messages may have the same action id.
  const name = `choices-${groups += 1}`;
  const initial = (element.initial_options ?? [element.initial_option]).filter(Boolean).map((one) => one.value);
  const group = h("div", { class: "choices" });
  const changed = () => {
    const chosen = [...group.querySelectorAll("input:checked")].map((one) => one.value);
    act(element, type === "radio" ? chosen[0] : chosen);
  };
  group.append(...element.options.map((option) => h("label", {},
    h("input", { type, name, value: option.value, onchange: changed,
      checked: initial.includes(option.value) }), " ", textOf(option.text))));
  return group;
}

// Ask first where the element says so.
function confirmed(element, go) {
  if (!element.confirm) return go();
  const { title, text, confirm, deny, style } = element.confirm;
  const dialog = document.getElementById("confirm");
  const close = (then) => () => { dialog.close(); then?.(); };
  dialog.replaceChildren(
    h("h2", { id: "confirm-title" }, textOf(title)), h("p", {}, textOf(text)),
    h("footer", {},
      h("button", { type: "button", class: "button", onclick: close() }, textOf(deny)),
      h("button", { type: "button", class: `button ${style ?? "primary"}`, onclick: close(go) }, textOf(confirm))),
  );
  dialog.showModal();
}

const RICH = {
  rich_text_section: (part) => h("div", {}, part.elements.map(drawRichElement)),
  rich_text_preformatted: (part) => h("pre", {}, part.elements.map(drawRichElement)),
  rich_text_quote: (part) => h("blockquote", {}, part.elements.map(drawRichElement)),
  rich_text_list: (part) => h(part.style === "ordered" ? "ol" : "ul", {},
    part.elements.map((item) => h("li", {}, item.elements.map(drawRichElement)))),
};

function drawRich(part) {
  return (RICH[part.type] ?? ((one) => notDrawn(`Rich text “${one.type}”`)))(part);
}

function drawRichElement(element) {
  switch (element.type) {
    case "text": return styled(element.text, element.style);
    case "link": return link(element.url, element.text);
    case "user": return mention("user", element.user_id);
    case "usergroup": return mention("group", element.usergroup_id);
    case "channel": return mention("channel", element.channel_id);
    case "broadcast": return h("span", { class: "mention" }, `@${element.range}`);
    case "emoji": return document.createTextNode(emoji(element.name));
    case "date": return h("time", {}, formatDate(element.timestamp, element.format, element.fallback));
    default: return notDrawn(element.type);
  }
}

function styled(text, style = {}) {
  const wraps = { code: "code", strike: "s", italic: "em", bold: "strong" };
  let node = document.createTextNode(text);
  for (const [name, tag] of Object.entries(wraps)) if (style[name]) node = h(tag, {}, node);
  return node;
}

// The body of a message: its blocks, else its text.
export function drawBody(message, act) {
  const blocks = message.blocks ?? [];
  if (message.bot_id && blocks.length) return drawBlocks(blocks, act);
  const parts = [h("div", { class: "b-text" }, mrkdwn(message.text ?? ""))];
  if (message.attachments?.length) parts.push(notDrawn("Attachments"));
  return parts;
}
