"""Arguments of a call as edits: one more at its end, or another value for one that is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from nbddp.analysis.syntax import Program
from nbddp.edits.edit import Edit

WIDTH = 120


def set_arguments(
    program: Program, rule: str, call: ast.Call, values: Mapping[str, str], uses: tuple[str, ...] = ()
) -> Iterator[Edit]:
    """Each in its place where the call has it already, the others behind the last."""
    given = {k.arg: k for k in call.keywords}
    for name in values.keys() & given.keys():
        start, end = program.span(given[name].value)
        yield Edit(rule, start, end, values[name], "text", uses)
    new = [f"{name}={value}" for name, value in values.items() if name not in given]
    if new:
        yield from _added(program, rule, call, new, uses)


def append_argument(program: Program, rule: str, call: ast.Call, argument: str, uses: tuple[str, ...]) -> Edit:
    """Behind the last argument, before a trailing comma or bracket."""
    end = max(program.span(n)[1] for n in [*call.args, *(k.value for k in call.keywords)])
    return Edit(rule, end, end, f", {argument}", "close", uses)


def _is_inside(program: Program, call: ast.Call) -> bool:
    """Is it part of another call, whose lines these would be?"""
    return isinstance(program.parents.get(call), ast.Call | ast.keyword)


def _added(program: Program, rule: str, call: ast.Call, new: list[str], uses: tuple[str, ...]) -> Iterator[Edit]:
    """On lines of their own where the call has a line for each argument, or where its line would be too long."""
    end = program.span(call)[1] - 1
    start = program.text.rfind("\n", 0, program.span(call)[0]) + 1
    parts = sorted([*call.args, *call.keywords], key=lambda part: program.span(part)[0])
    last = program.span(parts[-1])[1] if parts else end
    rest = program.text[last:end]
    comma = "," if parts and not rest.lstrip().startswith(",") else ""
    line = program.text[start : program.span(call)[0]]
    indent = line[: len(line) - len(line.lstrip())]
    fits = len("    ") + end - start + len(", ".join(["", *new, ""])) < WIDTH  # in `train` it stands further in
    if "\n" in rest[len(rest.rstrip()) :]:
        at = last + len(rest.rstrip())
        if comma:
            yield Edit(rule, last, last, comma, "close", uses)
        yield Edit(rule, at, at, "".join(f"\n{indent}    {argument}," for argument in new), "close", uses)
    elif "\n" in program.text[start:end] or _is_inside(program, call) or fits:
        before = f"{comma} " if comma else " " if rest.rstrip().endswith(",") else ""
        yield Edit(rule, end, end, before + ", ".join(new), "close", uses)
    else:
        after = program.span(call.func)[1] + 1
        for part in parts:
            yield Edit(rule, after, program.span(part)[0], f"\n{indent}    ")
            after = program.span(part)[1]
            if program.text[after] == ",":
                after += 1
            else:
                yield Edit(rule, after, after, ",", "close")
        yield Edit(
            rule, after, end, "".join(f"\n{indent}    {argument}," for argument in new) + f"\n{indent}", "text", uses
        )
