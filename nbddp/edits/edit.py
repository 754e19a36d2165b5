"""An edit: text put in place of a span of the notebook's code. Rules decide on edits; they never apply them."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
from collections.abc import Collection
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Literal

from nbddp.analysis.slicing import block_of
from nbddp.analysis.syntax import Program, lines_in_strings
from nbddp.watch_points import Watch

# At one offset, in this order: what closes a node before it, whole lines, what opens a node, a mark, the node itself.
Place = Literal["close", "line", "open", "mark", "text"]


@dataclass(frozen=True)
class Edit:
    rule: str
    start: int
    end: int
    text: str
    place: Place = "text"
    uses: tuple[str, ...] = ()  # parts of the script, and imports, that the text names
    watch: Watch | None = None  # of a mark, which writes nothing: what is watched at the statement that begins there
    beside: tuple[Edit, ...] = ()  # that go with it: they part statements of one line
    until: int = 0  # where the statement ends that it puts into a block


def replace(program: Program, rule: str, node: ast.AST, text: str, uses: tuple[str, ...] = ()) -> Edit:
    start, end = program.span(node)
    return Edit(rule, start, end, text, "text", uses)


def mark(program: Program, rule: str, node: ast.stmt, watch: Watch) -> Edit:
    """Have this statement watched when nbddp runs the script; not a byte of it changes."""
    start = program.span(node)[0]
    return Edit(rule, start, start, "", "mark", watch=watch)


def wrap(program: Program, rule: str, node: ast.AST, before: str, after: str, uses: tuple[str, ...] = ()) -> list[Edit]:
    """Text around a node; what a later rule puts around goes outside. A call is given a tuple as one thing."""
    start, end = program.span(node)
    if isinstance(node, ast.Tuple) and before.endswith("(") and not program.source(node).startswith("("):
        before, after = f"{before}(", f"){after}"
    return [Edit(rule, start, start, before, "open", uses), Edit(rule, end, end, after, "close", uses)]


def stands_alone(program: Program, node: ast.stmt) -> bool:
    """Is the statement alone on its lines, so that whole lines can go before and after it?"""
    return _begins_line(program, node) and _ends_line(program, node)


def _begins_line(program: Program, node: ast.stmt) -> bool:
    start = program.span(node)[0]
    return not program.text[program.text.rfind("\n", 0, start) + 1 : start].strip()


def _ends_line(program: Program, node: ast.stmt) -> bool:
    end = program.span(node)[1]
    rest = program.text[end : program.text.find("\n", end)].strip()
    return not rest or rest.startswith("#")


def _indent_of(program: Program, node: ast.stmt) -> str:
    start = first_offset(program, node)
    return program.text[program.text.rfind("\n", 0, start) + 1 : start]


def first_offset(program: Program, node: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    if not decorators:
        return program.span(node)[0]
    first = min(program.span(d)[0] for d in decorators)
    return program.text.rindex("@", 0, first)


def before(program: Program, rule: str, node: ast.stmt, line: str, uses: tuple[str, ...] = ()) -> Edit:
    """A statement of its own before another; of an `elif`, before the first of its conditions."""
    while isinstance(node, ast.If) and program.text.startswith("elif", program.span(node)[0]):
        node = program.statement_of(program.parents[node])
    start = program.span(node)[0]
    if _begins_line(program, node):
        indent = _indent_of(program, node)
        start = first_offset(program, node) - len(indent)
        return Edit(rule, start, start, _lines(indent, line), "line", uses)
    if (simple := _simple(line)) is not None:
        return Edit(rule, start, start, f"{simple}; ", "line", uses)
    parted, inner = _parted(program, node)
    return Edit(rule, start, start, _lines(inner, line).lstrip(" ") + inner, "line", uses, beside=parted)


def after(
    program: Program, rule: str, node: ast.stmt, line: str, uses: tuple[str, ...] = (), *, alone: bool = False
) -> Edit:
    """A statement of its own after another; `alone` on its line, where a rule puts that other one below an `if`."""
    end = program.span(node)[1]
    first = _beside(block_of(program.parents[node], node), node)[0]
    whole = _ends_line(program, node) and _begins_line(program, first)
    if whole or isinstance(node, ast.For | ast.While | ast.With | ast.If | ast.Try):
        line_end = program.text.find("\n", end) + 1
        return Edit(rule, line_end, line_end, _lines(_indent_of(program, first), line), "close", uses)
    if not alone and (simple := _simple(line)) is not None:
        return Edit(rule, end, end, f"; {simple}", "close", uses)
    parted, inner = _parted(program, node)
    return Edit(rule, end, end, "\n" + _lines(inner, line).removesuffix("\n"), "close", uses, beside=parted)


def _simple(lines: str) -> str | None:
    """As a part of a line that goes on behind it; None for what has a block, or a comment that would end the line."""
    if "  # " in lines or any(hasattr(statement, "body") for statement in ast.parse(lines).body):
        return None
    return "; ".join(lines.splitlines())


def first_in(program: Program, rule: str, loop: ast.For | ast.AsyncFor | ast.While, line: str,
             uses: tuple[str, ...] = ()) -> Edit:  # fmt: skip
    """A statement at the start of a loop's body."""
    return before(program, rule, loop.body[0], line, uses)


