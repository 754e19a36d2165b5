"""The batch size, written a second time as a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from nbddp.analysis import Plan
from nbddp.analysis.library import effect_of
from nbddp.analysis.loaders import is_rest, places, sizes, use_of
from nbddp.analysis.splitting import first_states, stateful
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, Extent


@dataclass(frozen=True, eq=False)
class Again:
    """`torch.randn(64, 100)`, `x.view(64, -1)`: the number, and whether it surely is the size of the share.

    In `x.view(64, 28, 28)` it follows from the others.
    """

    call: ast.Call
    number: ast.Constant
    is_share: bool = False
    is_rest: bool = False


def written_twice(plan: Plan) -> Iterator[Again]:
    """Calls which size their result by it, in the order of the text."""
    written = {s.value for size in sizes(plan) for s in size.sources if isinstance(s, ast.Constant)}
    numbers = ({size.value.const for size in sizes(plan)} | written) - {None, 1}
    evaluations = {f.node for f in plan.roles.evaluation_loops}
    training = {f.node for f in plan.roles.batch_loops}
    for fact in sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset)):
        if reshaped := _reshaped(plan, fact.node):
            number = _first_size(reshaped)
            if number is not None and number.value in numbers:
                apart = fact.ever_in_forward or fact.loops & evaluations
                yield Again(fact.node, number, not apart, is_rest(plan, fact.node, number))
        elif (number := _first_size(_sizes(fact))) is not None and number.value in numbers and fact.loops & training:
            if any(effect_of(n).makes == "tensor" for n in fact.names) and not fact.in_forward:
                yield Again(fact.node, number, _goes_with_batch(plan, fact))
    states = [*_of_states(plan, numbers)]
    yield from states
    yield from _by_name(plan, numbers, {one.number for one in states})


def _of_states(plan: Plan, numbers: Set[object]) -> Iterator[Again]:
    """`model.init_hidden(64)`, `self.hidden = torch.zeros(1, n, 8)` of `LSTM(64)`."""
    evaluations, found = {f.node for f in plan.roles.evaluation_loops}, set[ast.AST]()
    run = [plan.facts.calls[call] for call in stateful(plan)]
    evaluated = any(fact.no_grad or fact.loops & evaluations for fact in run)
    for made, size in first_states(plan).items():
        for number in {*_apart_from_loaders(plan, size, numbers)} - found:
            given = isinstance(plan.program.parents[number], ast.Call | ast.keyword)
            yield Again(made, number, given and not evaluated and _fixes_shapes_alone(plan, number))
            found.add(number)


def _by_name(plan: Plan, numbers: Set[object], found: Set[ast.AST]) -> Iterator[Again]:
    """`torch.eye(2 * batch_size)`, of `def loss_of(z, batch_size=64)`."""
    training = {f.node for f in plan.roles.batch_loops}
    for fact in (f for f in plan.facts.calls.values() if f.loops & training and not f.no_grad):  # no picture
        made = any(effect_of(n).makes == "tensor" or effect_of(n).counts for n in fact.names)
        for size in (n for given in fact.node.args for n in walk(given)) if made else ():
            named = isinstance(size, ast.Name | ast.Attribute) and "batch" in ast.unparse(size).lower()
            number = next(_apart_from_loaders(plan, size, numbers), None) if named else None
            if number is not None and number not in found:
                yield Again(fact.node, number)
                found |= {number}


def _apart_from_loaders(plan: Plan, size: ast.AST, numbers: Set[object]) -> Iterator[ast.Constant]:
    """The number that is written for it, where no loader is made with that one."""
    linked = {source for one in sizes(plan) for source in one.sources}
    sources = plan.facts.value(size).sources - linked if isinstance(size, ast.expr) else ()
    yield from (n for n in sources if isinstance(n, ast.Constant) and n.value in numbers)


def _fixes_shapes_alone(plan: Plan, number: ast.Constant) -> bool:
    """Nothing is computed with it, wherever it is handed on: a sum over a share may be divided by it."""
    reads = places(plan, frozenset({number}))
    computed = any(isinstance(plan.program.parents[read], ast.BinOp | ast.Compare) for read in reads)
    return not computed and {use_of(plan, read) for read in reads} <= {"shape", "rest", "passed"}


def _goes_with_batch(plan: Plan, fact: CallFact) -> bool:
    """Noise that a model is given; labels of a loss, beside the samples of a rank."""
    drawn = any(effect_of(n).draws for n in fact.names)
    uses = [*_uses(plan, fact.node)]
    called = [c for c in uses if drawn and plan.facts.value(c.func).of("model")]
    return bool(called) or any(plan.facts.is_loss(c) and _has_samples(plan, c) for c in uses)


def _uses(plan: Plan, made: ast.Call) -> Iterator[ast.Call]:
    """The calls that are given it, also by the name that it gets."""
    for around in plan.program.ancestors(made):
        if isinstance(around, ast.Call):
            yield around
        elif isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Name):
            here = plan.program.function_of(around)
            handed = plan.program.handed.get(around.targets[0].id, ())
            yield from (call for call, _ in handed if plan.program.function_of(call) is here)
        if isinstance(around, ast.stmt):
            return


def _has_samples(plan: Plan, call: ast.Call) -> bool:
    return any(plan.facts.value(a).extent is Extent.SAMPLES for a in call.args)


def _sizes(fact: CallFact) -> Sequence[ast.expr]:
    """`3` of `torch.randn(3)`, of `np.random.normal(0, 1, 3)` and of `np.random.normal(size=3)`."""
    named = [k.value for k in fact.node.keywords if k.arg == "size"]
    return named or fact.node.args[max((effect_of(n).size or 0 for n in fact.names), default=0) :]


def _first_size(given: Sequence[ast.expr]) -> ast.Constant | None:
    first = given[0] if given else None
    first = first.elts[0] if isinstance(first, ast.Tuple | ast.List) and first.elts else first
    return first if isinstance(first, ast.Constant) and type(first.value) is int else None


def _reshaped(plan: Plan, call: ast.Call) -> Sequence[ast.expr]:
    """Of the samples of a batch, `x.view(64, -1)`, `torch.reshape(x, (64, 784))`: sizes, the first is how many."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("view", "reshape"):
        return ()
    whole, *given = call.args if plan.facts.value(func.value).of("library") and call.args else [func.value, *call.args]
    return given if plan.facts.value(whole).extent is Extent.SAMPLES else ()
