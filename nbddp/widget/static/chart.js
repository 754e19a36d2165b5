// One chart: curves of one measure over one axis, with their values by pointer and by keys.

import { make, say } from "./elements.js";
import { nearest, pointAt, scale, smoothed } from "./scale.js";
import { known, number, trans } from "./words.js";

const LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 20, HEIGHT = 150, LARGE = 360;
const FEW = 20; // points, each of which is drawn as a dot; fewer are not smoothed
const hue = (at) => `nd-c${at % 6}`;

export function panel() {
  const one = { at: null, hidden: new Set(), tools: {}, entries: [] };
  const again = () => plot(one, one.group);
  const tool = (name, text, title) => {
    one[name] = false;
    one.tools[name] = make("button", { type: "button", class: "nd-button", title, "aria-label": title }, text);
    one.tools[name].addEventListener("click", () => { one[name] = !one[name]; again(); });
    return one.tools[name];
  };
  one.again = again;
  one.legend = make("figcaption");
  one.where = make("span", { class: "nd-where" });
  one.svg = make("svg", { role: "img", tabindex: 0 });
  one.root = make("figure", { class: "nd-panel" },
    make("div", {}, one.legend, tool("smooth", "∿", trans.__("Smooth the curves")),
      tool("log", "log", trans.__("Logarithmic scale")), tool("large", "⤢", trans.__("Enlarge the chart"))),
    one.svg);
  const move = (at) => { one.at = at; again(); };
  one.svg.addEventListener("pointermove", (event) => {
    const x = event.clientX - one.svg.getBoundingClientRect().left;
    move(nearest(shown(one), one.scale.invert(x)));
  });
  one.svg.addEventListener("pointerleave", () => move(null));
  one.svg.addEventListener("blur", () => move(null));
  one.svg.addEventListener("keydown", (event) => byKey(one, event, move));
  return one;
}

function byKey(one, event, move) {
  const xs = shown(one)[0].points.map(([x]) => x);
  const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (by) {
    const place = one.at == null ? (by < 0 ? xs.length : -1) : xs.indexOf(nearest(shown(one).slice(0, 1), one.at));
    move(xs[Math.max(0, Math.min(xs.length - 1, place + by))]);
  } else if (event.key === "Escape") move(null);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

// The curves that are not hidden; were all of them hidden, the axes would have nothing to go by.
function shown(one) {
  const left = one.group.filter((_, at) => !one.hidden.has(at));
  return left.length ? left : one.group;
}

export function plot(one, group) {
  one.group = group;
  const curves = shown(one);
  const ys = curves.flatMap(({ points }) => points.map(([, y]) => y));
  const xs = curves.flatMap(({ points }) => points.map(([x]) => x));
  const positive = Math.min(...ys) > 0, many = curves.some(({ points }) => points.length > FEW);
  one.root.classList.toggle("nd-large", one.large);
  const width = Math.max(160, one.svg.clientWidth || 300), height = one.large ? LARGE : HEIGHT;
  const x = scale(Math.min(...xs), Math.max(...xs), LEFT, width - RIGHT, 0, false);
  const y = scale(Math.min(...ys), Math.max(...ys), height - BOTTOM, TOP, 0.06, one.log && positive);
  one.scale = x;
  for (const [name, button] of Object.entries(one.tools)) button.setAttribute("aria-pressed", String(one[name]));
  one.tools.log.hidden = !positive;
  one.tools.smooth.hidden = !many;
  one.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  one.svg.setAttribute("aria-label", describe(curves));
  one.svg.replaceChildren(axes(group[0], x, y, width, height),
    ...curves.flatMap((s) => curve(s, group.indexOf(s), x, y, one.smooth && s.points.length > FEW)),
    ...cursor(one, x, y, height));
  legend(one);
}

function axes(first, x, y, width, height) {
  const text = (at, down, anchor, words) => make("text", { x: at, y: down, "text-anchor": anchor }, words);
  const grid = y.ticks(4).flatMap((v) => [
    make("line", { x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v) }), text(LEFT - 6, y(v) + 3.5, "end", number(v))]);
  const foot = x.ticks(Math.max(2, Math.floor(width / 90))).filter((v) => v === Math.round(v) || first.x === "line");
  const axis = foot.map((v) => text(x(v), height - 5, "middle", number(v)));
  return make("g", { class: "nd-grid" }, ...grid, ...axis, text(LEFT - 14, height - 5, "end", known(first.x)));
}

function curve({ points }, at, x, y, smooth) {
  const path = (points) => points.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("");
  const few = points.length <= FEW ? points : points.slice(-1);
  return [make("path", { d: path(points), class: smooth ? `${hue(at)} nd-raw` : hue(at) }),
    ...(smooth ? [make("path", { d: path(smoothed(points)), class: hue(at) })] : []),
    ...few.map((p) => make("circle", { cx: x(p[0]), cy: y(p[1]), r: 2.5, class: hue(at) }))];
}

function cursor(one, x, y, height) {
  if (one.at == null) return [];
  return [make("line", { class: "nd-cursor", x1: x(one.at), x2: x(one.at), y1: TOP, y2: height - BOTTOM }),
    ...shown(one).map((s) => {
      const p = pointAt(s, one.at);
      return make("circle", { cx: x(p[0]), cy: y(p[1]), r: 4, class: hue(one.group.indexOf(s)) });
    })];
}

// Buttons that hide a curve and show it again; they stay, so that no click is lost while the run goes on.
function legend(one) {
  const { group, entries } = one;
  while (entries.length > group.length) entries.pop().root.remove();
  while (entries.length < group.length) entries.push(entry(one, entries.length));
  const names = group.map(({ name }) => name), alone = group.length === 1;
  group.forEach((s, at) => {
    const { root, name, value } = entries[at];
    say(name, `${names.indexOf(s.name) === names.lastIndexOf(s.name) ? s.name : `${s.name} (${known(s.source)})`} `);
    say(value, number((one.at == null ? s.points[s.points.length - 1] : pointAt(s, one.at))[1]));
    root.setAttribute("aria-pressed", String(!one.hidden.has(at)));
    root.disabled = alone;
  });
  say(one.where, one.at == null ? "" : `${known(group[0].x)} ${number(one.at)}`);
  one.legend.append(...(one.where.parentNode === one.legend && one.where === one.legend.lastChild ? [] : [one.where]));
}

function entry(one, at) {
  const name = make("span"), value = make("b");
  const root = make("button", { type: "button", class: "nd-series", title: trans.__("Show or hide this curve") },
    make("i", { class: hue(at) }), name, value);
  root.addEventListener("click", () => {
    one.hidden.delete(at) || one.hidden.add(at);
    one.again();
  });
  one.legend.append(root);
  return { root, name, value };
}

function describe(group) {
  return group.map(({ name, x, points }) => {
    const ys = points.map(([, y]) => y);
    const values = [ys[ys.length - 1], Math.min(...ys), Math.max(...ys)].map(number);
    return trans.__("%1 by %2: latest %3, lowest %4, highest %5", name, known(x), ...values);
  }).join("; ");
}
