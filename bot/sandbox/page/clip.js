// Files that are put beside a message before it is sent.

import { toast } from "./doing.js";
import { h } from "./dom.js";

// Of what one request to the sandbox holds, in base64.
const BYTES_AT_MOST = 2_500_000;

// What a form has of it: `take()` gives the files as the sandbox wants them, and forgets them.
export function clip(form) {
  let files = [];
  const input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1" });
  const names = h("ul", { class: "clipped", "aria-label": "Files to be sent" });
  const draw = () => {
    names.hidden = files.length === 0;
    names.replaceChildren(...files.map((file) => h("li", {}, `📄 ${file.name} `, h("button", {
      type: "button", class: "icon", "aria-label": `Leave out ${file.name}`,
      onclick: () => { files = files.filter((one) => one !== file); draw(); },
    }, "✕"))));
  };
  const add = (more) => {
    const all = [...files, ...more];
    if (all.reduce((sum, file) => sum + file.size, 0) > BYTES_AT_MOST) toast("This page takes 2.5 MB of files at once.");
    else files = all;
    draw();
  };
  input.addEventListener("change", () => { add(input.files); input.value = ""; });
  form.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) add(event.clipboardData.files);
  });
  const pane = form.parentElement;
  pane.addEventListener("dragover", (event) => event.preventDefault());
  pane.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!form.hidden) add(event.dataTransfer.files);
  });
  form.prepend(input, h("button", {
    type: "button", class: "icon", "aria-label": "Attach files", title: "Attach files", onclick: () => input.click(),
  }, "📎"));
  form.before(names);
  draw();
  return {
    any: () => files.length > 0,
    take: async () => {
      const taken = files;
      files = [];
      draw();
      return Promise.all(taken.map(read));
    },
  };
}

function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve({
      name: file.name, content_base64: reader.result.slice(reader.result.indexOf(",") + 1),
      ...(file.type && { mimetype: file.type }),
    }));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
