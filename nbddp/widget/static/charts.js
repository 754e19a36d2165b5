// The charts of a run: one for each measure, in the order of the curves.

import { panel, plot } from "./chart.js";
import { say } from "./elements.js";
import { columns } from "./scale.js";
import { trans } from "./words.js";

const MOST_PANELS = 8;

// The keys of an object may have been sorted on the way, by a notebook that was saved.
function grouped(series) {
  const groups = new Map();
  const ordered = Object.values(series).sort((one, other) => (one.at ?? 0) - (other.at ?? 0));
  for (const one of ordered) groups.set(one.panel, [...(groups.get(one.panel) || []), one]);
  return new Map([...groups].slice(0, MOST_PANELS));
}

export function charts(view) {
  const groups = grouped(view.snapshot.series || {});
  view.empty.hidden = groups.size > 0;
  say(view.empty, view.snapshot.over ? trans.__("No curves: the run reported no numbers.") : trans.__("Curves appear with the first step."));
  for (const [key, one] of view.panels) {
    if (!groups.has(key)) { one.root.remove(); view.panels.delete(key); }
  }
  view.charts.style.setProperty("--nd-columns", columns(groups.size || 1, view.charts.clientWidth || 900));
  let before = view.empty;
  for (const [key, group] of groups) {
    if (!view.panels.has(key)) view.panels.set(key, panel());
    const one = view.panels.get(key);
    if (before.nextSibling !== one.root) before.after(one.root);
    before = one.root;
    plot(one, group);
  }
}
