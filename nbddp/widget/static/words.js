// What is said on the page, and how numbers are.

// Every word goes through here, in gettext's manner: the English text is the key, %1, %2 … are values. JupyterLab's extension
// leaves its own translation at the page, for the widgets of notebooks as well; elsewhere it is English.
export const TRANSLATION = Symbol.for("nbddp:translation");
const spoken = (text, values) => text.replace(/%(\d)/g, (_, at) => values[at - 1]);
const ENGLISH = {
  __: (text, ...values) => spoken(text, values),
  _n: (one, many, n, ...values) => spoken(n === 1 ? one : many, [n, ...values]),
};
export const trans = {
  __: (...words) => (globalThis[TRANSLATION] ?? ENGLISH).__(...words),
  _n: (...words) => (globalThis[TRANSLATION] ?? ENGLISH)._n(...words),
};

// Fixed words that come with the data (nbddp/widget/view.py): phases of the run and of its ranks, kinds of start, axes.
const words = () => ({
  Queued: trans.__("Queued"), Starting: trans.__("Starting"), Training: trans.__("Training"), "Finishing this epoch": trans.__("Finishing this epoch"),
  Stopping: trans.__("Stopping"), Done: trans.__("Done"), Failed: trans.__("Failed"), Stopped: trans.__("Stopped"),
  Killed: trans.__("Killed"), Lost: trans.__("Lost"),
  starting: trans.__("starting"), training: trans.__("training"), done: trans.__("done"), failed: trans.__("failed"),
  killed: trans.__("killed"), ended: trans.__("ended"),
  "warm start": trans.__("warm start"), "cold start": trans.__("cold start"),
  step: trans.__("step"), epoch: trans.__("epoch"), second: trans.__("s"), line: trans.__("line"), printed: trans.__("printed"),
});
export const known = (word) => words()[word] ?? ofRank(word) ?? word ?? "";
const ofRank = (word) => (/^rank \d+$/.test(word) ? trans.__("rank %1", word.slice(5)) : null);

// A sentence as nbddp/sentence.py takes it apart: its form, and values that may be sentences as well.
// The places go through the translation as they are, and are filled here: what fills them may have a % of its own.
export const told = (said) => Array.isArray(said)
  ? trans.__(said[0], ...said.map((_, n) => `%${n + 1}`)).replace(/%(\d)/g, (_, n) => told(said[n])) : said;

export const grade = (name) => ({
  epoch: [trans.__("Finish epoch"), trans.__("Train to the end of this epoch, then stop; the result comes back")],
  now: [trans.__("Stop (keep checkpoint)"), trans.__("Stop all processes now; the last checkpoint stays")],
  kill: [trans.__("Kill"), trans.__("Kill all processes at once, without waiting for anything")],
})[name];

export function duration(seconds) {
  const s = Math.floor(seconds);
  const two = (n) => String(Math.floor(n) % 60).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s)}` : `${Math.floor(s / 3600)}:${two(s / 60)}:${two(s)}`;
}

export const pace = (rate) => (rate >= 1 ? trans.__("%1 steps/s", short(rate)) : trans.__("%1 s/step", short(1 / rate)));
export const samples = (rate) => trans.__("%1 samples/s", short(rate));
const short = (value) => number(Number(value.toPrecision(3)));
export const whole = (n) => n.toLocaleString("en");

export function number(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return whole(value);
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e6 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

export function bytes(amount) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let at = 0;
  for (; amount >= 1023.5 && at < 3; at++) amount /= 1024;
  return `${amount < 10 && at ? amount.toFixed(1) : Math.round(amount)} ${units[at]}`;
}

// "Epoch 3 of 10", "Epoch 3" where nobody knows of how many, "Epoch" where none has begun.
export const epochs = (done, all) => (done == null ? trans.__("Epoch")
  : all ? trans.__("Epoch %1 of %2", whole(done), whole(all)) : trans.__("Epoch %1", whole(done)));
export const batches = (done, all) => trans.__("Batch %1 of %2", whole(done), whole(all));
export const steps = (done, all) => (!done ? trans.__("Batch")
  : all ? trans.__("Step %1 of %2", whole(done), whole(all)) : trans.__("Step %1", whole(done)));
