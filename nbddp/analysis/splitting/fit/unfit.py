"""Why a batch cannot be split, although one was found."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from nbddp.analysis.library import Shape, effect_of, entry_of
from nbddp.analysis.reading import Reading, may_drop
from nbddp.analysis.slicing import carried_reads
from nbddp.analysis.splitting.batches import ill_matched
from nbddp.analysis.splitting.dimension import (
    cut_short,
    made_for_all,
    marked_dim,
    one_sequence,
    set_against,
    turns_round,
    without_part,
)
from nbddp.analysis.splitting.fit.graphs import edges_of, is_of_a_graph, read_from_sparse
from nbddp.analysis.splitting.fit.sizes import by_longest, own_size, shortened, uneven_size, whole_sizes
from nbddp.analysis.splitting.means import uncounted
from nbddp.analysis.splitting.origins import SORTS, counted_rows, is_put_back, strung
from nbddp.analysis.splitting.own_parameters import learned
from nbddp.analysis.splitting.regions import Region, is_split, region_at
from nbddp.analysis.splitting.roots import Root, dims_of, reduced
from nbddp.analysis.splitting.single_samples import (
    goes_through_batches,
    one_sequence_of,
    sample_by_sample,
    single_sample,
    taken_for_one,
)
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ANYTHING,
    KNOWN,
    LINE,
    MASK,
    TURNED,
    UNLIKE,
    WHOLE,
    Extent,
    Several,
    Split,
    Value,
    backward_of,
    contents,
    spread,
)
from nbddp.sentence import Sentence, sentence

NOT_FOUND = sentence("no batch was found in what the model is given, so every rank would train on the same data")


def unfit(plan: Reading, found: Split | Root | None) -> Sentence | None:
    """The reason in words; None where each rank can take its part."""
    if found is None:
        return NOT_FOUND
    if isinstance(found, Root):
        return sentence("'%1' is a single sample, and one sample cannot be split", plan.program.source(found.node))
    if (samples := sample_by_sample(plan, found)) is not None:
        return sentence("'%1' goes through single samples, and one sample cannot be split", samples)
    if (sequence := one_sequence_of(plan)) is not None:
        return sentence("'%1' is a single sample, and one sample cannot be split", plan.program.source(sequence))
    if (environment := _environment(plan)) is not None:
        return sentence("'%1' is an environment that answers to what the model does, and gives no batch to split",
                        environment)  # fmt: skip
    if (edges := edges_of(plan, found)) is not None:
        return sentence("'%1' joins the samples to a graph, so a part of them cannot be computed alone", edges)
    return None


def nothing_cut(split: Split) -> Sentence | None:
    """A split that takes no samples apart is none."""
    return None if split.names or split.inline or split.renamed else NOT_FOUND


def unclear_dim(plan: Reading, split: Split) -> Sentence | None:
    """Nothing shows that the samples are where they are looked for, and the user has not said so."""
    relating = one_sequence(region_at(plan, split.at), split) if not split.dim else None
    if relating is None or marked_dim(plan, split.at) is not None:
        return None
    return sentence("'%1' relates the places of a sequence, and nothing shows that a batch holds several sequences",
                    plan.program.source(relating))  # fmt: skip


def _environment(plan: Reading) -> str | None:
    """What is reset and then stepped with an action, where it trains: not what data was made with before."""
    methods: dict[str, set[str]] = {}
    training = {node for node, loop in plan.facts.loops.items() if loop.backward}
    for fact in plan.facts.calls.values():
        func = fact.node.func
        before = bool(training) and fact.loops.isdisjoint(training)
        if (
            isinstance(func, ast.Attribute)
            and not before
            and not fact.optimizers
            and not plan.facts.value(func.value).of(*KNOWN)
        ):
            word = func.attr if func.attr != "step" or fact.node.args else ""
            methods.setdefault(plan.program.source(func.value), set()).add(word)
    return next((name for name, used in methods.items() if used >= {"reset", "step"}), None)


def unclear_loss(plan: Reading, split: Split) -> Sentence | None:
    """Is each loss of the step a mean or a sum over a rank's samples, now that its parts are added up?"""
    region = region_at(plan, split.at)
    for call in sorted(plan.facts.backward, key=plan.program.span):
        loss = backward_of(call)
        around = {split.step, *region.rest} & {*plan.program.ancestors(call)}
        value = plan.facts.value(loss) if loss is not None else ANYTHING
        if around and spread(value) not in (Extent.MEAN, Extent.SUM, *WHOLE) and not value.of(UNLIKE):
            if loss is not None and (unread := plan.unread(loss)) is not None:
                return sentence("the code of '%1' is not read: define it in a cell", unread)
            return sentence("'%1' is not understood as a mean or a sum over the samples of a batch",
                            plan.program.source(loss or call))  # fmt: skip
    return None


