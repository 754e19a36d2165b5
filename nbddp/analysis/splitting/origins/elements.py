"""Single samples: what going through a tensor gives turn by turn, or what a place picks out of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import Shape, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import Definition, stored
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import Obj

BATCHES = (Shape.APART, Shape.ANEW)  # one at a time
DEPTH = 12  # of names and functions that hand it on


def gives_samples(plan: Reading, node: ast.expr, depth: int = DEPTH) -> bool:
    """`X`, also in `zip(X, Y)`, a bar, a list or a generator of the notebook."""
    if depth == 0:
        return False
    match node:
        case ast.Name() if plan.facts.value(node).of("instance"):
            return any(_is_indexed(plan, obj) for obj in plan.facts.value(node).of("instance"))
        case ast.Name():
            made = _wholes(plan, node)
            return is_tensor(plan, node) or any(gives_samples(plan, value, depth - 1) for value in made)
        case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one):
            return is_sample(plan, one, depth - 1)
        case ast.Call() if (op := entry_of(node, plan.flow.imports)).gives or op.draws:  # `random.sample(rows, 8)`
            return any(gives_samples(plan, part, depth - 1) for part in node.args)
        case ast.Call():
            given = plan.bindings.returned(node)
            return any((is_sample if turn else gives_samples)(plan, one, depth - 1) for one, turn in given)
    return False


def _is_indexed(plan: Reading, obj: Obj) -> bool:
    """A data set of the notebook: no `__iter__`, and what `__getitem__` gives is picked by the number."""
    methods = {n.name: n for n in getattr(plan.facts.classes.get(obj), "body", ()) if isinstance(n, ast.FunctionDef)}
    if "__iter__" in methods or (taken := methods.get("__getitem__")) is None:
        return False
    index = taken.args.args[-1].arg
    given = (n for r in walk(taken) if isinstance(r, ast.Return) for n in walk(r))
    return any(isinstance(n, ast.Subscript) and getattr(n.slice, "id", "") == index for n in given)


def is_sample(plan: Reading, node: ast.expr, depth: int = DEPTH) -> bool:
    """`X[i]`, `pairs[i]`, or the name of one."""
    if depth == 0:
        return False
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(is_sample(plan, part, depth - 1) for part in parts)
        case ast.Subscript(value=ast.Name() as base, slice=index) if _is_place(plan, index):
            return gives_samples(plan, base, depth - 1)
        case ast.Name():
            turns = [*_turns(plan, node)]
            made = [] if turns else [*plan.bindings.below(node)]
            return any(gives_samples(plan, source, depth - 1) for source in turns) or (
                bool(made) and all(is_sample(plan, value, depth - 1) for value in made)
            )
    return False


def _turns(plan: Reading, name: ast.Name) -> Iterator[ast.expr]:
    """What is gone through by a loop whose turn it is."""
    for around in plan.program.ancestors(name):
        for loop in (around, *getattr(around, "generators", ())):
            if isinstance(loop, ast.For | ast.comprehension) and name.id in stored(loop.target):
                yield loop.iter
        if isinstance(around, Definition):
            return


def _is_place(plan: Reading, index: ast.expr) -> bool:
    value = plan.facts.value(index)
    if value.number or value.of("counter") or isinstance(value.const, int):
        return True
    if not isinstance(index, ast.Name):
        return False
    return any(isinstance(s, ast.Call) and entry_of(s, plan.flow.imports).counts for s in _turns(plan, index))


def is_tensor(plan: Reading, name: ast.Name) -> bool:
    """Made by torch or numpy, as far as that can be read; handed on to the function by all who call it."""
    return any(_makes_tensor(plan, value) for value in _wholes(plan, name))


def _wholes(plan: Reading, name: ast.Name) -> list[ast.expr]:
    """What it is given, and of which it is no part."""
    return [one.value for one in plan.bindings.of(name) if one.value is not None and one.places in ((), (None,))]


def _makes_tensor(plan: Reading, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if entry_of(node, plan.flow.imports).shape in BATCHES or ast.unparse(node.func).endswith(".stack"):
        return False
    if plan.facts.value(node).of("model", "submodule", "optimizer"):  # `nn.ModuleList(nets)`
        return False
    name = qualified(node.func, plan.flow.imports) or ""
    if name.startswith(("torch.", "numpy.")) and not name.startswith("torch.utils."):
        return True
    return isinstance(node.func, ast.Attribute) and _makes_tensor(plan, node.func.value)
