"""Names that torch gives to something in every model, and a model of the notebook to something else: `self.type`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.evaluator import MODULE_API
from nbddp.analysis.syntax import walk

OF_DDP = frozenset(  # which passes these on, or has the model asked
    """
    forward train eval training state_dict load_state_dict named_parameters named_buffers named_children named_modules
    apply
    """.split()
)
MORE = frozenset("join get_buffer get_extra_state set_extra_state set_submodule register_comm_hook".split())
TORCHS = (MODULE_API | MORE) - OF_DDP


def has_names_of_torch(plan: Plan) -> bool:
    """Is a model that DDP wraps asked for one?"""
    wrapped = plan.wrapping.stands_for
    asked = (n for n in plan.facts.values if isinstance(n, ast.Attribute) and n.attr in TORCHS)
    return any(
        asked_for.attr in names_of(plan, owner)
        for asked_for in asked
        for model in plan.facts.value(asked_for.value).objs & wrapped
        if (owner := plan.facts.classes.get(model)) is not None
    )


def names_of(plan: Plan, owner: ast.ClassDef) -> set[str]:
    """Of its class, and of the classes of the notebook that it is one of."""
    classes = {n.name: n for n in plan.nodes() if isinstance(n, ast.ClassDef)}
    waiting, seen, found = [owner], set[ast.ClassDef](), set[str]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            found.update(_given(node))
            waiting += [classes[b.id] for b in node.bases if isinstance(b, ast.Name) and b.id in classes]
    return found


def _given(owner: ast.ClassDef) -> Iterator[str]:
    yield from (s.name for s in owner.body if isinstance(s, ast.FunctionDef))
    for node in walk(owner):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr
        elif isinstance(node, ast.Assign) and node in owner.body:
            yield from (t.id for t in node.targets if isinstance(t, ast.Name))
