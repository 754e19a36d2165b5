"""Curves as an SVG picture of a few kilobytes: what stays where no page draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from nbddp.widget.words import number

# Tones that can be read on white and on black: the picture cannot know which theme is around it.
COLOURS = ("#3b82f6", "#ea6a12", "#16a34a", "#a855f7", "#e23d8b", "#0d93ad")
GREY = "#808080"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, GAP = 340, 170, 50, 8, 26, 22, 20
MOST_POINTS = 200
MOST_PANELS = 6
COLUMNS = 3

Series = Mapping[str, Any]


def picture(series: Mapping[str, Series]) -> str:
    """All panels, side by side; "" where there is nothing to draw."""
    if not series:
        return ""
    groups = _panels(series)
    rows = in_rows(len(groups))
    width, height = max(rows) * (WIDTH + GAP) - GAP, len(rows) * HEIGHT
    drawn, left = "", iter(groups)
    for at, count in enumerate(rows):
        each = (width + GAP) / count - GAP
        places = (f'<g transform="translate({n * (each + GAP):.0f} {at * HEIGHT})">' for n in range(count))
        drawn += "".join(f"{place}{_panel(next(left), each)}</g>" for place in places)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{GREY}">{drawn}</svg>'
    )


def in_rows(count: int) -> list[int]:
    """How many charts each row has: as even as can be, and each row is filled by what it has."""
    rows = math.ceil(count / COLUMNS)
    return [count // rows + (row < count % rows) for row in range(rows)]


def _panels(series: Mapping[str, Series]) -> list[list[Series]]:
    names = list(dict.fromkeys(one["panel"] for one in series.values()))[:MOST_PANELS]
    return [[one for one in series.values() if one["panel"] == name] for name in names]


def _panel(group: Sequence[Series], width: float) -> str:
    xs = [x for one in group for x, _ in one["points"]]
    ys = [y for one in group for _, y in one["points"]]
    x = _scale(min(xs), max(xs), LEFT, width - RIGHT, 0.0)
    y = _scale(min(ys), max(ys), HEIGHT - BOTTOM, TOP, 0.06)
    beside, below = ticks(min(ys), max(ys), 4), [tick for tick in ticks(min(xs), max(xs), 4) if tick == round(tick)]
    grid = "".join(f"M{LEFT} {y(tick):.0f}H{width - RIGHT:.0f}" for tick in beside)
    rows = "".join(f'<text x="{LEFT - 6}" y="{y(tick) + 3.5:.0f}">{number(tick)}</text>' for tick in beside)
    columns = "".join(f'<text x="{x(tick):.0f}" y="{HEIGHT - 6}">{number(tick)}</text>' for tick in below)
    axis = f'<text x="{LEFT - 14}" y="{HEIGHT - 6}">{escape(group[0]["x"])}</text>'
    lines = (_line(one["points"], COLOURS[place % 6], x, y) for place, one in enumerate(group))
    return "".join(
        (
            _legend(group),
            f'<path d="{grid}" stroke="{GREY}" stroke-opacity="0.25"/>',
            f'<g text-anchor="end">{rows}{axis}</g><g text-anchor="middle">{columns}</g>',
            *lines,
        )
    )


def _legend(group: Sequence[Series]) -> str:
    """Name and latest value of each curve. There are no widths to measure here: a letter is taken for 6.2 units."""
    parts, at = [], float(LEFT)
    for place, one in enumerate(group):
        text = f"{one['name']} {number(one['points'][-1][1])}"
        parts.append(f'<rect x="{at:.0f}" y="9" width="9" height="3" rx="1.5" fill="{COLOURS[place % 6]}"/>')
        parts.append(f'<text x="{at + 13:.0f}" y="14">{escape(text)}</text>')
        at += 13 + 6.2 * len(text) + 12
    return "".join(parts)


def _line(
    points: Sequence[Sequence[float]], colour: str, x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    stride = math.ceil(len(points) / MOST_POINTS)
    drawn = [*points[:-1:stride], points[-1]]
    path = "L".join(f"{x(px):.1f} {y(py):.1f}" for px, py in drawn)
    dots = "".join(f"M{x(px):.1f} {y(py):.1f}h0" for px, py in (drawn if len(drawn) <= 20 else drawn[-1:]))
    inner = f'<path d="M{path}" stroke-width="1.6"/><path d="{dots}" stroke-width="5" stroke-linecap="round"/>'
    return f'<g fill="none" stroke="{colour}" stroke-linejoin="round">{inner}</g>'


def _scale(low: float, high: float, start: float, end: float, room: float) -> Callable[[float], float]:
    low, high = _apart(low, high)
    pad = (high - low) * room
    low, high = low - pad, high + pad
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _apart(low: float, high: float) -> tuple[float, float]:
    """A curve that is one point, or flat, is drawn in the middle."""
    half = 0.0 if high > low else abs(low) * 0.1 or 0.5
    return low - half, high + half


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers between the two, in the steps that come nearest to the count wanted."""
    low, high = _apart(low, high)
    rough = (high - low) / count
    base = 10.0 ** math.floor(math.log10(rough))
    steps = ((1, 2), (2, 5), (5, 10), (10, 20))
    step = next(small * base for small, large in steps if rough / base < math.sqrt(small * large))
    return [float(f"{place * step:.12g}") for place in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]
