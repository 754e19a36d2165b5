"""Why a batch cannot be split, although one was found."""

from __future__ import annotations

import ast
import re

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.batches import ill_matched
from nbddp.analysis.splitting.means import uncounted
from nbddp.analysis.splitting.regions import Region, region_at
from nbddp.analysis.splitting.roots import PRODUCTS, Root
from nbddp.analysis.splitting.sequences import one_sequence, time_first, turns_round
from nbddp.analysis.splitting.single_samples import along_second, made_one, sample_by_sample, taken_for_one
from nbddp.analysis.splitting.sizes import counted_rows
from nbddp.analysis.syntax import qualified
from nbddp.analysis.values import ANYTHING, KNOWN, UNLIKE, WHOLE, Extent, Split, backward_of, spread
from nbddp.sentence import Sentence, sentence

GRAPHS = ("torch_geometric.", "dgl.", "torch_sparse.", "torch_scatter.")
GRAPH = re.compile(r"(^|_)(adj|adjacency|edge_index|edges?|laplacian)(_|$)", re.IGNORECASE)


def unfit(plan: Reading, found: Split | Root | None) -> Sentence | None:
    """The reason in words; None where each rank can take its part."""
    if found is None:
        return sentence("no batch was found in what the model is given, so every rank would train on the same data")
    if isinstance(found, Root):
        return sentence("'%1' is a single sample, and one sample cannot be split", plan.program.source(found.node))
    if (samples := sample_by_sample(plan, found)) is not None:
        return sentence("'%1' goes through single samples, and one sample cannot be split", samples)
    if (environment := _environment(plan)) is not None:
        return sentence("'%1' is an environment that answers to what the model does, and gives no batch to split",
                        environment)  # fmt: skip
    if (edges := _edges(plan, found)) is not None:
        return sentence("'%1' joins the samples to a graph, so a part of them cannot be computed alone", edges)
    if (second := along_second(plan, found)) is not None:
        return sentence("the samples of '%1' are in its second dimension, and batches are split along their first",
                        plan.program.source(second))  # fmt: skip
    if (layer := time_first(plan)) is not None:
        return sentence("'%1' takes time as its first dimension, and it is not clear which one counts the samples",
                        layer)  # fmt: skip
    return None


def _environment(plan: Reading) -> str | None:
    """What is reset and then stepped with an action."""
    methods: dict[str, set[str]] = {}
    for fact in plan.facts.calls.values():
        func = fact.node.func
        if isinstance(func, ast.Attribute) and not fact.optimizers and not plan.facts.value(func.value).of(*KNOWN):
            word = func.attr if func.attr != "step" or fact.node.args else ""
            methods.setdefault(plan.program.source(func.value), set()).add(word)
    return next((name for name, used in methods.items() if used >= {"reset", "step"}), None)


def _edges(plan: Reading, split: Split) -> str | None:
    for node in plan.nodes():
        name = qualified(node, plan.flow.imports) if isinstance(node, ast.Attribute | ast.Name) else None
        if name is not None and f"{name}.".startswith(GRAPHS):
            return name
    for statement in region_at(plan, split.at).rest:
        for call in ast.walk(statement):
            for given in call.args if isinstance(call, ast.Call) else ():
                word = given.attr if isinstance(given, ast.Attribute) else getattr(given, "id", "")
                if GRAPH.search(word):
                    return plan.program.source(given)
    return None


