"""One call in a loop or a comprehension makes several things, which the analysis takes for one."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Set

from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Loop, Obj, Value


def one_of_several(plan: Reading, node: ast.AST, names: Mapping[str, Value], text: str) -> bool:
    """Does a name hold, at this place, one of the things that a container keeps?

    So it does where a loop has made them, and where it is left over from a loop that went through them. The turn of a
    loop around is about the one that the loop is at: there its variable is right.
    """
    here = _loops_around(plan, node)
    root, field = re.split(r"[.\[]", text, maxsplit=1)[0], text.partition(".")[2]
    if any(_binds(loop, root) for loop in here):
        return False
    held = names[root].objs if "[" not in text else frozenset()
    held |= {o for owner in held for o in plan.facts.fields.get((owner, field), Value()).objs}
    kept = [obj for obj in held if _kept(plan, obj)]
    return any(_made_in(plan, obj) - here for obj in kept) or bool(kept and _is_left_over(plan, node, root))


def _is_left_over(plan: Reading, node: ast.AST, name: str) -> bool:
    """Is it the variable of a loop beside, in the function around?"""
    function = plan.program.function_of(node)
    loops = [n for n in plan.nodes() if isinstance(n, ast.For | ast.AsyncFor) and _binds(n, name)]
    return any(plan.program.function_of(loop) is function for loop in loops)


def _made_in(plan: Reading, obj: Obj) -> Set[Loop]:
    made = plan.facts.calls.get(obj.node) if isinstance(obj.node, ast.Call) else None
    return made.loops if made is not None else frozenset()


def _kept(plan: Reading, obj: Obj) -> bool:
    fields = plan.facts.fields.items()
    return any(name == "[]" and owner.kind in ("list", "dict") and obj in v.objs for (owner, name), v in fields)


def _loops_around(plan: Reading, node: ast.AST) -> Set[Loop]:
    """Also those of callers; a loop itself begins where it is not yet around."""
    if node in plan.facts.loops:
        return plan.facts.loops[node].parents
    if isinstance(node, ast.Call) and node in plan.facts.calls:
        return plan.facts.calls[node].loops
    loop = next((n for n in plan.program.ancestors(node) if n in plan.facts.loops), None)
    return plan.facts.loops[loop].parents | {loop} if loop is not None else frozenset()


def _binds(loop: Loop, name: str) -> bool:
    target = getattr(loop, "target", None)
    return isinstance(target, ast.expr) and any(isinstance(n, ast.Name) and n.id == name for n in walk(target))
