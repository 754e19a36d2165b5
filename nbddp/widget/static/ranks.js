// A tab for each rank, and the log of the chosen one.

import { coloured, make, say } from "./elements.js";
import { bytes, known, samples, trans, whole } from "./words.js";

const TONES = { starting: "still", training: "busy", done: "good", failed: "bad", killed: "bad" };

export function ranks(view, s) {
  if (!s.ranks.some(({ rank }) => rank === view.rank)) view.rank = s.ranks[0]?.rank ?? 0;
  while (view.ranks.children.length > s.ranks.length) view.ranks.lastChild.remove();
  s.ranks.forEach((r, at) => {
    const chip = view.ranks.children[at] || view.ranks.appendChild(chipOf(view));
    const [head, facts, line] = chip.children;
    chip.dataset.rank = r.rank;
    chip.dataset.tone = TONES[r.phase] || "still";
    chip.title = [r.device_name, r.line].filter(Boolean).join("\n");
    chip.setAttribute("aria-selected", String(r.rank === view.rank));
    chip.tabIndex = r.rank === view.rank ? 0 : -1;
    say(head.children[1], trans.__("Rank %1", r.rank));
    say(head.children[2], r.device);
    say(facts, [r.step ? trans.__("step %1", whole(r.step)) : known(r.phase), r.samples_rate ? samples(r.samples_rate) : "", r.load || (r.memory == null ? "" : bytes(r.memory))].filter(Boolean).join(" · "));
    say(line, r.line);
  });
}

function chipOf(view) {
  const chip = make("button", { type: "button", role: "tab", class: "nd-rank" },
    make("span", {}, make("i"), make("b"), make("small")), make("span"), make("code"));
  chip.addEventListener("click", () => select(view, Number(chip.dataset.rank)));
  return chip;
}

function select(view, rank) {
  view.rank = rank;
  ranks(view, view.snapshot);
  log(view, view.snapshot);
}

export function walk(view, event) {
  const all = view.snapshot.ranks.map(({ rank }) => rank);
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -all.length, End: all.length }[event.key];
  if (!by) return;
  select(view, all[Math.max(0, Math.min(all.length - 1, all.indexOf(view.rank) + by))]);
  view.ranks.querySelector('[aria-selected="true"]').focus();
  event.preventDefault();
  event.stopPropagation();
}

// Lines that are there stay: a selection in the log, and where it is scrolled to, outlive new lines.
export function log(view, s) {
  const { first, lines } = s.logs?.[view.rank] || { first: 0, lines: [] };
  const box = view.log;
  if (!view.shown || view.shown.rank !== view.rank || first < view.shown.first) {
    box.replaceChildren();
    view.follow = true;
    view.shown = { rank: view.rank, first, lines: [] };
    box.setAttribute("aria-label", trans.__("Log of rank %1", view.rank));
  }
  const old = view.shown;
  for (; old.first < first && old.lines.length; old.first++, old.lines.shift()) box.firstChild.remove();
  lines.forEach((text, at) => {
    if (old.lines[at] === text) return;
    const line = make("div", {}, ...coloured(text));
    if (at < box.children.length) box.children[at].replaceWith(line);
    else box.append(line);
  });
  while (box.children.length > lines.length) box.lastChild.remove();
  Object.assign(old, { first, lines: [...lines] });
  followed(view);
}

// The end of the log stays in sight, unless its reader has gone elsewhere.
export function followed({ log, follow }) {
  if (follow) log.scrollTop = log.scrollHeight;
}
