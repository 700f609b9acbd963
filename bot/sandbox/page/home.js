// The app's Home tab.

import { drawBlocks } from "./blocks.js";
import { carry } from "./carry.js";
import { act } from "./doing.js";
import { empty, h } from "./dom.js";
import { read } from "./inputs.js";
import { appName } from "./names.js";
import { sight } from "./sight.js";
import { where } from "./where.js";

export function drawHome(list) {
  const { home } = sight;
  const place = `home ${where.as}`;
  if (list.place === place && list.home === home?.hash && list.firstChild) return;
  const before = list.place === place ? list.querySelector(".home") : null;
  if (!before) empty(list);
  Object.assign(list, { place, home: home?.hash, all: null });
  list.parentElement.querySelector(".jump").hidden = true;
  const page = h("div", { class: "home", tabindex: "-1" });
  const values = () => Object.fromEntries(read(page));
  const spot = {
    click: (element, selected, block_id) => act("click", { view_id: home.id, action_id: element.action_id, block_id, selected, values: values() }),
    suggest: (element, value, block_id) => act("options", { view_id: home.id, action_id: element.action_id, block_id, value, values: values() }),
  };
  page.append(...(home ? drawBlocks(home.blocks, spot) : [h("p", { class: "quiet" }, `${appName()} has published nothing here yet.`)]));
  list.append(page);
  if (before) carry(before, page);
  before?.remove();
  if (!before) list.scrollTop = 0;
}
