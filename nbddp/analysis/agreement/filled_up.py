"""Places that a loader fills up to the longest of its batch: a rank fills up to that of its own samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.agreement.weighted_losses import weighted_losses
from nbddp.analysis.library import MATRIX, Samples, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting import padded
from nbddp.analysis.syntax import keywords_of, walk
from nbddp.analysis.values import TURNED, CallFact, Extent, spread

DEPTH = 6  # of what is made of what a loader gives
PICKS = ("gather", "take_along_dim", "index_select")  # of places
TURN = ("transpose", "swapaxes", "swapdims")
REDUCE = (Samples.SUM, Samples.MEAN, Samples.STATISTIC)


def padded_losses(plan: Reading) -> Iterator[ast.Call]:
    """Of such places: the mean over those of a share is another one than over those of all.

    Where these are left out of the mean, it is one by weights.
    """
    training, weighted = {f.node for f in plan.roles.batch_loops}, {*weighted_losses(plan)}
    for call, fact in plan.facts.calls.items() if not plan.assumed.splits else ():
        filled = _mean_of(plan, fact) if fact.taped & training else None
        turned = _of_features(plan, call)
        among = [filled] if filled is not None else []
        made = {call, *(o.node for o in plan.facts.value(call.func).of("loss"))}
        loss = len(call.args) == 2 and plan.facts.is_loss(call)  # no `ctc(…, lengths)`
        if loss and fact.loops & training and made.isdisjoint(weighted):
            among = call.args if plan.facts.value(call).extent is Extent.MEAN else []
        if any(_is_padded(plan, one, turned=turned) for one in among):
            yield call


def padded_inputs(plan: Reading) -> Iterator[ast.Call]:
    """Of sequences of which one model is told nothing but their places: where do they end?

    Where what it gives has labels for each place, or the sequences are packed, what is filled up is left out.
    """
    training = {f.node for f in plan.roles.batch_loops}
    if plan.assumed.splits or [*plan.calls_that(lambda name: name.endswith(".pack_padded_sequence"))]:
        return
    losses = [c for c, fact in plan.facts.calls.items() if plan.facts.is_loss(c) and fact.loops & training]
    if any(_is_padded(plan, target) for c in losses for target in c.args[1:2]):
        return
    for call in (c for role in plan.roles.models for c in role.forward_calls):
        alone = len(call.args) == 1 and not call.keywords
        if alone and plan.facts.calls[call].taped & training and _is_padded(plan, call.args[0]):
            yield call


def _mean_of(plan: Reading, fact: CallFact) -> ast.expr | None:
    """`x` of `x.mean(1)` and of `torch.mean(x)`."""
    call = fact.node
    if entry_of(call, plan.flow.imports).samples is not Samples.MEAN:
        return None
    of = [call.func.value] if isinstance(call.func, ast.Attribute) and not fact.names else call.args
    return of[0] if of else None


def _of_features(plan: Reading, call: ast.Call) -> bool:
    """Along the last dimension, which is not that of the places unless it was turned to be."""
    given = [*call.args, *(k for n, k in keywords_of(call).items() if n in ("dim", "axis"))]
    whole = call.func.value if isinstance(call.func, ast.Attribute) else call
    return any(ast.unparse(a) == "-1" for a in given) and plan.facts.value(whole).rank != MATRIX


def _is_padded(plan: Reading, node: ast.expr, *, turned: bool = False) -> bool:
    """`y[:, 1:].reshape(-1)` of `pad_sequence(ys)`, which a loader's own `collate_fn` gives.

    `turned`: and the last dimension has changed places with another since.
    """
    seen, below = set[tuple[ast.AST, bool]](), [(node, turned)]
    for _ in range(DEPTH):
        made = [(n, last) for one, last in below for n in plan.bindings.made_by(one)]
        if any(not last and _fills(plan, n) for n, last in made):
            return True
        below = [(part, last != _turns(n)) for n, last in made if (n, last) not in seen for part in _parts(plan, n)]
        seen |= {*made}
    return False


def _turns(made: ast.expr) -> bool:
    """`h.transpose(1, 2)` and `h.permute(0, 2, 1)`: what was along the last dimension is along another."""
    name = made.func.attr if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) else ""
    given = [ast.unparse(a) for a in made.args] if isinstance(made, ast.Call) else []
    return (name == "permute" and given[-1:] == ["1"]) or (name in TURN and not {"-1", "2"}.isdisjoint(given))


def _fills(plan: Reading, made: ast.expr) -> bool:
    """`pad_sequence(xs)`; also `torch.zeros(len(xs), max(map(len, xs)))`, where a batch is put together.

    And what a model unpacks to the longest of those that it is given.
    """
    if isinstance(made, ast.Call) and ast.unparse(made.func).rpartition(".")[2] == "pad_sequence":
        return True
    if made in padded(plan) or _trims(plan, made):
        return True
    if plan.program.function_of(made) not in collating(plan):
        return False
    return any(
        isinstance(n, ast.Call) and ast.unparse(n.func).rpartition(".")[2] == "max" for n in plan.bindings.made_of(made)
    )


def _trims(plan: Reading, made: ast.expr) -> bool:
    """`x[:, : lengths.max()]`: to the longest of a rank's own samples."""
    if not isinstance(made, ast.Subscript):
        return False
    along = made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]
    parts = along if plan.facts.value(made.value).of(TURNED) else along[1:]  # the first counts the samples
    ends = [plan.facts.value(p.upper) for p in parts if isinstance(p, ast.Slice) and p.upper is not None]
    return any(spread(end) is Extent.VARYING for end in ends)