def is_unclear(plan: Reading, split: Split) -> Sentence | None:
    """Once it is split: is each mean of the step seen, and nothing picked by place?

    What goes through them one by one may go through time.
    """
    region = region_at(plan, split.at)
    if behind := {*split.names, *(n.id for n in split.renamed if isinstance(n, ast.Name))} & strung(plan):
        return sentence("'%1' has samples of unlike lengths one behind the other, and cannot be split", min(behind))
    if (mean := uncounted(plan, split) or _listed_mean(region)) is not None:
        return sentence("'%1' is a mean, and it is not seen where it is taken over the samples",
                        plan.program.source(mean))  # fmt: skip
    if (size := uneven_size(plan, split)) is not None:
        return sentence("a mean is handed on with '%1', and it is not seen how many of these each sample has",
                        plan.program.source(size))  # fmt: skip
    if split.dim and (against := set_against(plan)) is not None:
        return sentence("'%1' goes along the second dimension, which counts the samples", plan.program.source(against))
    if (state := without_part(plan)) is not None:
        return sentence("'%1' has the states of the whole batch, and a rank has fewer samples",
                        plan.program.source(state))  # fmt: skip
    if (first := cut_short(plan, split)) is not None:
        return sentence("'%1' is cut to the size of a smaller batch, and those of a rank are not the first",
                        plan.program.source(first))  # fmt: skip
    if single := single_sample(region, split):
        return single
    if (batches := goes_through_batches(plan)) is not None:
        return sentence("'%1' goes through batches, and not through the samples of one", plan.program.source(batches))
    if (product := _summed_over(region)) is not None:
        if isinstance(product, ast.Call) and isinstance(product.func, ast.Attribute) and product.func.attr in SORTS:
            return sentence("'%1' puts the samples of a batch in an order, and a rank has a part of them only",
                            plan.program.source(product))  # fmt: skip
        return sentence("'%1' adds up over the samples, so a part of them cannot be computed alone",
                        plan.program.source(product))  # fmt: skip
    if (samples := _goes_on(plan) or _goes_on_by_place(plan)) is not None:
        return sentence(
            "'%1' goes through the samples, and each goes on from the one before", plan.program.source(samples)
        )
    return _rows_apart(region, split)


def _rows_apart(region: Region, split: Split) -> Sentence | None:
    """What goes by the number or the places of all rows."""
    plan = region.plan
    if (sparse := read_from_sparse(region)) is not None:
        return sentence("'%1' reads a sparse tensor, out of which no samples can be cut", plan.program.source(sparse))
    sized = next((c for c in whole_sizes(plan) if own_size(plan, c) is None), None)
    if (shape := sized or made_for_all(plan, split)) is not None:
        return sentence("'%1' gives its samples the size of the whole batch", plan.program.source(shape))
    own = shortened(plan) or ([] if plan.options.exact else by_longest(plan))
    if (filled := next(iter(own), None)) is not None:
        return sentence("'%1' goes by the longest of a rank's own samples", plan.program.source(filled))
    if (picked := _picked_by_place(region, split)) is not None:
        return sentence("'%1' is picked by its place in the batch", plan.program.source(picked))
    return ill_matched(plan, split)