def _lines(indent: str, text: str) -> str:
    return "".join(f"{indent}{line}\n" if line else "\n" for line in text.split("\n"))


def remove(program: Program, rule: str, node: ast.stmt, gone: Collection[ast.stmt] = ()) -> Edit:
    """Take a statement out, its lines with it; `pass` stays where a block would be empty, or a comment be lost.

    What else is gone is not there to fill the block.
    """
    start, end = program.span(node)
    line_end = program.text.find("\n", end)
    parent = program.parents[node]
    blocks = (getattr(parent, f, None) for f in ("body", "orelse", "finalbody", "handlers"))
    alone = any(isinstance(b, list) and [s for s in b if s is node or s not in gone] == [node] for b in blocks)
    if has_comments(program, node) or (alone and not isinstance(parent, ast.Module)) or not stands_alone(program, node):
        return Edit(rule, start, end, "pass")
    return Edit(rule, start - len(_indent_of(program, node)), line_end + 1, "")


def has_comments(program: Program, node: ast.stmt) -> bool:
    """Is there a comment inside of the statement, or behind it on its line?"""
    start, end = program.span(node)
    text = program.text[start : program.text.find("\n", end)]
    with contextlib.suppress(tokenize.TokenError, IndentationError):
        return any(t.type == tokenize.COMMENT for t in tokenize.generate_tokens(io.StringIO(text).readline))
    return True


def guard(program: Program, rule: str, node: ast.stmt, condition: str, uses: tuple[str, ...] = ()) -> list[Edit]:
    """Put a statement under an `if`, its lines one step further in; the insides of strings stay as they are."""
    start, end = program.span(node)
    if not stands_alone(program, node):
        return _guard_in_line(program, rule, node, condition, uses)
    indent = _indent_of(program, node)
    edits = [Edit(rule, start, start, f"if {condition}:\n{indent}    ", "open", uses, until=end)]
    edits += [Edit(rule, at, at, "    ", "line") for at in inner_line_starts(program, start, end)]
    return edits


def within(program: Program, rule: str, node: ast.stmt, manager: str, uses: tuple[str, ...] = ()) -> list[Edit]:
    """Put a statement into a `with` block."""
    edits = guard(program, rule, node, "CONDITION", uses)
    return [replaced(e, text=e.text.replace("if CONDITION:", f"with {manager}:")) for e in edits]


def _guard_in_line(program: Program, rule: str, node: ast.stmt, condition: str, uses: tuple[str, ...]) -> list[Edit]:
    """`if best: torch.save(…)`: the suite moves to lines of its own."""
    start, end = program.span(node)
    parted, inner = _parted(program, node)
    edits = [Edit(rule, at, at, "    ", "line") for at in inner_line_starts(program, start, end)]
    opened = f"if {condition}:\n{inner}    "
    return [*edits, Edit(rule, start, start, opened, "open", uses, beside=parted, until=end)]


def _parted(program: Program, node: ast.stmt) -> tuple[tuple[Edit, ...], str]:
    """Lines of their own for the statements that share one with the node, and their indent; the same for each rule."""
    beside = _beside(block_of(program.parents[node], node), node)
    start = program.span(beside[0])[0]
    line = program.text[program.line_starts[beside[0].lineno - 1] : start]
    outer = line[: len(line) - len(line.lstrip())]
    inner = outer + "    " if line.strip() else outer
    gaps = []
    for statement in beside:
        at = program.span(statement)[0]
        gap = at - len(program.text[:at]) + len(program.text[:at].rstrip(" ;\t"))
        if at > start or line.strip():
            gaps.append(Edit("", gap, at, "\n" + inner, "text"))
    return tuple(gaps), inner


def _beside(suite: list[ast.stmt], node: ast.stmt) -> list[ast.stmt]:
    """The statements between which there are semicolons, from the first to the last."""
    groups: list[list[ast.stmt]] = []
    for statement in suite:
        if groups and groups[-1][-1].end_lineno == statement.lineno:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return next(g for g in groups if node in g)


def inner_line_starts(program: Program, start: int, end: int) -> list[int]:
    """Offsets of the lines that begin inside a span, those inside of strings left out."""
    text = program.text[start:end]
    held = lines_in_strings(text)
    found, at = [], text.find("\n")
    line = 2
    while at != -1:
        following = text[at + 1 : text.find("\n", at + 1) if "\n" in text[at + 1 :] else len(text)]
        if line not in held and following.strip():
            found.append(start + at + 1)
        at = text.find("\n", at + 1)
        line += 1
    return found
