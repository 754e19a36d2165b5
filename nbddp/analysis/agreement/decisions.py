"""Conditions that all ranks must decide alike, and how each is put to all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from nbddp.analysis.agreement.filled_up import collating
from nbddp.analysis.agreement.quantifiers import quantifier
from nbddp.analysis.agreement.sync_points import meets, reached
from nbddp.analysis.library import entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import block_of
from nbddp.analysis.syntax import increment, qualified, returns_none, walk
from nbddp.analysis.values import (
    PICKED,
    Assumptions,
    Extent,
    Literal,
    TestFact,
    Value,
    alike,
    is_uneven,
    join_all,
    operands,
    spread,
)

PARTS = {Extent.MEAN: "mean_over_ranks", Extent.SUM: "sum_over_ranks"}
EXITS = ("exit", "quit", "sys.exit", "os._exit", "os.abort")
STATE = ("model", "submodule", "optimizer", "scheduler", "scaler", "parameter", "params")
Branch = ast.If | ast.While | ast.IfExp | ast.BoolOp | ast.comprehension


@dataclass(frozen=True, eq=False)
class Decision:
    test: ast.expr  # the condition
    node: ast.expr  # it, or the number in it that is put together
    part: str  # the function of the script that does it
    exact: bool  # decides as one process would


def find_decisions(plan: Reading) -> tuple[Decision, ...]:
    tests = sorted(plan.facts.tests.values(), key=lambda t: (t.node.lineno, t.node.col_offset))
    return (*(d for t in tests for d in _decisions(plan, t)), *_line_searches(plan))


def _line_searches(plan: Reading) -> Iterator[Decision]:
    """L-BFGS asks for the loss as often as it likes, and looks at it to know how often."""
    for call in plan.facts.calls.values():
        if not any(o.name.endswith("LBFGS") for o in call.optimizers):
            continue
        for body in sorted(call.bodies, key=lambda b: b.lineno):  # type: ignore[attr-defined]
            inside = [n.value for n in walk(body) if isinstance(n, ast.Return) and n.value is not None]
            for value in [body.body] if isinstance(body, ast.Lambda) else inside:
                given = plan.facts.value(value)
                part = PARTS.get(spread(given))
                yield Decision(value, value, part or "mean_over_ranks", part is not None or alike(given))


def _decisions(plan: Reading, fact: TestFact) -> Iterator[Decision]:
    test, value = fact.node, plan.facts.value(fact.node)
    uncaught = isinstance(plan.program.parents[test], ast.Assert) and not fact.caught  # which ends the training
    around = plan.program.parents[test]
    a_part = isinstance(around, ast.BoolOp | ast.comprehension)  # `loss.item() > best and scheduler.step()`
    given = isinstance(around, ast.BoolOp) and not isinstance(plan.program.parents[around], ast.Expr)
    looked_at = a_part and (alike(value) or given)
    by_loader = plan.program.function_of(test) in collating(plan)  # perhaps in a worker, for a rank's own batch
    if fact.alone or fact.loops & plan.dealt or uncaught or looked_at or by_loader:
        return
    if (lacking := _asks_for_a_batch(plan, test)) is not None:
        yield Decision(test, test, lacking, True)
        return
    same = alike(value) and not is_uneven(plan.facts, value)
    if same and spread(value) is not Extent.REPEATED:
        yield from (Decision(test, o, "sum_over_ranks", True) for o in _counts(plan, test))
        return
    steers = test in plan.assumed.agreed or _steers(plan, fact)
    if not steers and (a_part or _protects(plan, fact)):
        return
    compared = [] if same else operands(plan.facts, test)
    extents = [spread(plan.facts.value(o)) for o in compared]
    if compared and all(e in PARTS for e in extents):
        yield from (Decision(test, o, PARTS[e], True) for o, e in zip(compared, extents, strict=True))
        if steers and Extent.REPEATED in map(spread, _parts(plan, test)):
            yield Decision(test, test, "from_rank_0", True)
    elif steers or (not same and any(by(plan, fact) for by in (_between_epochs, _collects, _chooses))):
        part = quantifier(plan, test)
        yield Decision(test, test, "from_rank_0" if same else part or "from_rank_0", same or part is not None)


def _asks_for_a_batch(plan: Reading, test: ast.expr) -> str | None:
    """`if batch is None: continue`, of a function that puts none together where it has no sample."""
    match test:
        case ast.BoolOp(op=op, values=values):
            asked = "any_rank" if isinstance(op, ast.Or) else "all_ranks"
            return asked if asked in {_asks_for_a_batch(plan, value) for value in values} else None
        case ast.Compare(left=ast.Name() as name, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]):
            asked = "any_rank" if isinstance(op, ast.Is) else "all_ranks"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() as name):
            asked = "any_rank"
        case _:
            return None
    by_loop = {f.node for f in plan.roles.batch_loops} & {one.by for one in plan.bindings.of(name)}
    return asked if by_loop and any(map(returns_none, collating(plan))) else None


def _counts(plan: Reading, test: ast.expr) -> Iterator[ast.expr]:
    """`seen >= 1000`: what a rank has counted is the same on all, and not what one process would have.

    `len(x) < 2` is asked for the sake of BatchNorm: of the share.
    """
    for node in (n for n in walk(test) if isinstance(n, ast.Compare)):
        sides = [node.left, *node.comparators]
        if any(plan.facts.value(o).const is Literal.NONE for o in sides):
            continue  # `last is not None`
        if any(spread(plan.facts.value(o)) is Extent.UNIFORM for o in sides):
            own = _asked_of_a_share(node) | {o for o in sides if _counts_fields(plan, o)}
            parts = ((o, part) for o in sides for part in _sums(plan, o))
            yield from (part for o, part in parts if not (o in own and part is o and _is_size(plan, o)))
    if isinstance(test, ast.BinOp):  # `if len(x) - 6:`
        yield from _sums(plan, test)


def _counts_fields(plan: Reading, node: ast.expr) -> bool:
    """`if len(batch) == 2: batch = batch[0]`: of what a loader puts together, and not of its samples."""
    match node:
        case ast.Call(func=ast.Name("len"), args=[ast.Name(id=name)]):
            scope = plan.program.function_of(node) or plan.program.tree
            return any(_takes_apart(n, name) for n in walk(scope))
    return False


def _takes_apart(node: ast.AST, name: str) -> bool:
    """Not `x[0]`, which is a sample of a tensor, too."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=bound)], value=ast.Subscript(value=ast.Name(id=read), slice=ast.Constant())
        ):
            return bound == read == name
        case ast.Assign(targets=[ast.Tuple()], value=ast.Name(id=read)):
            return read == name
    return False