def _goes_on(plan: Reading) -> ast.expr | None:
    """`for day in series: m = tanh(day + m)`, in a model too: these are no samples."""
    for loop in (n for n in plan.nodes() if isinstance(n, ast.For)):
        names, sources = carried_reads(loop), [loop.iter]
        match loop.iter:
            case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=sources):
                pass
        if any(_is_plain(plan.facts.value(source)) for source in sources):
            read = (n for n in walk(loop) if isinstance(n, ast.Name) and n.id in names)
            kept = (v for v in map(plan.facts.value, read) if v.extent is Extent.SAMPLES and not v.of("list", "dict"))
            if next(kept, None) is not None and not turns_round(plan, loop):  # which puts time there
                return loop.iter
    return None


def _is_plain(value: Value) -> bool:
    pieces = value.items or isinstance(value.shape, Several)  # `x.split(1, dim=1)`
    return value.extent is Extent.SAMPLES and not (value.objs - value.of(LINE) or pieces)


def _goes_on_by_place(plan: Reading) -> ast.expr | None:
    """`for i in range(len(x)): h = 0.5 * h + self.embed(x[i])` in a model: what counts there is time."""
    for loop in (
        n for n in plan.nodes() if isinstance(n, ast.For) and plan.program.function_of(n) in plan.run_by_models
    ):
        places = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
        nodes = [n for s in loop.body for n in walk(s)]
        picked = [n for n in nodes if isinstance(n, ast.Subscript) and _is_at(n, places) and _is_series(plan, n.value)]
        names = carried_reads(loop) if picked and not turns_round(plan, loop) else frozenset()
        for name in (n for n in nodes if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)):
            made = {*plan.bindings.made_of(name)}
            if not plan.facts.value(name).of("list", "dict") and (at := next((n for n in picked if n in made), None)):
                return at
    return None


def _is_at(node: ast.Subscript, places: Set[str]) -> bool:
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    return isinstance(first, ast.Name) and first.id in places


def _is_series(plan: Reading, node: ast.expr) -> bool:
    value = plan.facts.value(node)
    pieces = value.items or isinstance(value.shape, Several) or any(map(_apart, plan.bindings.made_by(node)))
    return value.extent is Extent.SAMPLES and not pieces and not value.of(TURNED, "list", "dict")


def _apart(node: ast.expr) -> bool:
    """`x.unbind(1)`."""
    return isinstance(node, ast.Call) and effect_of(f".{getattr(node.func, 'attr', '')}").shape is Shape.APART


def goes_on_in_models(plan: Reading) -> bool:
    """In one that is given a part, the first sample of it would go on from none."""
    samples = _goes_on(plan)
    return samples is not None and plan.program.function_of(samples) in plan.run_by_models


def _listed_mean(region: Region) -> ast.Call | None:
    """`losses, scores = compute(batch)`, which are lists of means: exactly, each would count by its samples."""
    plan = region.plan
    calls = (n for s in region.rest for n in walk(s) if isinstance(n, ast.Call) and plan.options.exact)
    for call in (c for c in calls if c in plan.facts.calls and plan.facts.calls[c].bodies):
        value = plan.facts.value(call)
        held = (
            v for item in value.items or (value,) for v in contents(plan.facts, item, {"list": "[]"}) if v is not item
        )
        if any(spread(v) is Extent.MEAN for v in held):
            return call
    return None


def _goes_over_first(plan: Reading, call: ast.Call) -> bool:
    """Along the dimension of the samples, where nothing in the model has put another one there."""
    func = call.func
    if not isinstance(func, ast.Attribute) or not entry_of(func).over or turns_round(plan, call):
        return False
    base = reduced(plan, call)
    along, of = dims_of(plan, call), plan.facts.value(base)
    made = (n for part in plan.bindings.made_by(base) for n in walk(part))
    before = (n for n in made if isinstance(n, ast.Call) and entry_of(n).over)
    one = of.rank == 1 or any(isinstance(a, ast.Constant) and a.value == 1 for n in before for a in dims_of(plan, n))
    draws = plan.options.exact and may_drop(plan)  # for the samples in another order
    if func.attr in (*SORTS, "index_select") and not draws and is_put_back(plan, call):
        return False
    if one and plan.facts.value(call).extent is Extent.MEAN:  # `losses.mean(dim=0)`, of `losses = (x * y).mean(1)`
        return False
    return of.varies and not of.of(TURNED) and any(isinstance(a, ast.Constant) and a.value == 0 for a in along)


