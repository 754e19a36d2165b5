// Draws one run from a snapshot (nbddp/widget/view.py makes it). Plain functions of plain values: the notebook's widget and any
// other page import this same file. Text reaches the page as text nodes only, never as HTML.
// The main function is called "draw", since anywidget takes an export called "render" for its own.

const SVG = "http://www.w3.org/2000/svg";
const MOST_PANELS = 6;
const QUIET = 15; // seconds without news after which the page says so
const GRADES = ["epoch", "now", "kill"];
const TONES = { starting: "still", training: "busy", done: "good", failed: "bad", killed: "bad" };
const hue = (at) => `nd-c${at % 6}`;
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

// ---- words

// Every word goes through here, in gettext's manner: the English text is the key, %1, %2 … are values. JupyterLab's extension
// leaves its own translation at the page, for the widgets of notebooks as well; elsewhere it is English.
export const TRANSLATION = Symbol.for("nbddp:translation");
const spoken = (text, values) => text.replace(/%(\d)/g, (_, at) => values[at - 1]);
const ENGLISH = {
  __: (text, ...values) => spoken(text, values),
  _n: (one, many, n, ...values) => spoken(n === 1 ? one : many, [n, ...values]),
};
const trans = {
  __: (...words) => (globalThis[TRANSLATION] ?? ENGLISH).__(...words),
  _n: (...words) => (globalThis[TRANSLATION] ?? ENGLISH)._n(...words),
};

// Fixed words that come with the data (nbddp/widget/view.py): phases of the run and of its ranks, kinds of start, axes.
const words = () => ({
  Starting: trans.__("Starting"), Training: trans.__("Training"), "Finishing this epoch": trans.__("Finishing this epoch"),
  Stopping: trans.__("Stopping"), Done: trans.__("Done"), Failed: trans.__("Failed"), Stopped: trans.__("Stopped"),
  Killed: trans.__("Killed"), Lost: trans.__("Lost"),
  starting: trans.__("starting"), training: trans.__("training"), done: trans.__("done"), failed: trans.__("failed"),
  killed: trans.__("killed"), ended: trans.__("ended"),
  "warm start": trans.__("warm start"), "cold start": trans.__("cold start"),
  step: trans.__("step"), epoch: trans.__("epoch"), line: trans.__("line"), printed: trans.__("printed"),
});
export const known = (word) => words()[word] ?? word ?? "";

// A sentence as nbddp/sentence.py takes it apart: its form, and values that may be sentences as well.
// The places go through the translation as they are, and are filled here: what fills them may have a % of its own.
export const told = (said) => Array.isArray(said)
  ? trans.__(said[0], ...said.map((_, n) => `%${n + 1}`)).replace(/%(\d)/g, (_, n) => told(said[n])) : said;

const grade = (name) => ({
  epoch: [trans.__("Finish epoch"), trans.__("Train to the end of this epoch, then stop; the result comes back")],
  now: [trans.__("Stop now"), trans.__("Stop all processes now; keep the last checkpoint")],
  kill: [trans.__("Kill"), trans.__("Kill all processes at once")],
})[name];