def _is_size(plan: Reading, node: ast.expr) -> bool:
    """Of a batch itself, and not what a function makes of it."""
    called = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    return plan.facts.value(node).size and not (called is not None and called.bodies)


def _asked_of_a_share(node: ast.Compare) -> set[ast.expr]:
    """What is compared only with 0, with 1, or as `len(x) < 2` and `2 <= len(x)` are."""
    found: dict[ast.expr, list[bool]] = {}
    for op, (left, right) in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
        for side, other, pair in ((left, right, (ast.Lt, ast.GtE)), (right, left, (ast.Gt, ast.LtE))):
            known = other.value if isinstance(other, ast.Constant) else None
            few = known in (0, 1) or (known == 2 and isinstance(op, pair))
            found.setdefault(side, []).append(few)
    return {side for side, few in found.items() if all(few)}


def _sums(plan: Reading, node: ast.expr) -> Iterator[ast.expr]:
    """Also in `seen % 1000`."""
    extent = spread(plan.facts.value(node))
    if extent is Extent.SUM:
        yield node
    elif extent is Extent.VARYING and isinstance(node, ast.BinOp):
        yield from _sums(plan, node.left)
        yield from _sums(plan, node.right)


def _parts(plan: Reading, test: ast.expr) -> list[Value]:
    inside = (n for n in walk(test) if isinstance(n, ast.Compare))
    return [
        join_all(plan.facts.value(o) for o in (c.left, *c.comparators) if alike(plan.facts.value(o))) for c in inside
    ]


