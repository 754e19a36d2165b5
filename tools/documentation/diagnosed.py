"""Every diagnostic that the code can make, read from the code: its name, its level, and the forms of its texts.

A text is a `sentence(...)`. Where a call of `Diagnostic` or `diagnose` has a variable instead, what it may hold is
followed: through assignments, through the arguments of the functions of its module, and through what these return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.documentation.following import Module, arguments, defaults, name_of

PACKAGE = Path(__file__).parents[2] / "nbddp"
LEVELS = ("error", "warning", "note")
PLACES = {"Diagnostic": ("rule", "level", "message", "cell", "line", "column", "help", "why"),
          "diagnose": ("rule", "level", "node", "message")}  # fmt: skip
Given = dict[str, ast.expr]  # by the fields of a Diagnostic


@dataclass(frozen=True)
class Diagnosed:
    """A form has %1, %2 … where values are put in."""

    name: str
    levels: tuple[str, ...]
    message: str
    why: tuple[str, ...]
    help: tuple[str, ...]


def all_diagnosed() -> list[Diagnosed]:
    """By name, in the order in which they stand in the code; each once."""
    found: dict[tuple[str, str], Diagnosed] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for one in _of_module(path):
            place = one.name, one.message
            found[place] = one if place not in found else _joined(found[place], one)
    return sorted(found.values(), key=lambda one: one.name)


def _joined(one: Diagnosed, other: Diagnosed) -> Diagnosed:
    """Of one message that is made at two places."""
    both = ((*getattr(one, part), *getattr(other, part)) for part in ("levels", "why", "help"))
    levels, why, help_ = (tuple(dict.fromkeys(texts)) for texts in both)
    return Diagnosed(one.name, levels, one.message, why, help_)


def _of_module(path: Path) -> Iterator[Diagnosed]:
    """What stands beside a rule in its folder speaks in the rule's name."""
    text = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in PLACES):
        return
    module = Module(ast.parse(text))
    for call in module.calls:
        for given in given_to(module, call):
            yield from made_of(module, given, otherwise=path.parent.name.replace("_", "-"))


def given_to(module: Module, call: ast.Call) -> Iterator[Given]:
    """The arguments of a diagnostic; where its function hands some on, those of each call of that function."""
    order = PLACES.get(name_of(call.func), ())
    given = dict(zip(order, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    function = module.function_of(call)
    if not {"rule", "level", "message"} <= given.keys():
        return
    handed = {n.id for n in given.values() if isinstance(n, ast.Name)} & set(defaults(function))
    callers = [other for other in module.calls if function and handed and name_of(other.func) == function.name]
    for caller in callers or [None]:
        passed = {**defaults(function), **arguments(function, caller)} if caller else {}
        known = {p: passed.get(name_of(node)) if name_of(node) in handed else node for p, node in given.items()}
        if known["rule"] and known["level"] and known["message"]:
            yield {part: node for part, node in known.items() if node is not None}


def made_of(module: Module, given: Given, otherwise: str) -> Iterator[Diagnosed]:
    """What is made of these; several, where the message is one of several."""
    why, help_ = (module.texts(given[part]) if part in given else () for part in ("why", "help"))
    levels = tuple(word for word in module.words(given["level"]) if word in LEVELS)
    for name in module.words(given["rule"]) or (otherwise,):
        for message in module.texts(given["message"]):
            yield Diagnosed(name, levels, message, why, help_)
