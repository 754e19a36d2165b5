"""Command lines in a notebook, `parser.add_argument("--batch-size", type=int, default=64)`: what `parse_args` gives."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.values import ANYTHING, Machine, Value, thing


def call_parser(
    m: Machine, node: ast.Call, parser: Value, attr: str, args: list[Value], keywords: dict[str, Value]
) -> Value:
    said = {_destination(node): keywords.get("default", ANYTHING)} if attr == "add_argument" else {}
    for name, value in (keywords if attr == "set_defaults" else said).items():
        for obj in parser.of("parser") if name else ():
            m.put(obj, name, replace(value, const=None))  # the command line may say something else
    if attr in ("add_argument_group", "add_mutually_exclusive_group"):
        return parser
    if attr in ("parse_args", "parse_known_args"):
        made = _parsed(m, node, parser)
        return Value(items=(made, ANYTHING)) if attr == "parse_known_args" else made
    return ANYTHING


def _destination(node: ast.Call) -> str:
    """By argparse's own rule: `dest`, else the first long option, else the first of all."""
    for keyword in node.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    options = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
    return next((o for o in options if o.startswith("--")), [*options, ""][0]).lstrip("-").replace("-", "_")


def _parsed(m: Machine, node: ast.Call, parser: Value) -> Value:
    made = thing("dict", node)
    (holder,) = made.objs
    for (owner, name), value in list(m.facts.fields.items()):
        if owner in parser.objs:
            m.put(holder, f"[{name!r}]", value)
    return made
