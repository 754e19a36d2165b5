"""One `if rank == 0:` for what follows one another under the same condition."""

from __future__ import annotations

from collections.abc import Sequence

from nbddp.script.apply import Line


def joined_guards(lines: Sequence[Line]) -> list[Line]:
    """Leaves out the head of a block that a rule has begun, where another with the same head has just ended."""
    found: list[Line] = []
    open_heads: list[str] = []  # of the blocks around the line, or just ended, innermost last
    for line in lines:
        depth = len(line.text) - len(line.text.lstrip())
        head = line.text if _begins_block(line) else ""
        if not line.text.strip():
            open_heads = []
        else:
            open_heads = [h for h in open_heads if len(h) - len(h.lstrip()) < depth or h == line.text]
        if head and head in open_heads:
            continue
        open_heads += [head] if head else []
        found.append(line)
    return found


def _begins_block(line: Line) -> bool:
    return line.origin is None and line.text.lstrip().startswith("if ") and line.text.endswith(":") and not line.marks
