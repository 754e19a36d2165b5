"""What is written with the size of a whole batch, or goes by it: a rank has fewer samples, or none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import Shape, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.cuts import is_asked_for_its_size
from nbddp.analysis.splitting.means import means_of
from nbddp.analysis.splitting.origins import entries_of_each, has_size, rows_of_batches, sizes_in
from nbddp.analysis.splitting.regions import held, is_split, region_at
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import ANYTHING, FLAT, ONE, TURNED, Extent, Split, backward_of, spread
from nbddp.sentence import Sentence, sentence

ROWS = ("samples", "all else")
MOST, LEAST = ("max", "amax"), ("min", "amin")
LENGTH = 4  # `total_length` is the fourth argument


def whole_sizes(plan: Reading) -> Iterator[ast.Call]:
    """`output.view(batch_size, 10)`: a rank has fewer. A number that comes from their size is the rank's own."""
    for call in plan.facts.calls:
        if isinstance(call.func, ast.Attribute) and entry_of(call).shape is Shape.ANEW and call.args:
            first = next(iter(sizes_in(call.args)), call.args[0])
            size = plan.facts.value(first)
            known = isinstance(first, ast.UnaryOp | ast.Starred) or size.varies or size.size or size.const in (-1, 1)
            of = plan.facts.value(call.func.value)
            by_time = of.of(TURNED, FLAT) and len(call.args) > 1
            split = is_split(plan, call.func.value) or (of.varies and _follows(plan, call))
            if size.number and not known and not by_time and not of.of(ONE) and split:
                yield call


def _follows(plan: Reading, call: ast.Call) -> bool:
    """`x.view(batch_size, 28, 28)`: from the other sizes, of however many samples it is called."""
    first, *others = (plan.facts.value(n).const for n in sizes_in(call.args) or call.args)
    named = all(isinstance(n, ast.Name | ast.Constant) for n in (sizes_in(call.args) or call.args)[1:])
    return named and str(first) in rows_of_batches(plan) and not {first, -1} & {*others}


def own_size(plan: Reading, call: ast.Call) -> str | None:
    """`targets.view(batch_size * length)`: all that there is, however much; `C[xb].view(batch_size, -1)`: `len(xb)`."""
    first, *others = sizes_in(call.args) or call.args
    if isinstance(first, ast.Starred) or not isinstance(call.func, ast.Attribute):
        return None
    if not others:
        return "-1"
    names = (n for n in walk(call.func.value) if isinstance(n, ast.Name) and is_split(plan, n))
    plain = [n for n in names if not plan.facts.value(n).of(TURNED, FLAT)]
    batches = (n for split in plan.assumed.splits for n in held(plan, split))
    of_batch = any(has_size(plan, made, first) for n in batches for made in (n, *plan.bindings.made_by(n)))
    own = next((f"len({plan.program.source(n)})" for n in plain if of_batch or has_size(plan, n, first)), None)
    return own or ("-1" if _follows(plan, call) else None)


def cut_by_size(plan: Reading, split: Split) -> Sentence | None:
    """`labeled = len(x) // 2`, `output[:labeled]`: by the size of the whole batch. In a loss by any: `output[:8]`."""
    region = region_at(plan, split.at)
    losses = [of for call in plan.facts.backward if (of := backward_of(call)) is not None]
    trained = {n for loss in losses for n in plan.bindings.made_of(loss)}
    for node in (n for s in region.rest for n in walk(s) if isinstance(n, ast.Subscript)):
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if isinstance(first, ast.Slice) and is_split(plan, node.value) and not plan.facts.value(node.value).of(TURNED):
            bounds = [b for b in (first.lower, first.upper) if b is not None and not plan.facts.value(b).varies]
            made = (n for b in bounds for n in plan.bindings.made_of(b, through_calls=False))
            of_batch = (n for n in made if isinstance(n, ast.Name) and _is_batch(split, n))
            if (bounds and node in trained) or any(is_asked_for_its_size(region, n) for n in of_batch):
                return sentence("'%1' takes the first or last samples of a whole batch, and those of a rank are others",
                                plan.program.source(node))  # fmt: skip
        if isinstance(first, ast.Slice) and isinstance(node.ctx, ast.Store) and _is_given_a_part(plan, node, first):
            return sentence("'%1' has a place for each sample of the whole batch", plan.program.source(node))
    return None


def _is_given_a_part(plan: Reading, node: ast.Subscript, along: ast.Slice) -> bool:
    """`bank[i : i + 32] = out.detach()`, of a bank that has rows for all samples."""
    around = plan.program.parents[node]
    given = plan.facts.value(around.value) if isinstance(around, ast.Assign) else ANYTHING
    ends = [b for b in (along.lower, along.upper) if b is not None]
    fixed = len(ends) > 1 and not any(plan.facts.value(b).varies for b in ends)
    return fixed and spread(given) is Extent.SAMPLES and not given.number