def is_unclear(plan: Reading, split: Split) -> Sentence | None:
    """Once it is split: is each loss of the step a mean or a sum over a rank's samples, and nothing picked by place?

    What goes through them one by one may go through time.
    """
    region = region_at(plan, split.at)
    for call in sorted(plan.facts.backward, key=plan.program.span):
        loss = backward_of(call)
        around = {split.step, *region.rest} & {*plan.program.ancestors(call)}
        value = plan.facts.value(loss) if loss is not None else ANYTHING
        if around and spread(value) not in (Extent.MEAN, Extent.SUM, *WHOLE) and not value.of(UNLIKE):
            return sentence("'%1' is not understood as a mean or a sum over the samples of a batch",
                            plan.program.source(loss or call))  # fmt: skip
    if (mean := uncounted(plan, split)) is not None:
        return sentence("'%1' is a mean, and it is not seen where it is taken over the samples",
                        plan.program.source(mean))  # fmt: skip
    if (relating := one_sequence(region, split)) is not None:
        return sentence("'%1' relates the places of a sequence, and nothing shows that a batch holds several sequences",
                        plan.program.source(relating))  # fmt: skip
    if (single := made_one(region, split) or taken_for_one(plan)) is not None:
        return sentence("'%1' makes one sample of it, and one sample cannot be split", plan.program.source(single))
    if (product := _summed_over(region)) is not None:
        return sentence("'%1' adds up over the samples, so a part of them cannot be computed alone",
                        plan.program.source(product))  # fmt: skip
    if (shape := _of_the_whole(plan)) is not None:
        return sentence("'%1' gives its samples the size of the whole batch", plan.program.source(shape))
    if (picked := _picked_by_place(region, split)) is not None:
        return sentence("'%1' is picked by its place in the batch", plan.program.source(picked))
    return ill_matched(plan, split)


def _is_split(plan: Reading, node: ast.expr) -> bool:
    return spread(plan.facts.value(node)) is Extent.SAMPLES


OVER = ("sum", "mean", "max", "min", "amax", "amin", "prod", "std", "var", "logsumexp", "argmax", "argmin", "cumsum")


def _goes_over_first(plan: Reading, call: ast.Call) -> bool:
    """Along the dimension of the samples, where nothing in the model has put another one there."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in OVER or turns_round(plan, call):
        return False
    library = bool(plan.facts.value(func.value).of("library"))
    given = call.args[1:2] if library else call.args[:1]
    along = [*given, *(k.value for k in call.keywords if k.arg in ("dim", "axis"))]
    of = call.args[0] if library and call.args else func.value
    return plan.facts.value(of).varies and any(isinstance(a, ast.Constant) and a.value == 0 for a in along)


def _summed_over(region: Region) -> ast.expr | None:
    """`adjacency @ X`: a product with the samples on its right; `words.sum(0)` in a model."""
    for fact in region.plan.facts.calls.values():
        if fact.ever_in_forward and _goes_over_first(region.plan, fact.node):
            return fact.node
    for call in region.plan.calls(*PRODUCTS):
        if len(call.node.args) > 1 and _is_split(region.plan, call.node.args[1]):
            return call.node
    for statement in region.rest:
        for node in ast.walk(statement):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and _is_split(region.plan, node.right):
                return node
    return None


def _of_the_whole(plan: Reading) -> ast.expr | None:
    """`targets.view(batch_size * length)`: a rank has fewer. A number that comes from their size is the rank's own."""
    for call in plan.facts.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("view", "reshape") and call.args:
            first = call.args[0].elts[0] if isinstance(call.args[0], ast.Tuple) and call.args[0].elts else call.args[0]
            size = plan.facts.value(first)
            known = isinstance(first, ast.UnaryOp | ast.Starred) or size.varies or size.size or size.const == -1
            if size.number and not known and _is_split(plan, call.func.value):
                return call
    return None


def _picked_by_place(region: Region, split: Split) -> ast.expr | None:
    """`inp[t]`, `for token in target`, `out[train_idx]`: of the samples of a rank these are others."""
    plan = region.plan
    rows = {counts for counts, _ in counted_rows(plan, split)}
    for statement in region.rest:
        for node in ast.walk(statement):
            if isinstance(node, ast.For) and _is_split(plan, node.iter):
                return node.iter
            if isinstance(node, ast.Subscript) and _is_split(plan, node.value):
                index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
                dealt = isinstance(index, ast.Name) and index.id in split.names
                known = isinstance(index, ast.Constant | ast.Slice) or index in rows
                if not known and (dealt or not plan.facts.value(index).varies):
                    return node
    return None
