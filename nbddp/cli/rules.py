"""`nbddp rules`: the catalogue of rewrites; with a name, that rule's whole document."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from types import ModuleType

from nbddp.cli.colour import coloured, paint
from nbddp.cli.parse import Parser, Refusal, nearest
from nbddp.rules import RULES

HEADING = re.compile(r"(What it does|Why DDP needs it|Before|After|Declines)\b")


def add_arguments(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the rule to show; without it, all in a line each")


def execute(arguments: argparse.Namespace) -> int:
    print(_document(arguments.name) if arguments.name else _catalogue())
    return 0


def _catalogue() -> str:
    on = coloured(sys.stdout)
    names = [name_of(rule) for rule in RULES]
    width = max(map(len, names))
    return "\n".join(
        f"{paint(name.ljust(width), 'bold', on)}  {_lines(rule)[0]}" for name, rule in zip(names, RULES, strict=True)
    )


def _document(name: str) -> str:
    rule = next((rule for rule in RULES if name_of(rule) == name), None)
    if rule is None:
        near = nearest(name, [name_of(rule) for rule in RULES])
        raise Refusal(f"rules: no rule {name!r}{near}; `nbddp rules` lists them")
    on = coloured(sys.stdout)
    return "\n".join(paint(line, "bold", on and HEADING.match(line) is not None) for line in _lines(rule))


def name_of(rule: ModuleType) -> str:
    """As diagnostics have it in brackets, and as the file is called."""
    return rule.__name__.rpartition(".")[2]


def _lines(rule: ModuleType) -> list[str]:
    return inspect.cleandoc(rule.__doc__ or "").split("\n")