def in_columns(plan: Reading) -> bool:
    """`W @ X`, not `W @ X.T`: what is learned stands on the left of data, and goes along the features in its rows."""
    own = learned(plan)
    rows = ((left, right) for _, left, right in _products(plan) if not plan.facts.value(right).of(TURNED))
    lefts = [left for left, right in rows if is_split(plan, right) and not is_split(plan, left)]
    return any(plan.facts.value(left).of("parameter") or getattr(left, "id", "") in own for left in lefts)


def _products(plan: Reading) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    for call in plan.calls_that(lambda name: effect_of(name).product):
        if len(call.node.args) > 1:
            yield call.node, call.node.args[0], call.node.args[1]
    for node in plan.nodes():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield node, node.left, node.right


def _summed_over(region: Region) -> ast.expr | None:
    """`adjacency @ X`: a product with the samples on its right; `words.sum(0)` in a model.

    With samples in its columns it is computed for each of them.
    """
    plan, inside = region.plan, {n for s in region.rest for n in walk(s)}
    if (over := _over_first_in_models(plan)) is not None:
        return over
    for node, left, right in _products(plan):
        apart = plan.facts.value(right).of(TURNED) and not is_split(plan, left)
        flat = isinstance(node, ast.Call) and not entry_of(node, plan.flow.imports).stacked
        here = flat or node in inside or (region.whole and _is_of_data(plan, left))
        if is_split(plan, right) and not apart and here:
            return node
    return None


def _over_first_in_models(plan: Reading) -> ast.expr | None:
    return next(
        (f.node for f in plan.facts.calls.values() if f.ever_in_forward and _goes_over_first(plan, f.node)), None
    )


def unfit_in_models(plan: Reading) -> bool:
    """Where the models alone see samples: do they compute with those of others, or take them for one?"""
    products = (plan.facts.value(right) for _, left, right in _products(plan) if _is_of_data(plan, left))
    over = any(right.varies and not right.of(TURNED) for right in products)  # also where at times it is all of the data
    alone = _over_first_in_models(plan) is None and taken_for_one(plan, 0) is None
    alone = alone and not goes_on_in_models(plan) and _goes_on_by_place(plan) is None
    return over or is_of_a_graph(plan) or not alone


def _is_of_data(plan: Reading, node: ast.expr) -> bool:
    """`adj` that a model is given beside its samples; no layer has made it, as the queries of an attention are made."""
    layers = {f.node for f in plan.facts.calls.values() if any(o.kind in ("model", "submodule") for o in f.called)}
    fitted = plan.facts.value(node).of("parameter") or getattr(node, "id", "") in learned(plan)
    return not fitted and not layers & {*plan.bindings.made_of(node)}


def _picked_by_place(region: Region, split: Split) -> ast.expr | None:
    """`inp[t]`, `for token in target`, `out[train_idx]`: of the samples of a rank these are others."""
    plan = region.plan
    rows = {counts for counts, _ in counted_rows(plan, split)}
    for statement in region.rest:
        for node in walk(statement):
            base = node.iter if isinstance(node, ast.For) else getattr(node, "value", node)
            if plan.facts.value(base).of(TURNED, "shape"):
                continue  # by its place in time; `scores.shape[-1]`
            if isinstance(node, ast.For) and is_split(plan, base) and not isinstance(base, ast.Tuple | ast.List):
                return node.iter
            if isinstance(node, ast.Subscript) and is_split(plan, node.value):
                index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
                dealt = isinstance(index, ast.Name) and index.id in split.names
                known = isinstance(index, ast.Constant | ast.Slice) or index in rows
                by_mask = bool(plan.facts.value(index).of(MASK))
                if not known and not by_mask and (dealt or not plan.facts.value(index).varies):
                    return node
    return None
