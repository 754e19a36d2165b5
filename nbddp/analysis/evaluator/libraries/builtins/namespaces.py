"""Names as a dictionary, and text that is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.slicing import effects
from nbddp.analysis.values import GLOBALS, WHOLE, Extent, Machine, Value, thing

NAMESPACES = ("globals", "locals", "vars")


def namespace(m: Machine, node: ast.AST, *, of_cells: bool) -> Value:
    """The names of the cells themselves, or a copy of those of a function."""
    if of_cells:
        return thing("dict", GLOBALS, "globals")
    made = m.make("dict", node)
    for obj in made.objs:
        for name, value in m.frame.local.items():
            m.put(obj, f"[{name!r}]", value)
            m.put(obj, "[]", value)
    return made


def run_text(m: Machine, args: list[Value]) -> Value:
    """`exec("total += loss.item()")`: what it changes is each rank's own, where it reads what is."""
    names = m.visible()
    changed, read = _touched(args[0].const if args else None, names)
    given = [v for v in args[1:] if v.of("dict")]
    own = [names[n] for n in read if n in names] + given
    apart = m.context.varying or any(m.held(v) not in WHOLE for v in own)
    differs = apart if isinstance(args[0].const if args else None, str) else m.sharing()
    for name in sorted(changed) if differs else ():
        if name in names:
            m.change(name, names[name].with_extent(Extent.VARYING))
    for obj in {o for v in given for o in v.objs} if differs else ():
        m.put(obj, "[]", Value(extent=Extent.VARYING))
    return Value(extent=Extent.VARYING if differs else Extent.UNIFORM)


def _touched(text: object, names: dict[str, Value]) -> tuple[set[str], set[str]]:
    """What it may change and what it reads; of a text that nobody knows, all that is no part of the training."""
    try:
        tree = ast.parse(text if isinstance(text, str) else "")
    except SyntaxError:
        return set(), set()
    if not isinstance(text, str):
        return {*_plain(names)}, set()
    found = effects(tree.body, {})
    return found.may_bind | found.mutates, found.reads | found.mutates


def _plain(names: dict[str, Value]) -> Iterator[str]:
    return (name for name, value in names.items() if value.objs == value.of("list", "dict", "instance"))