def _between_epochs(plan: Reading, fact: TestFact) -> bool:
    batch = {f.node for f in plan.roles.batch_loops}
    return not fact.loops & batch and bool(fact.loops & {f.node for f in plan.roles.epoch_loops})


def _collects(plan: Reading, fact: TestFact) -> bool:
    """`if not torch.isnan(loss): total += loss.item()`: asked of all ranks, it is put together as in one process."""
    node = plan.program.parents[fact.node]
    if not isinstance(node, ast.If) or quantifier(plan, fact.node) is None:
        return False
    inside = [n for s in node.body for n in walk(s)]
    calls = (n.func.attr for n in inside if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    grows = any(map(increment, inside)) or bool({*calls} & {"append", "extend"})
    return grows and bool(fact.loops & {f.node for f in plan.roles.batch_loops})


def _chooses(plan: Reading, fact: TestFact) -> bool:
    """`if worse(): x = x * 0.5`, `loss = loss + penalty`: asked of all ranks, they train alike."""
    node, loops = plan.program.parents[fact.node], {f.node for f in plan.roles.batch_loops} & fact.loops
    if not isinstance(node, ast.If) or not loops or _is_a_coin(plan, fact.node):
        return False
    inside = {n for s in (*node.body, *node.orelse) for n in walk(s)}
    bound = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    around = [n for loop in loops for n in walk(loop) if isinstance(n, ast.Name) and n.id in bound and n not in inside]
    values = [plan.facts.value(n) for n in around]
    return any(spread(v) is Extent.SAMPLES or (spread(v) in PARTS and not v.number) for v in values)


def _is_a_coin(plan: Reading, test: ast.expr) -> bool:
    """`torch.rand(1) < 0.5`: what differs in it is drawn, by each rank for itself as its dropout is."""
    differ = {n for n in plan.bindings.made_of(test) if isinstance(n, ast.expr) and not alike(plan.facts.value(n))}
    least = [n for n in differ if not isinstance(n, ast.Name) and differ.isdisjoint({*walk(n)} - {n})]
    drawn = {n for n in least if isinstance(n, ast.Call) and entry_of(n, plan.flow.imports).draws is not None}
    others = [n for n in differ if isinstance(n, ast.Name) and not drawn.issuperset(plan.bindings.made_by(n))]
    kept = any(spread(plan.facts.value(n)) in (Extent.SAMPLES, *PARTS) for n in others)
    return bool(drawn) and drawn.issuperset(least) and not kept


def protected(plan: Reading) -> Assumptions:
    """Conditions that are each rank's own, though all could decide together: another may have no such samples."""
    own = {t.node for t in plan.facts.tests.values() if _protects(plan, t) and not _steers(plan, t)}
    return plan.assumed if own <= plan.assumed.own else replace(plan.assumed, own=plan.assumed.own | own)


def _protects(plan: Reading, fact: TestFact) -> bool:
    """`if (y == c).sum() > 0: centers[c] += x[y == c].mean()`."""
    in_step = bool(fact.loops & {f.node for f in plan.roles.batch_loops})
    if alike(plan.facts.value(fact.node)) or not in_step:
        return False
    return any(_needs_some(plan, n) for part in _guarded(plan, fact.node) for n in walk(part))


def _guarded(plan: Reading, test: ast.expr) -> list[ast.AST]:
    """What runs under a condition; behind `if (y == c).sum() == 0: continue` it is the rest of the turn."""
    node = plan.program.parents[test]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if not isinstance(node, ast.If):
        return []
    block = block_of(plan.program.parents[node], node) if isinstance(node.body[-1], ast.Continue) else [node]
    return [*node.body, *node.orelse, *block[block.index(node) + 1 :]]


def _needs_some(plan: Reading, node: ast.AST) -> bool:
    """`out[y == c].mean()`, `out[y == c].max()`: of no sample it is no number. A sum of none is 0."""
    if isinstance(node, ast.Call):
        func = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        given = [*func, *node.args, *(k.value for k in node.keywords)]
    else:
        given = [node.value] if isinstance(node, ast.Subscript) else []
    values = [plan.facts.value(g) for g in given]
    picked = any(v.of(PICKED) and spread(v) is Extent.SAMPLES for v in values)
    return picked and spread(plan.facts.value(node)) not in (Extent.SAMPLES, Extent.SUM)


def _steers(plan: Reading, fact: TestFact) -> bool:
    """Does the condition decide what all ranks must do together?"""
    node = plan.program.parents[fact.node]
    if isinstance(node, ast.Assert):
        return True
    assert isinstance(node, Branch)
    branches = _branches(plan, node, fact.node)
    if isinstance(node, ast.IfExp) and any(rates_set(plan, a) for a in plan.program.ancestors(node)):
        return True
    if meets(plan, branches) or any(_changes_state(plan, n) for n in reached(plan, branches)):
        return True
    inside = [n for b in branches for n in walk(b)]
    if any(isinstance(n, ast.Raise) or _exits(plan, n) for n in inside):
        return any(f.backward for f in plan.facts.loops.values() if f.node in fact.loops)
    return any(_skips(plan, n, node) for n in inside if isinstance(n, ast.Break | ast.Continue | ast.Return))


def _branches(plan: Reading, node: Branch, test: ast.expr) -> list[ast.AST]:
    if isinstance(node, ast.BoolOp):
        return [*node.values[node.values.index(test) + 1 :]]
    if isinstance(node, ast.comprehension):
        around = plan.program.parents[node]
        return [n for n in ast.iter_child_nodes(around) if not isinstance(n, ast.comprehension)]
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [*node.body, *node.orelse]


def _exits(plan: Reading, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and qualified(node.func, plan.flow.imports) in EXITS


def _skips(plan: Reading, leaves: ast.AST, branch: ast.AST) -> bool:
    """Does it go past something that all ranks do together?"""
    kinds: tuple[type[ast.AST], ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    if not isinstance(leaves, ast.Return):
        kinds += (ast.For, ast.AsyncFor, ast.While)
    left = next((a for a in plan.program.ancestors(leaves) if isinstance(a, kinds)), None)
    around = plan.program.ancestors
    if left is None or branch not in around(leaves) or branch in around(left):
        return False
    return meets(plan, [left]) is not None


def _changes_state(plan: Reading, node: ast.AST) -> bool:
    """Rates, weights, modes: what must stay the same on all ranks."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
        return is_rate(plan, node) or bool(plan.facts.value(node.value).of(*STATE))
    if isinstance(node, ast.Call) and rates_set(plan, node):
        return True
    if isinstance(node, ast.Call) and entry_of(node, plan.flow.imports).copies:
        return bool(plan.facts.value(node).of("model"))  # `best = copy.deepcopy(model)`
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node in plan.facts.calls:
        changes = node.func.attr in ("load_state_dict", "step", "requires_grad_", "add_param_group", "copy_", "train")
        return changes and any(o.kind in STATE for o in plan.facts.calls[node].receivers)
    return False


def is_rate(plan: Reading, target: ast.expr) -> bool:
    """`optimizer.param_groups[0]["lr"]`, `g["lr"]` of each of them."""
    return isinstance(target, ast.Subscript) and _is_a_group(plan, target.value)


def _is_a_group(plan: Reading, node: ast.expr) -> bool:
    loops = (ast.For, ast.ListComp, ast.GeneratorExp)
    around = [a for a in plan.program.ancestors(node) if isinstance(a, loops)]
    turns = [t for a in around for t in ([a] if isinstance(a, ast.For) else a.generators)]
    sources = [node, *(t.iter for t in turns if ast.unparse(node) in ast.unparse(t.target))]
    return any("param_groups" in ast.unparse(s) for s in sources)


def rates_set(plan: Reading, node: ast.AST) -> list[ast.expr]:
    """To what: `g["lr"] = …`, `g["lr"] *= …`, `g.update(lr=…)`."""
    match node:
        case ast.Assign(targets=targets, value=value) if any(is_rate(plan, t) for t in targets):
            return [value]
        case ast.AugAssign(target=target, value=value) if is_rate(plan, target):
            return [value]
        case ast.Call(func=ast.Attribute(value=group, attr="update")) if _is_a_group(plan, group):
            return [*node.args, *(k.value for k in node.keywords)]
    return []
