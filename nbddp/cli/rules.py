"""`nbddp rules`: the catalogue of rewrites; with a name, that rule's whole document."""

from __future__ import annotations

import argparse
import inspect
import sys
from textwrap import shorten
from types import ModuleType

from nbddp.cli.colour import coloured, paint
from nbddp.cli.parse import Parser, Refusal, nearest
from nbddp.rules import RULES


def add_arguments(parser: Parser) -> None:
    help_ = "the rule to explain; without it, list all rules"
    parser.add_argument("name", nargs="?", metavar="NAME", values=lambda: [rule.NAME for rule in RULES], help=help_)


def execute(arguments: argparse.Namespace) -> int:
    print("\n".join(_document(arguments.name) if arguments.name else _catalogue()))
    return 0


def _catalogue() -> list[str]:
    on = coloured(sys.stdout)
    width = max(len(rule.NAME) for rule in RULES)
    return [f"{paint(rule.NAME.ljust(width), 'bold', on)}  {_summary(rule, 118 - width)}" for rule in RULES]


def _summary(rule: ModuleType, width: int) -> str:
    """The first sentence under the first heading, as far as it fits."""
    paragraph = _lines(rule)[1 : _lines(rule).index("")]
    sentence = " ".join(line.strip() for line in paragraph).partition(". ")[0].removesuffix(".")
    return shorten(sentence, width, placeholder=" …")


def _document(name: str) -> list[str]:
    rule = next((rule for rule in RULES if name.replace("_", "-") == rule.NAME), None)
    if rule is None:
        near = nearest(name, [rule.NAME for rule in RULES])
        raise Refusal(f"rules: no rule {name!r}{near}; `nbddp rules` lists them")
    on = coloured(sys.stdout)
    return [line if line.startswith(" ") else paint(line, "bold", on) for line in _lines(rule)]


def _lines(rule: ModuleType) -> list[str]:
    return inspect.cleandoc(rule.__doc__ or "").split("\n")
