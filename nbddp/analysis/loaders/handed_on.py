"""Training loaders that go to code which nobody reads: what goes through one there wants all of the data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import effect_of, under
from nbddp.analysis.reading import Reading
from nbddp.analysis.values import CallFact

READ_AS_LOOPS = ("itertools", "tqdm", "copy")
HOLDERS = ("iterator", "loader", "list", "dict")


def handed_on(plan: Reading, call: CallFact) -> Iterator[ast.expr]:
    """`loader` of `update_bn(loader, model)`; not that of `enumerate(loader)`, nor of what a loop then draws from."""
    if plan.framework is not None or call.bodies or call.made or call.called or not _is_unread(call):
        return
    if plan.facts.value(call.node).of(*HOLDERS) or _is_drawn_from(plan, call):
        return
    for node in [*call.node.args, *(k.value for k in call.node.keywords)]:
        things = plan.facts.value(node).objs
        if things and things <= plan.roles.training_loaders and isinstance(node, ast.Name | ast.Attribute):
            yield node


def _is_unread(call: CallFact) -> bool:
    if any(o.kind in HOLDERS for o in call.receivers):
        return False
    known = (("." not in n and effect_of(n).reads) or under(n, READ_AS_LOOPS) for n in call.names)
    return not call.names or not all(known)


def _is_drawn_from(plan: Reading, call: CallFact) -> bool:
    """`Prefetcher(loader)`: what comes of it stands for the loader."""
    drawn = (f.loaders | f.foreign | f.next_of | f.indirect for f in plan.facts.loops.values())
    return any(thing.node is call.node for things in drawn for thing in things)
