// Elements of the page. Text reaches it as text nodes only, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "circle", "text", "g"].includes(tag);
  const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A saved notebook may name any address: one that would run something is none.
export function linked(address, text) {
  const leads = /^(https?|file):\/\//.test(address ?? "");
  return leads ? [make("a", { href: address, target: "_blank", rel: "noopener" }, text)] : [];
}

// A text node is only touched when its text changes: screen readers repeat, and selections are lost, otherwise.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
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
