// Numbers on an axis, and between points.

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

// A running mean in which a point counts less the older it is; over a fifteenth of the curve, about.
export function smoothed(points) {
  const keep = 1 - 1 / Math.max(2, points.length / 15);
  let sum = 0, weight = 0;
  return points.map(([x, y]) => {
    sum = keep * sum + y;
    weight = keep * weight + 1;
    return [x, sum / weight];
  });
}

export function nearest(group, x) {
  let best = null;
  for (const { points } of group) for (const [at] of points) if (best == null || Math.abs(at - x) < Math.abs(best - x)) best = at;
  return best;
}

export const pointAt = ({ points }, x) => points.reduce((best, p) => (Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best));

// How many charts a row has, so that rows are as even as can be and none has a hole.
export function columns(count, width) {
  const most = Math.max(1, Math.floor((width + 18) / 238));
  return Math.ceil(count / Math.ceil(count / most));
}
