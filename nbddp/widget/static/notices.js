// What there is to say beside the numbers, and what one can take along: the script, the numbers as a table.

import { coloured, linked, make, say } from "./elements.js";
import { told, trans } from "./words.js";

export function notices(view, s) {
  const key = JSON.stringify(s.notices);
  if (view.noticed === key) return;
  view.noticed = key;
  const open = new Set([...view.notices.querySelectorAll("details[open]")].map((d) => d.firstChild.textContent));
  view.notices.replaceChildren(...s.notices.map(({ level, text: plain, words, more, behind, page }) => {
    const text = told(words ?? plain);
    const link = linked(page, trans.__("More about this"));
    if (!more) return make("li", { "data-level": level }, text, " ", ...link);
    const details = make("details", {}, make("summary", {}, text), make("pre", { tabindex: 0 }, ...coloured(told(behind ?? more))));
    details.open = level === "error" || open.has(text);
    details.append(...link);
    return make("li", { "data-level": level }, details);
  }));
}

// In JupyterLab a click opens it: the page names its root folder, and opens whatever an element with this data asks for.
export function script(view, s) {
  say(view.script, s.script);
  view.script.onclick = view.actions.open ? (event) => { event.preventDefault(); view.actions.open(s.script); } : null;
  const inside = view.actions.open ? null : inJupyter(s.script);
  if (inside) {
    view.script.dataset.commandlinkerCommand = "docmanager:open";
    view.script.dataset.commandlinkerArgs = JSON.stringify({ path: inside });
  }
  if (inside || view.actions.open) view.script.setAttribute("href", "#");
}

// What trackers have printed, as links; what TensorBoard is to be told, to be copied.
export function links(view, s) {
  const key = JSON.stringify([s.links, s.scalars]);
  if (view.linked === key) return;
  view.linked = key;
  const web = (s.links || []).filter(({ address }) => /^https?:\/\//.test(address));
  const anchors = web.map(({ name, address }) =>
    make("a", { href: address, target: "_blank", rel: "noopener noreferrer", title: address }, name));
  const command = `tensorboard --logdir ${s.scalars}`;
  view.links.replaceChildren(...anchors, ...(s.scalars ? [copier(trans.__("Copy TensorBoard command"), () => command)] : []));
}

// A button that says for a moment whether the clipboard has taken what it gives.
export function copier(text, give) {
  const button = make("button", { type: "button", class: "nd-button" }, text);
  button.addEventListener("click", () => {
    const told = (text) => () => say(button, text);
    navigator.clipboard?.writeText(give()).then(told(trans.__("Copied")), told(trans.__("Not allowed")));
    setTimeout(told(text), 1500);
  });
  button.title = give() ?? "";
  return button;
}

function inJupyter(path) {
  const config = document.getElementById("jupyter-config-data");
  const root = config && JSON.parse(config.textContent).serverRoot;
  return root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
}

// Each number by its measure, axis and place, as curves have them.
export function csv(series) {
  const field = (value) => (/[",\n]/.test(value) ? `"${String(value).replace(/"/g, '""')}"` : String(value));
  const rows = Object.values(series).flatMap(({ name, source, x, points }) => points.map(([at, y]) => [name, source, x, at, y]));
  return [["name", "source", "axis", "at", "value"], ...rows].map((row) => row.map(field).join(",") + "\n").join("");
}

export function saveCsv({ name, series }) {
  const link = make("a", { download: `${name || "run"}.csv`, href: URL.createObjectURL(new Blob([csv(series)], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
