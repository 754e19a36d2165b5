"""Percent-format cells as plain Python, read without nbddp so that the oracle owes it nothing."""

from __future__ import annotations

import re

MARKER = re.compile(r"^# %%(?P<rest>.*)$")
TIMED = re.compile(r"^(?P<indent>\s*)%(?:time|timeit|prun)\s+(?:-\w+\s+)*(?P<statement>.+)$")
CAPTURED = re.compile(r"^(?P<name>\w+)\s*=\s*[!%]\s*(?P<command>.+)$")
ESCAPED = re.compile(r"^(?P<indent>\s*)(?:[%!?].*|[\w.]+\?{1,2})$")
PYTHON_BODIED = ("time", "timeit", "capture", "prun", "ddp_train", "dp_train", "single_train")


def plain_cells(text: str) -> list[tuple[int, str]]:
    """Each code cell as (line where it starts, Python text with as many lines as the cell)."""
    found: list[tuple[int, list[str], str]] = [(1, [], "")]
    for number, line in enumerate(text.splitlines(), 1):
        if match := MARKER.match(line):
            found.append((number + 1, [], match["rest"]))
        else:
            found[-1][1].append(line)
    return [(start, plain(lines)) for start, lines, rest in found if "[markdown]" not in rest and "[raw]" not in rest]


def plain(lines: list[str]) -> str:
    """Magics and shell lines go, except where Python stands behind them."""
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and first[2:].split()[0] not in PYTHON_BODIED:
        return "\n" * len(lines)
    return "\n".join(_plain_line(line) for line in lines) + "\n"


def _plain_line(line: str) -> str:
    if line.startswith("%%"):
        return ""
    if match := TIMED.match(line):
        return match["indent"] + match["statement"]
    if match := CAPTURED.match(line):
        command = match["command"]
        return f"{match['name']} = __import__('subprocess').getoutput({command!r}).splitlines()"
    if match := ESCAPED.match(line):
        return match["indent"] + "pass"
    return line
