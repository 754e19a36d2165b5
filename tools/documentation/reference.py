"""The reference of commands and magics, from the parsers that read them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

from nbddp.cli import VERBS, Verb
from nbddp.cli.parse import Parser
from nbddp.magics.commands.line import EXAMPLES, VERB_NAMES
from nbddp.magics.first_line import modes
from nbddp.magics.first_line.arguments import parser as parser_of_ddp_train
from nbddp.notebook.marks import MODES
from tools.documentation.markdown import block, code, plain, table, together


def pages() -> Iterator[tuple[str, str]]:
    yield "_made/commands", together(part for verb in VERBS for part in _of_command(verb))
    yield "_made/magics", together(part for name in MODES for part in _of_magic(name))
    verbs = [(code(f"%ddp {verb.name}"), plain(verb.summary)) for verb in VERBS if verb.name in VERB_NAMES]
    yield "_made/ddp", together([table(["magic", "what it does"], verbs), block("\n".join(EXAMPLES))])


def of_verb(name: str) -> Parser:
    parser = Parser(prog=f"nbddp {name}")
    import_module(f"nbddp.cli.{name}").add_arguments(parser)
    return parser


def of_magic(name: str) -> Parser:
    return parser_of_ddp_train() if name == "ddp_train" else modes.parser(name)


def _of_command(verb: Verb) -> Iterator[str]:
    yield f"## nbddp {verb.name}"
    yield f"{verb.summary[0].upper()}{verb.summary[1:]}."
    yield from _options(of_verb(verb.name))


def _of_magic(name: str) -> Iterator[str]:
    parser = of_magic(name)
    yield f"## %%{name}"
    yield plain(" ".join((parser.description or "").split()))
    yield from _options(parser)


def _options(parser: Parser) -> Iterator[str]:
    """A row for each; what may follow a `--`, and examples."""
    rows = [(_name(action), _meaning(parser, action)) for action in parser._actions]  # noqa: SLF001 -- argparse has no public name for them
    yield table(["option", "meaning"], rows)
    if parser.rest:
        yield f"After `--`: {plain(parser.rest)}."
    if parser.examples:
        yield block("\n".join(parser.examples))


def _name(action: argparse.Action) -> str:
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    if not action.option_strings:
        return code(f"[{value}]" if action.nargs == "?" else str(value))
    shown = "" if action.nargs == 0 else f" [{value}]" if action.nargs == "?" else f" {value}"
    return ", ".join(code(f"{option}{shown}") for option in action.option_strings)


def _meaning(parser: Parser, action: argparse.Action) -> str:
    return plain((action.help or "") % {**vars(action), "prog": parser.prog})
