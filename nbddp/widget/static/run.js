// Draws one run from a snapshot (nbddp/widget/view.py makes it). Plain functions of plain values: the notebook's widget and any
// other page import this same file. Text reaches the page as text nodes only, never as HTML.
// The main function is called "draw", since anywidget takes an export called "render" for its own.

import { charts } from "./charts.js";
import { make, say } from "./elements.js";
import { copier, links, notices, saveCsv, script } from "./notices.js";
import { bars, GRADES, stop, stops } from "./progress.js";
import { followed, log, ranks, walk } from "./ranks.js";
import { duration, grade, known, trans } from "./words.js";

export { panel, plot } from "./chart.js";
export { duration, known, number, told, TRANSLATION } from "./words.js";

const QUIET = 15; // seconds without news after which the page says so
const views = new WeakMap();

// Draws the snapshot into the container, or brings what is drawn there up to date. `actions` may hold stop(grade) and
// open(script); what is not there is not offered.
export function draw(container, snapshot, actions = {}) {
  let view = views.get(container);
  if (!view) views.set(container, (view = build(container)));
  view.actions = actions;
  view.snapshot = snapshot;
  view.heard = Date.now();
  if (snapshot.now) view.skew = Math.min(view.skew, Date.now() / 1000 - snapshot.now);
  update(view);
}

export function remove(container) {
  const view = views.get(container);
  if (!view) return;
  clearInterval(view.timer);
  view.observer.disconnect();
  view.root.remove();
  views.delete(container);
}

// The whole after a piece of news, or the same whole where the news is old or one is missing (nbddp/widget/news.py).
export function merge(whole, news) {
  if (!news || news.n !== whole.n + 1) return whole;
  const series = { ...whole.series };
  for (const [key, { from, points, ...rest }] of Object.entries(news.series)) {
    series[key] = { ...rest, points: from ? series[key].points.slice(0, from).concat(points) : points };
  }
  for (const key of news.gone ?? []) delete series[key];
  const logs = { ...whole.logs };
  for (const [rank, { first, from, lines }] of Object.entries(news.logs)) {
    const old = logs[rank] || { first, lines: [] };
    logs[rank] = { first, lines: old.lines.slice(first - old.first, from - old.first).concat(lines) };
  }
  return { n: news.n, series, logs };
}

function build(container) {
  const view = { skew: Infinity, rank: 0, asked: -1, askedAt: 0, panels: new Map(), shown: null };
  const part = (name, tag = "div", attributes = {}, ...children) =>
    (view[name] = make(tag, { class: `nd-${name}`, ...attributes }, ...children));
  const bar = (name, label) => {
    const fill = make("i");
    const track = make("div", { class: "nd-track", role: "progressbar", "aria-label": label, "aria-valuemin": 0 }, fill);
    view[name] = { what: make("span"), track, fill, rest: make("span") };
    return make("div", { class: "nd-bar" }, view[name].what, track, view[name].rest);
  };
  view.buttons = GRADES.map((name, at) => {
    const [text, title] = grade(name);
    const button = make("button", { type: "button", class: `nd-button nd-${name}`, title }, text);
    button.addEventListener("click", () => stop(view, at));
    return button;
  });
  part("root", "section", { class: "nbddp", role: "group", "data-lm-suppress-shortcuts": "true" },
    make("header", {},
      make("span", { class: "nd-phase" }, part("dot", "i"), part("state", "b", { role: "status", "aria-live": "polite" })),
      part("name", "span"), part("about", "span"),
      part("stops", "span", { role: "group", "aria-label": trans.__("Stop the run") }, ...view.buttons)),
    make("div", { class: "nd-bars" }, bar("whole", trans.__("Training")), bar("inner", trans.__("This epoch"))),
    part("notices", "ul", { "aria-label": trans.__("Notices") }),
    part("charts", "div", {}, part("empty", "p")),
    part("ranks", "div", { role: "tablist", "aria-label": trans.__("Ranks") }),
    part("log", "div", { role: "tabpanel", tabindex: 0, "aria-live": "off" }),
    make("footer", {}, part("script", "a"), (view.copy = copier(trans.__("Copy path"), () => view.snapshot?.script)),
      part("csv", "button", { type: "button", class: "nd-button", title: trans.__("Save the numbers of the charts as a table") }, trans.__("CSV")),
      part("links", "span"), part("hint", "span", { role: "status" })));
  view.csv.addEventListener("click", () => saveCsv(view.snapshot));
  view.ranks.addEventListener("keydown", (event) => walk(view, event));
  container.append(view.root);
  view.log.addEventListener("scroll", ({ target }) => {
    view.follow = target.scrollHeight - target.scrollTop - target.clientHeight < 24;
  });
  view.observer = new ResizeObserver(() => { if (view.snapshot) charts(view); followed(view); });
  view.observer.observe(view.charts);
  view.timer = setInterval(() => view.snapshot && !view.snapshot.over && clock(view), 500);
  return view;
}

function update(view) {
  const s = view.snapshot;
  view.root.setAttribute("aria-label", trans.__("Run %1", s.name));
  say(view.state, known(s.label));
  view.root.dataset.tone = s.tone;
  say(view.name, s.name);
  bars(view, s);
  stops(view, s);
  notices(view, s);
  charts(view);
  view.csv.hidden = !Object.keys(s.series || {}).length;
  ranks(view, s);
  log(view, s);
  script(view, s);
  links(view, s);
  clock(view);
}

// What goes on between two snapshots: the clock, and the time since the last one.
function clock(view) {
  const s = view.snapshot;
  const now = Date.now() / 1000 - view.skew;
  const elapsed = s.started == null ? null : Math.max(0, (s.over ? s.ended ?? now : now) - s.started);
  const count = s.world_size ? trans._n("%1 rank", "%1 ranks", s.world_size) : "";
  say(view.about, [elapsed == null ? "" : duration(elapsed), count, known(s.start && `${s.start} start`)].filter(Boolean).join(" · "));
  const left = s.over || s.eta == null ? null : Math.max(0, s.eta - (now - s.updated));
  say(view.whole.rest, left == null ? "" : trans.__("%1 left", duration(left + 0.9)));
  const quiet = (Date.now() - view.heard) / 1000;
  const waiting = view.asked > GRADES.indexOf(s.stop) && Date.now() - view.askedAt > 3000;
  say(view.hint, s.over ? "" : waiting ? trans.__("The kernel is busy and has not answered. Interrupt the cell to stop the run.")
    : quiet > QUIET ? trans.__("No message from the kernel for %1 s. The run may go on.", Math.round(quiet)) : "");
}

// ---- the widget

// All state is in the model: what a new view, a reloaded page and a second tab draw. Merged news stay in this page's model, and
// are never sent back.
export default {
  initialize({ model }) {
    const take = () => {
      const before = model.get("whole");
      const after = merge(before, model.get("news"));
      if (after !== before) model.set("whole", after);
    };
    model.on("change:news", take);
    take();
  },
  render({ model, el }) {
    let frame = 0;
    const actions = { stop: (grade) => model.send({ type: "stop", grade }) };
    const show = () => {
      frame = 0;
      draw(el, { ...model.get("facts"), ...model.get("whole") }, actions);
    };
    const soon = () => { frame ||= requestAnimationFrame(show); };
    model.on("change:facts", soon);
    model.on("change:whole", soon);
    show();
    return () => { cancelAnimationFrame(frame); remove(el); };
  },
};
