"""What stays of a run in a saved notebook: no script, no style sheet, nothing that a sanitiser takes away.

The curves are an SVG picture behind a data address: JupyterLab drops inline SVG from notebooks that it does not trust,
and code hosts from all, while both show this. Without its style attributes the page still reads well.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from nbddp.run.state.state import RunState
from nbddp.run.state.words import duration
from nbddp.widget.lines import latest, line
from nbddp.widget.notices import NOTHING, Said, for_page
from nbddp.widget.saved import MEASURES, MOST, Kept, seats
from nbddp.widget.subject import Subject
from nbddp.widget.svg import picture
from nbddp.widget.terminal import plain
from nbddp.widget.view import snapshot
from nbddp.widget.words import count, number

MIME = "application/vnd.nbddp.run+json"
MOST_LINES = 40
MARKS = {"done": "✓", "stopped": "■", "failed": "✗", "killed": "✗", "lost": "?"}
MORE = "More about this"
EDGES = {"error": "#e5484d", "warning": "#d9822b", "note": "#8b8b8b"}
LABELS = {"done": "Trained", "stopped": "Stopped", "failed": "Failed", "killed": "Killed", "lost": "Lost"}


def mimebundle(
    state: RunState, subject: Subject = NOTHING, logs: Mapping[int, Sequence[str]] | None = None
) -> dict[str, Any]:
    """All forms of one output; the reader's program takes the one that it knows best."""
    for measure in MEASURES:
        bundle = _bundle(Kept.of(state, subject, logs or {}, measure))
        if len(json.dumps(bundle, ensure_ascii=False).encode()) <= MOST:
            break
    return bundle


def _bundle(kept: Kept) -> dict[str, Any]:
    drawn = snapshot(kept.state, NOTHING, logs=kept.logs)
    said = [for_page(one) for one in kept.notices]
    return {
        "text/plain": _text(kept),
        "text/html": _html(kept),
        MIME: {
            **drawn,
            "script": kept.script,
            "ranks": seats(drawn["ranks"], kept.measure),
            "notices": said,
            "series": dict(kept.series),
        },
    }


def text(state: RunState, subject: Subject = NOTHING) -> str:
    """A line, and what there is to say."""
    return _text(Kept.of(state, subject, {}, MEASURES[0]))


def _text(kept: Kept) -> str:
    parts = [line(kept.state)]
    for one in kept.notices:
        parts.append(f"{one['level']}: {one['text']}")
        if one["level"] == "error" and one["more"]:
            parts.append(one["more"])
    return "\n".join(parts)


def html(state: RunState, subject: Subject = NOTHING, logs: Mapping[int, Sequence[str]] | None = None) -> str:
    """The same for people."""
    return _html(Kept.of(state, subject, logs or {}, MEASURES[0]))


def _html(kept: Kept) -> str:
    state = kept.state
    parts = [
        _head(state),
        *map(_notice, kept.notices),
        _values(state),
        _picture(kept),
        _table(state, kept.measure.lines),
        *(_log(rank, lines) for rank, lines in sorted(kept.logs.items()) if lines),
        f"<p>Script: <code>{escape(kept.script)}</code></p>" if kept.script else "",
    ]
    return f'<div style="max-width: 1100px; line-height: 1.5">{"".join(parts)}</div>'


def _head(state: RunState) -> str:
    elapsed = state.elapsed(state.updated or 0.0)
    ranks = state.world_size or state.nproc
    parts = [
        count(len(state.history), "epoch") if state.history else "",
        count(state.step, "step") if state.step else "",
        count(ranks, "rank") if ranks else "",
        duration(elapsed) if elapsed is not None else "",
    ]
    label = LABELS.get(state.phase, state.phase.capitalize())
    rest = " · ".join(part for part in parts if part)
    return f"<p><b>{MARKS.get(state.phase, '…')} {label}</b> <code>{escape(state.name)}</code> {rest}</p>"


def _notice(said: Said) -> str:
    text = escape(said["text"])
    if said["more"]:
        opened = " open" if said["level"] == "error" else ""
        more = f"<pre>{escape(plain(said['more']))}</pre>"
        text = f"<details{opened}><summary>{text}</summary>{more}</details>"
    if "page" in said:
        text += f' <a href="{escape(said["page"])}" target="_blank" rel="noopener">{MORE}</a>'
    edge = EDGES[said["level"]]
    return f'<div style="border-left: 3px solid {edge}; padding-left: 10px; margin: 4px 0">{text}</div>'


def _values(state: RunState) -> str:
    values = latest(state)
    parts = (f"{escape(name)} <b>{number(value)}</b>" for name, value in values.items())
    return f"<p>{' · '.join(parts)}</p>" if values else ""


def _picture(kept: Kept) -> str:
    drawn = picture(kept.series)
    if not drawn:
        return ""
    words = ", ".join(f"{name} {number(value)}" for name, value in latest(kept.state).items())
    data = b64encode(drawn.encode()).decode()
    return f'<p><img alt="Curves of {escape(words)}" src="data:image/svg+xml;base64,{data}"></p>'


def _table(state: RunState, most: int) -> str:
    """The history, folded away: an epoch a row."""
    if not state.history:
        return ""
    names = list(dict.fromkeys(name for row in state.history for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    shown = state.history[-most:]
    rows = "".join(f"<tr>{''.join(_field(name, row) for name in names)}</tr>" for row in shown)
    title = f"History, {'last ' if shown != state.history else ''}{count(len(shown), 'epoch')}"
    return f"<details><summary>{title}</summary><table><tr>{head}</tr>{rows}</table></details>"


def _field(name: str, row: Mapping[str, float]) -> str:
    value = row.get(name)
    if value is None:
        return "<td></td>"
    return f"<td>{int(value) + 1 if name == 'epoch' else number(value)}</td>"


def _log(rank: int, lines: Sequence[str]) -> str:
    body = escape("\n".join(plain(line) for line in lines))
    title = f"Log of rank {rank}" + (f", last {len(lines)} lines" if len(lines) >= MOST_LINES else "")
    return f"<details><summary>{title}</summary><pre>{body}</pre></details>"
