// The two tables of Block Kit.

import { h } from "./dom.js";
import { richText } from "./rich.js";

const drawn = (cell) => (cell.type === "rich_text" ? richText(cell) : cell.text);

function framed(label, ...inside) {
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": label }, ...inside);
}

export function drawTable(block) {
  const cell = (tag) => (one, at) => {
    const setting = block.column_settings?.[at] ?? {};
    return h(tag, { "data-side": setting.align, class: setting.is_wrapped === false ? "unwrapped" : null,
      scope: tag === "th" ? "col" : null }, drawn(one));
  };
  const [head, ...rows] = block.rows;
  return framed("Table", h("table", {},
    h("thead", {}, h("tr", {}, head.map(cell("th")))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell("td")))))));
}

export function drawDataTable(block) {
  const [head, ...rows] = block.rows;
  const size = block.page_size ?? rows.length;
  const pages = Math.ceil(rows.length / size);
  const named = block.row_header_column_index ?? -1;
  const body = h("tbody", {});
  const where = h("span", { role: "status" });
  const back = h("button", { type: "button", class: "button", "data-key": `${block.block_id} back` }, "Previous");
  const on = h("button", { type: "button", class: "button", "data-key": `${block.block_id} on` }, "Next");
  const cell = (one, at) => h(at === named ? "th" : "td", { scope: at === named ? "row" : null,
    "data-side": one.type === "raw_number" ? "right" : null }, drawn(one));
  let page = 0;
  const turn = (to) => {
    page = to;
    body.replaceChildren(...rows.slice(page * size, (page + 1) * size).map((row) => h("tr", {}, row.map(cell))));
    where.textContent = `${page * size + 1}–${Math.min((page + 1) * size, rows.length)} of ${rows.length}`;
    Object.assign(back, { disabled: page === 0 });
    Object.assign(on, { disabled: page === pages - 1 });
  };
  back.addEventListener("click", () => turn(page - 1));
  on.addEventListener("click", () => turn(page + 1));
  turn(0);
  const table = framed(block.caption, h("table", {}, h("caption", {}, block.caption),
    h("thead", {}, h("tr", {}, head.map((one) => h("th", { scope: "col" }, drawn(one))))), body));
  return pages > 1 ? h("div", {}, table, h("div", { class: "b-actions quiet" }, back, on, where)) : table;
}
