"""What a page owes those who can't see it well: names, references that lead somewhere, and contrast."""

from __future__ import annotations

import re
from typing import Any, Final

from tests.browser.person import Person

#: Of the accessibility tree, as Chromium calls them: what is operated, and what says where one is.
_OPERATED: Final = frozenset(
    [
        "button",
        "checkbox",
        "combobox",
        "DisclosureTriangle",
        "link",
        "listbox",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "textbox",
        "treeitem",
        "Date",
        "DateTime",
        "InputTime",
    ]
)
_LANDMARKS: Final = frozenset(["complementary", "dialog", "image", "log", "navigation", "region"])
#: WCAG 2.2 AA: of text, and of large text.
_RATIOS: Final = (4.5, 3.0)

_BROKEN: Final = """() => {
  const found = [], ids = new Set();
  for (const one of document.querySelectorAll("[id]")) {
    if (ids.has(one.id)) found.push(`the id ${one.id} stands twice`);
    ids.add(one.id);
  }
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "for"])
    for (const one of document.querySelectorAll(`[${name}]`))
      for (const id of one.getAttribute(name).split(/\\s+/).filter(Boolean))
        if (one.checkVisibility() && !ids.has(id) && !id.endsWith("-hint")) found.push(`${name} leads to no ${id}`);
  for (const one of document.querySelectorAll("[tabindex]"))
    if (one.tabIndex > 0) found.push(`an order of its own for Tab: ${one.outerHTML.slice(0, 80)}`);
  for (const one of document.querySelectorAll("button button, button a, a button, a a"))
    found.push(`a control within another: ${one.outerHTML.slice(0, 80)}`);
  if (!document.documentElement.lang) found.push("the page has no language");
  return found;
}"""

_FAINT: Final = """([normal, large]) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((part, at) => part * top[3] + below[at] * (1 - top[3]));
  const light = (colour) => colour.map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.unshift(read(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const found = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement, words = texts.currentNode.data.trim();
    if (!words || !/[\\p{L}\\p{N}]/u.test(words) || one.closest("[aria-hidden=true], :disabled, noscript, option, script")) continue;
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(one), size = parseFloat(style.fontSize), ground = behind(one);
    const [a, b] = [light(over(read(style.color), ground)), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? large : normal)) found.add(`${ratio.toFixed(2)} of “${words.slice(0, 30)}” (${one.className})`);
  }
  return [...found];
}"""


async def faults_of(person: Person) -> list[str]:
    """Nothing, on a page that all can use."""
    return [*await _nameless(person), *await _run(person, _BROKEN), *await faint(person)]


async def faint(person: Person) -> list[str]:
    """Words that stand out too little from what is behind them."""
    return await _run(person, _FAINT, list(_RATIOS))


async def _run(person: Person, script: str, *given: Any) -> list[str]:
    found: list[str] = await person.page.evaluate(script, *given)
    return found


async def _nameless(person: Person) -> list[str]:
    """What a screen reader can say no more of than what kind it is."""
    asking = await person.page.context.new_cdp_session(person.page)
    tree = (await asking.send("Accessibility.getFullAXTree"))["nodes"]
    found = []
    for node in tree:
        role = node.get("role", {}).get("value")
        if node["ignored"] or role not in _OPERATED | _LANDMARKS:
            continue
        # A mere sign is read as its Unicode name, or not at all.
        if not re.search(r"\w", node.get("name", {}).get("value", "")):
            where = {"backendNodeId": node["backendDOMNodeId"]}
            html = (await asking.send("DOM.getOuterHTML", where))["outerHTML"]
            found.append(f"a {role} has no name: {html[:120]}")
    await asking.detach()
    return found