def _is_batch(split: Split, name: ast.Name) -> bool:
    return name.id in split.names or name in split.renamed


def uneven_size(plan: Reading, split: Split) -> ast.expr | None:
    """`meter.update(loss.item(), height * width * len(x))`: what each rank would have to give, so that it adds up."""
    handed = (n for n in means_of(plan, split).counts if not isinstance(plan.program.parents[n], ast.BinOp))
    return next((n for n in handed if entries_of_each(plan, split, n) is None), None)


def rows_of_all_else(plan: Reading) -> Iterator[ast.Call]:
    """`x.view(len(x), -1)`, `x.view(len(x), -1, h, w)`: of no samples torch does not know how long a row is."""
    whole = {*whole_sizes(plan)}
    for call in plan.facts.calls:
        if isinstance(call.func, ast.Attribute) and entry_of(call).shape is Shape.ANEW and len(call.args) >= len(ROWS):
            count, *rest = call.args
            opened = any(isinstance(size, ast.UnaryOp) for size in rest) and plan.facts.value(count).size
            rows = call.func.attr != "expand"  # whose -1 is the size that there is
            if opened and rows and call not in whole and plan.facts.value(call.func.value).varies:
                yield call


def squeezes(plan: Reading) -> Iterator[tuple[ast.Call, ast.expr]]:
    """`model(x).squeeze()`, and of what: a part may have a single sample, whose dimension has to stay."""
    for call, fact in plan.facts.calls.items():
        method = isinstance(call.func, ast.Attribute) and call.func.attr == "squeeze"
        if method and not call.keywords and len(call.args) == (fact.names == {"torch.squeeze"}):
            assert isinstance(call.func, ast.Attribute)
            of = call.args[0] if call.args else call.func.value
            value = plan.facts.value(of)
            evaluated = spread(value) is Extent.VARYING and value.shape == (None, 1)  # in a model, of all data too
            if fact.grad and (spread(value) is Extent.SAMPLES or evaluated) and not value.of(TURNED, FLAT):
                yield call, of


def by_longest(plan: Reading) -> list[ast.expr]:
    """What has the length of the longest sequence: of a rank's samples that is another than of the batch."""
    return [*padded(plan), *trimmed(plan)]


def padded(plan: Reading) -> list[ast.Call]:
    """`pad_packed_sequence(…)`, which fills up to the longest that it is given."""
    calls = [f.node for f in plan.calls("torch.nn.utils.rnn.pad_packed_sequence") if f.node.args]
    own = (c for c in calls if len(c.args) < LENGTH and all(k.arg != "total_length" for k in c.keywords))
    return [c for c in own if _is_read(plan, c)]


def _is_read(plan: Reading, call: ast.Call) -> bool:
    """Not `out` of `out, lengths = pad_packed_sequence(…)` where only the last state is used."""
    match plan.program.statement_of(call):
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name), *_]) | ast.Name(id=name)], value=value) if (
            value is call and (function := plan.program.function_of(call)) is not None
        ):
            return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(function))
    return True


def trimmed(plan: Reading) -> list[ast.expr]:
    """`lengths.max()` of `x[:, : lengths.max()]`, in a function that is called with a part."""
    return [end for end in _own_ends(plan) if not _shrinks(plan, end)]


def shortened(plan: Reading) -> list[ast.expr]:
    """`lengths.min()`, `8 - blanks.max()`: more samples may make it smaller."""
    return [end for end in _own_ends(plan) if _shrinks(plan, end)]


def _own_ends(plan: Reading) -> Iterator[ast.expr]:
    for node in (n for n in plan.nodes() if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Tuple)):
        parts = node.slice.elts[1:] if isinstance(node.slice, ast.Tuple) else []
        slices = [p for p in parts if isinstance(p, ast.Slice)]
        ends = [p.upper for p in slices if p.upper is not None and spread(plan.facts.value(p.upper)) is Extent.VARYING]
        called = plan.program.function_of(node) is not None and spread(plan.facts.value(node.value)) is Extent.SAMPLES
        yield from (end for end in ends if called and any(_is_called(n, *MOST, *LEAST) for n in _made(plan, end)))


def _shrinks(plan: Reading, end: ast.expr) -> bool:
    made = _made(plan, end)
    less = (n for n in made if isinstance(n, ast.UnaryOp) or (isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)))
    return any(_is_called(n, *LEAST) and len(getattr(n, "args", ())) < 2 for n in made) or any(
        _is_called(part, *MOST) for n in less for part in walk(n.right if isinstance(n, ast.BinOp) else n)
    )


def _made(plan: Reading, end: ast.expr) -> list[ast.expr]:
    return [n for n in plan.bindings.made_of(end) if isinstance(n, ast.expr)]


def _is_called(made: ast.AST, *names: str) -> bool:
    return isinstance(made, ast.Call) and ast.unparse(made.func).rpartition(".")[2] in names
