"""What a dataset of the notebook draws as it is read, by Python's `random` or by NumPy: pairs, negatives, augmentation.

Workers of a loader are seeded by what torch draws; where there are none, each rank needs a stream of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import collating, turns_by_length
from nbddp.analysis.library import Stream, effect_of
from nbddp.analysis.syntax import qualified, walk
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

FOR_DATA = "draws for the data"  # what the line that begins with own numbers is for
READS = ("__getitem__", "__getitems__")
STREAMS = (Stream.PYTHON, Stream.NUMPY)


def draws_of_data(plan: Plan) -> list[ast.expr]:
    """`random.choice(self.images)` in `__getitem__`, or in a method that it calls."""
    read = {*_reading(plan)} if not plan.assumed.splits else set()
    return [n for n in plan.nodes() if _draws(plan, n) and plan.program.function_of(n) in read]  # type: ignore[misc]


def shared_with_data(plan: Plan) -> bool:
    """Does the training draw from these streams as well, a decision say? That has to be the same on all ranks."""
    training = {n for s in plan.training for n in walk(s.node)}
    of_data = {*draws_of_data(plan)}
    functions = {f for f in plan.facts.reached if getattr(f, "name", "") != "__init__"}
    around = ((n, plan.program.function_of(n)) for n in plan.nodes() if n not in of_data and _draws(plan, n))
    return any(n in training or function in functions for n, function in around)


def same_data(plan: Plan) -> Iterator[Diagnostic]:
    for node in draws_of_data(plan)[:1] if shared_with_data(plan) and not _in_workers(plan) else ():
        yield plan.program.diagnose(
            "seed", "note", node,
            sentence("all ranks draw the same numbers here, each for its own samples"),
            why=sentence("the training draws from the same stream, and that has to be the same on all ranks"),
            help=sentence("draw this with torch, or give the DataLoader workers, which are seeded by the rank"),
        )  # fmt: skip


def unlike_often(plan: Plan) -> Iterator[Diagnostic]:
    """`random.random() < 0.5` for each word of a batch, up to its longest text."""
    training = {f.node for f in plan.roles.batch_loops}
    inside = {n for loop in training for n in walk(loop)} | {n for f in plan.run_by_models for n in walk(f)}
    inside = set() if plan.assumed.splits or plan.assumed.joined else inside
    found = (n for n in plan.nodes() if n in inside and _draws(plan, n) and turns_by_length(plan, n))
    for node in [*found][:1]:
        yield plan.program.diagnose(
            "seed", "note", node,
            sentence("the ranks draw unlike many numbers here, each up to the longest of its own samples"),
            why=sentence("what they draw from this stream afterwards, and decide by it, is no longer the same on all"),
            help=sentence("draw once for a batch, fill all batches up to one length, or use --exact"),
        )  # fmt: skip


def _in_workers(plan: Plan) -> bool:
    """Has each loader of the training some? They are seeded from torch's numbers, which are each rank's own."""
    made = [plan.facts.calls.get(o.node) for o in plan.roles.training_loaders if isinstance(o.node, ast.Call)]
    given = [fact.args.get("num_workers") or fact.args.get(5) for fact in made if fact is not None]
    many = [value.const for value in given if value is not None and isinstance(value.const, int)]
    return bool(made) and len(many) == len(plan.roles.training_loaders) and all(many)


def _reading(plan: Plan) -> Iterator[ast.AST]:
    """Also by a transformation that a dataset is given, a function or an object: nothing else runs it."""
    yield from collating(plan)
    given = {n.id for n in plan.nodes() if isinstance(n, ast.Name) and _is_given(plan, n)}
    for node in plan.nodes():
        if isinstance(node, ast.FunctionDef) and node.name in given and _waits(plan, node):
            yield node
        if isinstance(node, ast.ClassDef):
            methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
            reads = READS if (own := methods.get("__call__")) is None or not _waits(plan, own) else (*READS, "__call__")
            waiting, seen = [m for name, m in methods.items() if name in reads], set[str]()
            while waiting:
                method = waiting.pop()
                yield method
                asked = {n.attr for n in walk(method) if isinstance(n, ast.Attribute)} & methods.keys() - seen
                seen |= asked
                waiting += [methods[name] for name in sorted(asked)]


def _is_given(plan: Plan, name: ast.Name) -> bool:
    """`Pictures(files, augment)`, `Pictures(files, transform=augment)`"""
    around = plan.program.parents.get(name)
    return isinstance(around, ast.keyword) or (isinstance(around, ast.Call) and name in around.args)


def _waits(plan: Plan, function: ast.FunctionDef) -> bool:
    """For a loader to read an item: no statement of the notebook has run it."""
    return function not in plan.facts.reached and plan.program.function_of(function) is None


def _draws(plan: Plan, node: ast.AST) -> bool:
    if not isinstance(node, ast.Name | ast.Attribute) or isinstance(plan.program.parents.get(node), ast.Attribute):
        return False
    name = qualified(node, plan.flow.imports)
    return name is not None and effect_of(name).draws in STREAMS
