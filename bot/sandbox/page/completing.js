// While one types `@na…`: the people and groups whose names begin so.

import { h } from "./dom.js";
import { everybody, everyGroup } from "./names.js";

const TYPED = /(?:^|\s)@([\w-]*)$/;
const AT_MOST = 8;

// Gives a function that takes a key and says whether it was for the list.
export function completing(area) {
  const list = h("ul", { class: "options above", role: "listbox", id: `${area.form.id}-names`, "aria-label": "People", hidden: true });
  area.form.append(list);
  for (const [name, value] of [["aria-controls", list.id], ["aria-autocomplete", "list"]]) area.setAttribute(name, value);

  const close = () => {
    list.hidden = true;
    area.removeAttribute("aria-activedescendant");
  };
  const take = (name) => {
    const end = area.selectionStart;
    const begin = area.value.slice(0, end).lastIndexOf("@");
    area.setRangeText(`@${name} `, begin, end, "end");
    close();
  };
  const mark = (at) => {
    [...list.children].forEach((row, index) => row.setAttribute("aria-selected", String(index === at)));
    area.setAttribute("aria-activedescendant", list.children[at].id);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const look = () => {
    const typed = area.value.slice(0, area.selectionStart).match(TYPED);
    const found = typed ? matching(typed[1].toLowerCase()) : [];
    if (!found.length) return close();
    list.replaceChildren(...found.map((one, at) => h("li", {
      // The field keeps the focus, and a finger that scrolls the list takes nobody.
      role: "option", id: `${list.id}-${at}`, onmousedown: (event) => event.preventDefault(), onclick: () => take(one.name),
    }, one.name, h("span", { class: "quiet" }, ` ${one.about}`))));
    list.hidden = false;
    return mark(0);
  };
  area.addEventListener("input", look);
  area.addEventListener("blur", close);

  return (event) => {
    if (list.hidden) return false;
    const at = [...list.children].findIndex((row) => row.getAttribute("aria-selected") === "true");
    const count = list.children.length;
    if (event.key === "ArrowDown") mark((at + 1) % count);
    else if (event.key === "ArrowUp") mark((at - 1 + count) % count);
    else if (event.key === "Enter" || event.key === "Tab") list.children[at].click();
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
}

// A whole name that is there is taken as typed: Enter then sends.
function matching(typed) {
  const all = [
    ...everybody().filter((user) => !user.deleted).map((user) => ({ name: user.profile.display_name, about: user.about })),
    ...everyGroup().map((group) => ({ name: group.handle, about: group.name })),
  ];
  if (all.some((one) => one.name.toLowerCase() === typed)) return [];
  return all.filter((one) => one.name.toLowerCase().startsWith(typed)).slice(0, AT_MOST);
}