export function duration(seconds) {
  const s = Math.floor(seconds);
  const two = (n) => String(Math.floor(n) % 60).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s)}` : `${Math.floor(s / 3600)}:${two(s / 60)}:${two(s)}`;
}

const pace = (rate) => (rate >= 1 ? trans.__("%1 steps/s", short(rate)) : trans.__("%1 s/step", short(1 / rate)));
const short = (value) => number(Number(value.toPrecision(3)));
const whole = (n) => n.toLocaleString("en");

export function number(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return whole(value);
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e6 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

function bytes(amount) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let at = 0;
  for (; amount >= 1023.5 && at < 3; at++) amount /= 1024;
  return `${amount < 10 && at ? amount.toFixed(1) : Math.round(amount)} ${units[at]}`;
}

// "Epoch 3 of 10", "Epoch 3" where nobody knows of how many, "Epoch" where none has begun.
const epochs = (done, all) => (done == null ? trans.__("Epoch")
  : all ? trans.__("Epoch %1 of %2", whole(done), whole(all)) : trans.__("Epoch %1", whole(done)));
const batches = (done, all) => trans.__("Batch %1 of %2", whole(done), whole(all));
const steps = (done, all) => (!done ? trans.__("Batch")
  : all ? trans.__("Step %1 of %2", whole(done), whole(all)) : trans.__("Step %1", whole(done)));

// ---- elements

function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "circle", "text", "g"].includes(tag);
  const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A text node is only touched when its text changes: screen readers repeat, and selections are lost, otherwise.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
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
    make("footer", {}, part("script", "a"), part("copy", "button", { type: "button", class: "nd-button" }, trans.__("Copy path")),
      part("hint", "span", { role: "status" })));
  view.copy.addEventListener("click", () => {
    const told = (text) => () => say(view.copy, text);
    navigator.clipboard?.writeText(view.snapshot.script).then(told(trans.__("Copied")), told(trans.__("Not allowed")));
    setTimeout(told(trans.__("Copy path")), 1500);
  });
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
  ranks(view, s);
  log(view, s);
  script(view, s);
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

// ---- bars

function bars(view, s) {
  const inner = s.batches && s.batch != null;
  fill(view.whole, epochs(s.epoch == null ? null : s.epoch + 1, s.epochs), s.progress, s);
  fill(view.inner, inner ? batches(s.batch, s.batches) : steps(s.step, s.steps),
    inner ? s.batch / s.batches : s.steps ? s.step / s.steps : s.over ? s.progress : null, s);
  say(view.inner.rest, s.over || !s.rate ? "" : pace(s.rate));
}

function fill(bar, text, share, s) {
  say(bar.what, text);
  const busy = share == null && s.phase === "training";
  bar.track.classList.toggle("nd-unknown", busy);
  bar.fill.style.width = `${busy ? 100 : 100 * Math.min(1, share || 0)}%`;
  bar.track.setAttribute("aria-valuetext", text);
  bar.track.setAttribute("aria-valuemax", 100);
  if (busy) bar.track.removeAttribute("aria-valuenow");
  else bar.track.setAttribute("aria-valuenow", Math.round(100 * (share || 0)));
}

// ---- stopping

function stop(view, at) {
  const button = view.buttons[at];
  if (button.getAttribute("aria-disabled") === "true") return;
  if (GRADES[at] === "kill" && !button.dataset.sure) {
    button.dataset.sure = "1";
    say(button, trans.__("Really kill?"));
    setTimeout(() => { delete button.dataset.sure; say(button, trans.__("Kill")); }, 3000);
    return;
  }
  view.asked = at;
  view.askedAt = Date.now();
  view.actions.stop(GRADES[at]);
  stops(view, view.snapshot);
}

// A grade that has been asked for, and those below it, cannot be asked for again.
function stops(view, s) {
  const asked = Math.max(view.asked, GRADES.indexOf(s.stop));
  view.stops.classList.toggle("nd-gone", s.over || !view.actions.stop);
  view.buttons.forEach((button, at) => {
    button.setAttribute("aria-disabled", String(at <= asked));
    button.setAttribute("aria-pressed", String(at === asked));
  });
}

// ---- notices

function notices(view, s) {
  const key = JSON.stringify(s.notices);
  if (view.noticed === key) return;
  view.noticed = key;
  const open = new Set([...view.notices.querySelectorAll("details[open]")].map((d) => d.firstChild.textContent));
  view.notices.replaceChildren(...s.notices.map(({ level, text: plain, words, more, behind }) => {
    const text = told(words ?? plain);
    if (!more) return make("li", { "data-level": level }, text);
    const details = make("details", {}, make("summary", {}, text), make("pre", { tabindex: 0 }, ...coloured(told(behind ?? more))));
    details.open = level === "error" || open.has(text);
    return make("li", { "data-level": level }, details);
  }));
}

// ---- curves

function grouped(series) {
  const groups = new Map();
  for (const one of Object.values(series)) groups.set(one.panel, [...(groups.get(one.panel) || []), one]);
  return groups;
}

function charts(view) {
  const groups = grouped(view.snapshot.series || {});
  view.empty.hidden = groups.size > 0;
  say(view.empty, view.snapshot.over ? trans.__("No curves: the run reported no numbers.") : trans.__("Curves appear with the first step."));
  let drawn = 0;
  for (const [key, group] of groups) {
    if (drawn++ === MOST_PANELS) break;
    if (!view.panels.has(key)) {
      view.panels.set(key, panel());
      view.charts.append(view.panels.get(key).root);
    }
  }
  for (const [key, one] of view.panels) {
    if (groups.has(key)) plot(one, groups.get(key));
    else { one.root.remove(); view.panels.delete(key); }
  }
}

function panel() {
  const one = { log: false, at: null };
  one.legend = make("figcaption");
  one.toggle = make("button", { type: "button", class: "nd-button", title: trans.__("Logarithmic scale") }, trans.__("log"));
  one.svg = make("svg", { role: "img", tabindex: 0 });
  one.root = make("figure", { class: "nd-panel" }, make("div", {}, one.legend, one.toggle), one.svg);
  const move = (at) => { one.at = at; plot(one, one.group); };
  one.toggle.addEventListener("click", () => { one.log = !one.log; move(one.at); });
  one.svg.addEventListener("pointermove", (event) => {
    const x = event.clientX - one.svg.getBoundingClientRect().left;
    move(nearest(one.group, one.scale.invert(x)));
  });
  one.svg.addEventListener("pointerleave", () => move(null));
  one.svg.addEventListener("blur", () => move(null));
  one.svg.addEventListener("keydown", (event) => {
    const xs = one.group[0].points.map(([x]) => x);
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (by) {
      const place = one.at == null ? (by < 0 ? xs.length : -1) : xs.indexOf(nearest(one.group.slice(0, 1), one.at));
      move(xs[Math.max(0, Math.min(xs.length - 1, place + by))]);
    } else if (event.key === "Escape") move(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return one;
}

function nearest(group, x) {
  let best = null;
  for (const { points } of group) for (const [at] of points) if (best == null || Math.abs(at - x) < Math.abs(best - x)) best = at;
  return best;
}

const LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 20, HEIGHT = 150;

function plot(one, group) {
  const ys = group.flatMap(({ points }) => points.map(([, y]) => y));
  const xs = group.flatMap(({ points }) => points.map(([x]) => x));
  const width = Math.max(160, one.svg.clientWidth || 300);
  const log = one.log && Math.min(...ys) > 0;
  const x = scale(Math.min(...xs), Math.max(...xs), LEFT, width - RIGHT, 0, false);
  const y = scale(Math.min(...ys), Math.max(...ys), HEIGHT - BOTTOM, TOP, 0.06, log);
  Object.assign(one, { group, scale: x });
  one.toggle.setAttribute("aria-pressed", String(log));
  one.toggle.hidden = Math.min(...ys) <= 0;
  one.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  one.svg.setAttribute("aria-label", describe(group));
  const text = (at, down, anchor, words) => make("text", { x: at, y: down, "text-anchor": anchor }, words);
  const grid = y.ticks(4).flatMap((v) => [
    make("line", { x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v) }), text(LEFT - 6, y(v) + 3.5, "end", number(v))]);
  const foot = x.ticks(Math.max(2, Math.floor(width / 90))).filter((v) => v === Math.round(v) || group[0].x === "line");
  const axis = foot.map((v) => text(x(v), HEIGHT - 5, "middle", number(v)));
  const label = text(LEFT - 14, HEIGHT - 5, "end", known(group[0].x));
  one.svg.replaceChildren(make("g", { class: "nd-grid" }, ...grid, ...axis, label),
    ...group.flatMap((s, at) => curve(s, at, x, y)), ...cursor(one, x, y));
  legend(one);
}

function curve({ points }, at, x, y) {
  const path = points.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("");
  const few = points.length <= 20 ? points : points.slice(-1);
  return [make("path", { d: path, class: hue(at) }),
    ...few.map((p) => make("circle", { cx: x(p[0]), cy: y(p[1]), r: 2.5, class: hue(at) }))];
}

function cursor(one, x, y) {
  if (one.at == null) return [];
  return [make("line", { class: "nd-cursor", x1: x(one.at), x2: x(one.at), y1: TOP, y2: HEIGHT - BOTTOM }),
    ...one.group.map((s, at) => {
      const p = at_x(s, one.at);
      return make("circle", { cx: x(p[0]), cy: y(p[1]), r: 4, class: hue(at) });
    })];
}

const at_x = ({ points }, x) => points.reduce((best, p) => (Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best));

function legend(one) {
  const names = one.group.map(({ name }) => name);
  const entries = one.group.map((s, at) => {
    const [, value] = one.at == null ? s.points[s.points.length - 1] : at_x(s, one.at);
    const name = names.indexOf(s.name) === names.lastIndexOf(s.name) ? s.name : `${s.name} (${known(s.source)})`;
    return make("span", {}, make("i", { class: hue(at) }), `${name} `, make("b", {}, number(value)));
  });
  const where = one.at == null ? [] : [make("span", { class: "nd-where" }, `${known(one.group[0].x)} ${number(one.at)}`)];
  one.legend.replaceChildren(...entries, ...where);
}

function describe(group) {
  return group.map(({ name, x, points }) => {
    const ys = points.map(([, y]) => y);
    const values = [ys[ys.length - 1], Math.min(...ys), Math.max(...ys)].map(number);
    return trans.__("%1 by %2: latest %3, lowest %4, highest %5", name, known(x), ...values);
  }).join("; ");
}

// Linear or logarithmic, with room above and below; its ticks are round numbers.
export function scale(low, high, from, to, room, log) {
  const t = log ? Math.log10 : (v) => v;
  let a = t(low), b = t(high);
  if (a === b) { const half = log ? 0.5 : Math.abs(a) * 0.1 || 0.5; a -= half; b += half; }
  const pad = (b - a) * room;
  a -= pad; b += pad;
  const f = (v) => from + ((t(v) - a) / (b - a)) * (to - from);
  f.invert = (at) => { const v = a + ((at - from) / (to - from)) * (b - a); return log ? 10 ** v : v; };
  f.ticks = (count) => (log ? decades(a, b, count) : round(a, b, count));
  return f;
}

// The round step that comes nearest to the count wanted.
function round(a, b, count) {
  const rough = (b - a) / count;
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = base * [1, 2, 5, 10].find((m, i, all) => rough / base < Math.sqrt(m * (all[i + 1] || 20)));
  const ticks = [];
  for (let v = Math.ceil(a / step); v * step <= b + step * 1e-9; v++) ticks.push(Number((v * step).toPrecision(12)));
  return ticks;
}

function decades(a, b, count) {
  const ticks = [];
  for (let e = Math.floor(a); e <= b; e++) for (const m of b - a < 2 ? [1, 2, 5] : [1]) ticks.push(Number((m * 10 ** e).toPrecision(3)));
  const inside = ticks.filter((v) => Math.log10(v) >= a && Math.log10(v) <= b);
  return inside.length > 1 ? inside.filter((_, i) => i % Math.ceil(inside.length / (count + 2)) === 0) : round(10 ** a, 10 ** b, count);
}

// ---- ranks and their logs

function ranks(view, s) {
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
    say(facts, [r.step ? trans.__("step %1", whole(r.step)) : known(r.phase), r.load || (r.memory == null ? "" : bytes(r.memory))].filter(Boolean).join(" · "));
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

function walk(view, event) {
  const all = view.snapshot.ranks.map(({ rank }) => rank);
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -all.length, End: all.length }[event.key];
  if (!by) return;
  select(view, all[Math.max(0, Math.min(all.length - 1, all.indexOf(view.rank) + by))]);
  view.ranks.querySelector('[aria-selected="true"]').focus();
  event.preventDefault();
  event.stopPropagation();
}

// Lines that are there stay: a selection in the log, and where it is scrolled to, outlive new lines.
function log(view, s) {
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
function followed({ log, follow }) {
  if (follow) log.scrollTop = log.scrollHeight;
}

// Text with colour sequences as spans. The eight colours are variables, so that a theme can set them.
export function coloured(text) {
  let style = {};
  return text.split(/\x1b\[([0-9;:]*)m/).map((part, at) => {
    if (at % 2) { style = restyled(style, part.split(/[;:]/).map(Number)); return ""; }
    if (!part || !Object.keys(style).length) return part;
    const span = make("span", {}, part);
    Object.assign(span.style, style);
    return span;
  });
}

const STYLES = { 1: ["fontWeight", "700"], 2: ["opacity", "0.7"], 3: ["fontStyle", "italic"], 4: ["textDecoration", "underline"] };
const BACK = { 22: ["fontWeight", "opacity"], 23: ["fontStyle"], 24: ["textDecoration"], 39: ["color"], 49: ["backgroundColor"] };

function restyled(style, codes) {
  let after = { ...style };
  while (codes.length) {
    const code = codes.shift();
    const what = Math.floor(code / 10) % 2 ? "color" : "backgroundColor"; // 30s and 90s; 40s and 100s
    if (code === 0) after = {};
    else if (STYLES[code]) after[STYLES[code][0]] = STYLES[code][1];
    else if (BACK[code]) for (const name of BACK[code]) delete after[name];
    else if (code === 38 || code === 48) after[what] = indexed(codes);
    else if ((code >= 30 && code < 48) || (code >= 90 && code < 108)) after[what] = ansi(code % 10, what);
  }
  return after;
}

const ansi = (n, what) => (what === "color" ? `var(--nd-a${n})` : `color-mix(in srgb, var(--nd-a${n}) 35%, transparent)`);

function indexed(codes) {
  if (codes.shift() === 2) return `rgb(${codes.splice(0, 3).join(" ")})`;
  const n = codes.shift() ?? 0;
  if (n < 16) return ansi(n % 8, "color");
  if (n >= 232) return `rgb(${Array(3).fill(8 + (n - 232) * 10).join(" ")})`;
  const level = (v) => (v % 6 ? 55 + 40 * (v % 6) : 0);
  return `rgb(${[36, 6, 1].map((by) => level(Math.floor((n - 16) / by))).join(" ")})`;
}

// ---- script

// In JupyterLab a click opens it: the page names its root folder, and opens whatever an element with this data asks for.
function script(view, s) {
  say(view.script, s.script);
  view.script.onclick = view.actions.open ? (event) => { event.preventDefault(); view.actions.open(s.script); } : null;
  const inside = view.actions.open ? null : inJupyter(s.script);
  if (inside) {
    view.script.dataset.commandlinkerCommand = "docmanager:open";
    view.script.dataset.commandlinkerArgs = JSON.stringify({ path: inside });
  }
  if (inside || view.actions.open) view.script.setAttribute("href", "#");
}

function inJupyter(path) {
  const config = document.getElementById("jupyter-config-data");
  const root = config && JSON.parse(config.textContent).serverRoot;
  return root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
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