def turns_by_length(plan: Reading, node: ast.AST) -> bool:
    """Does it stand in a loop of as many turns as a batch has places: `for t in range(1, target.size(1))`?"""
    loops = (a for a in plan.program.ancestors(node) if isinstance(a, ast.For | ast.comprehension))
    sizes = (n for loop in loops for n in plan.bindings.made_of(loop.iter) if isinstance(n, ast.Attribute))
    return any(n.attr in ("size", "shape") and _is_padded(plan, n.value) for n in sizes)


def collating(plan: Reading) -> set[ast.AST]:
    """What puts the batches of loaders together."""
    given = (fact.args["collate_fn"] for fact in plan.facts.calls.values() if "collate_fn" in fact.args)
    return {o.node for value in given for o in value.of("function", "method")}


def _parts(plan: Reading, made: ast.AST) -> Iterator[ast.expr]:
    """Of `torch.flatten(y)` and of `y[:, 1:].flatten()`: `y`; of `(out - y) ** 2`: both; of a sum of places nothing."""
    reduced = isinstance(made, ast.Call) and entry_of(made, plan.flow.imports).samples in REDUCE
    packed = isinstance(made, ast.Call) and entry_of(made, plan.flow.imports).packs  # without what is filled up
    picked = isinstance(made, ast.Call) and getattr(made.func, "attr", "") in PICKS
    if packed or picked or (reduced and isinstance(made, ast.Call) and not _of_features(plan, made)):
        return
    inner = made.func if isinstance(made, ast.Call) else made
    if isinstance(inner, ast.Attribute) or (isinstance(inner, ast.Subscript) and _keeps_places(inner.slice)):
        yield inner.value
    elif isinstance(inner, ast.BinOp):
        yield from (inner.left, inner.right)
    if isinstance(made, ast.Call):
        bodies = plan.facts.calls[made].bodies if made in plan.facts.calls else ()
        returned = [n.value for body in bodies for n in walk(body) if isinstance(n, ast.Return)]
        yield from (value for value in returned if value is not None)
        yield from made.args[:1]


def _keeps_places(index: ast.expr) -> bool:
    """`y[:, 1:]`, and `found[0]`; not `out[rows, lengths - 1]`, which picks one of them."""
    return not isinstance(index, ast.Tuple) or all(isinstance(part, ast.Slice) for part in index.elts)
