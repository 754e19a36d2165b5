// How far a run is, and its three ends.

import { say } from "./elements.js";
import { batches, epochs, pace, samples, steps, trans } from "./words.js";

export const GRADES = ["epoch", "now", "kill"];

export function bars(view, s) {
  const inner = s.batches && s.batch != null;
  fill(view.whole, epochs(s.epoch == null ? null : s.epoch + 1, s.epochs), s.progress, s);
  fill(view.inner, inner ? batches(s.batch, s.batches) : steps(s.step, s.steps),
    inner ? s.batch / s.batches : s.steps ? s.step / s.steps : s.over ? s.progress : null, s);
  const rate = s.over ? s.average : s.rate;
  const said = [rate && pace(rate), rate && s.samples_rate && samples(s.samples_rate)].filter(Boolean).join(" · ");
  say(view.inner.rest, said && s.over ? trans.__("⌀ %1", said) : said);
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

export function stop(view, at) {
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
export function stops(view, s) {
  const asked = Math.max(view.asked, GRADES.indexOf(s.stop));
  view.stops.classList.toggle("nd-gone", s.over || !view.actions.stop);
  view.buttons.forEach((button, at) => {
    button.setAttribute("aria-disabled", String(at <= asked));
    button.setAttribute("aria-pressed", String(at === asked));
  });
}
