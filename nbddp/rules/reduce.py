"""What it does
    Combines what the ranks counted and collected over their parts of the data, right after the loop: sums are added up,
    means are averaged, lists are gathered in the order of one process.

Why DDP needs it
    After a loop over its part of the data, a rank knows only a partial result. Printed, returned or compared, it would
    look like the whole result.

Before
    for x, y in test_loader:
        correct += count_correct(x, y)
    print(correct / len(test_set))

After
    for x, y in test_loader:
        correct += count_correct(x, y)
    correct = sum_over_ranks(correct)
    print(correct / len(test_set))

Declines
    What nbddp does not understand: in an evaluation each rank then reads all of the data. In training, a number that
    goes into a product, a square or an item of a container is combined in each step; where that is not possible, the
    number is reported as covering only rank 0's part of the data.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from nbddp.analysis import Plan
from nbddp.analysis.agreement import Text, always_displayed, kind_of, name_over_ranks, outlets, over_ranks
from nbddp.analysis.slicing import fresh_names, inside
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import ASSUMED, Extent, Reduction, spread
from nbddp.diagnostics import Diagnostic, Level
from nbddp.edits import Edit, after, before, replace, wrap
from nbddp.sentence import NOTHING, sentence

NAME = "reduce"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for (loop, _), reduction in sorted(plan.facts.reductions.items(), key=lambda i: (_line(i[0][0]), *_first(*i[0]))):
        if isinstance(loop, ast.For | ast.AsyncFor | ast.While):
            yield _behind(plan, loop, reduction)
            yield from _on_leaving(plan, loop, reduction)
            if reduction.assumed:
                yield _assumed(plan, loop, reduction.name)
    at_source = (p for found in plan.facts.at_source.values() for p in found)
    for node, part in dict.fromkeys([*at_source, *plan.assumed.returned.items()]):
        yield from _around(plan, node, part)
    told: set[str] = set()
    let_out = [*outlets(plan)]
    whole = [*plan.assumed.returned, *(outlet.node for outlet in let_out if outlet.way is not None)]
    made_whole = {n for node in (*whole, *_gone_through_by(plan, whole)) for n in walk(node)}
    yield from _in_texts(plan, {outlet.node: outlet.way for outlet in let_out})
    for outlet in let_out:
        if outlet.way is not None and outlet.node in plan.program.parents:
            if plan.facts.value(outlet.node).of(ASSUMED):
                yield _assumed(plan, outlet.node, plan.program.source(outlet.node))
            yield from _around(plan, outlet.node, outlet.way)
        if outlet.told:
            yield _own(plan, outlet.node, "warning")
        elif outlet.way is None:
            told.update(n.id for n in walk(outlet.node) if isinstance(n, ast.Name))
            yield _own(plan, outlet.node, "warning" if outlet.decides else "note")
    left = (key for key in plan.facts.unreduced if not plan.facts.at_source.get(key))
    for loop, name in sorted(left, key=lambda i: (_line(i[0]), i[1])):
        places = [n for n in walk(loop) if isinstance(n, ast.Name) and n.id == name and name not in told]
        behind = (_behind_it(plan, loop, name) or _last_of(plan, loop, name, places)) if places else []
        partial = [n for n in behind if n not in made_whole]
        if partial and not always_displayed(plan, places[0]):
            yield _own(plan, min(partial, key=_line), "note")


def _gone_through_by(plan: Plan, combined: list[ast.expr]) -> Iterator[ast.expr]:
    """`logs.items()`, of `{k: mean_over_ranks(sum(v) / len(v)) for k, v in logs.items()}`."""
    around = (a for node in combined if node in plan.program.parents for a in plan.program.ancestors(node))
    yield from (generator.iter for a in around for generator in getattr(a, "generators", ()))


def _in_texts(plan: Plan, ways: Mapping[ast.expr, str | None]) -> Iterator[Edit]:
    """`"{loss.val}".format(loss=losses)`: what the text reads of it is given for itself."""
    for call, fields in plan.program.text_fields.items():
        func = call.func
        assert isinstance(func, ast.Attribute)
        combined = {f.given for f in fields if ways.get(f.read)}
        start, source = plan.program.span(func.value)[0], plan.program.source(func.value)
        for field in (f for f in fields if f.given in combined):
            for found in re.finditer(field.pattern, source):
                yield Edit(NAME, start + found.start(), start + found.end(), field.name, "text")
        for given in (k for k in call.keywords if k in combined):
            own = [f for f in fields if f.given is given]
            texts = {f: over_ranks(plan, f.read, way) if (way := ways.get(f.read)) else Text("", "", ()) for f in own}
            shown = (f"{f.name}={t.before}{ast.unparse(f.read)}{t.after}" for f, t in texts.items())
            yield replace(plan.program, NAME, given, ", ".join(shown), tuple(u for t in texts.values() for u in t.uses))


def _behind_it(plan: Plan, loop: ast.AST, name: str) -> list[ast.Name]:
    """Where the loop's own function, or its cells, read it behind the loop; another loop over batches sets its own."""
    function, end = plan.program.function_of(loop), getattr(loop, "end_lineno", 0)
    later = [f.node for f in plan.roles.batch_loops if _line(f.node) > end and name in fresh_names(f.node)]
    elsewhere = {n for other in later for n in walk(other)}
    names = (n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
    behind = (n for n in names if n.lineno > end and n not in elsewhere)
    return [n for n in behind if plan.program.function_of(n) is function]


def _last_of(plan: Plan, loop: ast.AST, name: str, places: list[ast.Name]) -> list[ast.Name]:
    """Where it is read elsewhere; what the loop alone reads, in its next run, it has itself let out, or has not."""
    inside = {*walk(loop)}
    reads = (n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
    return [max(places, key=_line)] if any(n not in inside for n in reads) else []


def _around(plan: Plan, node: ast.expr, part: str) -> Iterator[Edit]:
    text, name = over_ranks(plan, node, part), plan.program.source(node)
    fields = part == "gather_samples" and _is_batch(plan, node)  # a list of them: each is gathered
    before, behind = ("tuple(", f") if isinstance({name}, list) else {name}") if fields else ("", "")
    yield from wrap(plan.program, NAME, node, f"{text.before}{before}", f"{behind}{text.after}", text.uses)


def _own(plan: Plan, node: ast.expr, level: Level) -> Diagnostic:
    batch = spread(plan.facts.value(node)) is Extent.SAMPLES
    shown = plan.program.source(node) if node in plan.program.parents else ast.unparse(node)
    return plan.program.diagnose(
        NAME, level, node,
        sentence("'%1' covers only rank 0's part of the data: it is not combined across ranks",
                 shown),
        why=sentence("each rank has its own samples of the batch") if batch
        else sentence("the ranks' values cannot be combined at this place"),
        help=NOTHING if batch else sentence("accumulate it with += in the loop, and use it after the loop"),
    )  # fmt: skip


def _assumed(plan: Plan, node: ast.stmt | ast.expr, what: str) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "note", node, sentence("'%1' is combined across ranks as if it were built from batch means", what),
        why=sentence("it is multiplied by the size of the batch, but nbddp cannot see how it was computed"),
    )  # fmt: skip


def _first(loop: ast.AST, name: str) -> tuple[int, int, str]:
    """Where the loop names it first: several are combined in the notebook's own order."""
    root = re.split(r"\W", name)[0]
    places = [(n.lineno, n.col_offset) for n in walk(loop) if isinstance(n, ast.Name) and n.id == root]
    return (*min(places, default=(0, 0)), name)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _on_leaving(plan: Plan, loop: ast.For | ast.AsyncFor | ast.While, reduction: Reduction) -> Iterator[Edit]:
    """`return losses` in the midst of the loop: what a list holds counts as put together from the loop on."""
    for leaving in [n for n in inside(loop.body) if isinstance(n, ast.Return)]:
        read = [n for n in walk(leaving) if isinstance(n, ast.Name) and n.id == reduction.name]
        if any(plan.facts.value(n).of("list", "dict") for n in read):
            line, uses = _put_together(plan, loop, reduction)
            yield before(plan.program, NAME, leaving, line, uses)


def _behind(plan: Plan, loop: ast.For | ast.AsyncFor | ast.While, reduction: Reduction) -> Edit:
    line, uses = _put_together(plan, loop, reduction)
    return after(plan.program, NAME, loop, line, uses)


def _put_together(
    plan: Plan, loop: ast.For | ast.AsyncFor | ast.While, reduction: Reduction
) -> tuple[str, tuple[str, ...]]:
    name = reduction.name
    if reduction.how == "gather":
        uses: tuple[str, ...] = ("gather_in_order",)
        call = f"{plan.naming('gather_in_order')}({name}, {_loader(plan, loop)})"
    elif reduction.how.startswith("gather"):
        uses = (reduction.how,)
        fields = f"[tuple(batch) if isinstance(batch, list) else batch for batch in {name}]"
        given = fields if reduction.how == "gather_batches" and _holds_batches(plan, loop, name) else name
        call = f"{plan.naming(reduction.how)}({given})"
        if loop in plan.sharding.mixed:
            uses = (*uses, "is_share")
            call = f"{call} if {plan.naming('is_share')}({_loader(plan, loop)}) else {name}"
    elif reduction.how == "sum" and loop in plan.sharding.mixed:
        uses = ("sum_over_shares", f"adds {kind_of(plan, reduction)}")
        call = f"{plan.naming('sum_over_shares')}({name}, {_loader(plan, loop)})"
    else:
        text = name_over_ranks(plan, reduction)
        uses, call = text.uses, f"{text.before}{name}{text.after}"
    line = f"{name} = {call}"
    if reduction.in_place and reduction.how != "gather_part":  # a part is no longer what others have by another name
        line = f"{name}.update({call})" if _is_dict(plan, loop, name) else f"{name}[:] = {call}"
    return line, uses


def _holds_batches(plan: Plan, loop: ast.AST, name: str) -> bool:
    """`kept.append(batch)`: a list of what a data set gives, as torch's own collate function makes it; no samples."""
    for node in walk(loop):
        match node:
            case ast.Call(func=ast.Attribute(value=kept, attr="append"), args=[one]):
                if plan.program.source(kept) == name and _is_batch(plan, one):
                    return True
    return False


def _is_batch(plan: Plan, node: ast.expr) -> bool:
    for binding in plan.bindings.of(node) if isinstance(node, ast.Name) else ():
        if not isinstance(loop := binding.by, ast.For) or loop not in plan.facts.loops:
            continue
        calls = (plan.facts.calls.get(c) for c in walk(loop.iter) if isinstance(c, ast.Call))
        called = {name for fact in calls if fact is not None for name in fact.names}
        numbered = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) and "enumerate" in called else None
        drawn = plan.facts.loops[loop].loaders if binding.target is (numbered or loop.target) else frozenset()
        if drawn and not any(
            "collate_fn" in plan.facts.calls[o.node].args for o in drawn if o.node in plan.facts.calls
        ):
            return True
    return False


def _is_dict(plan: Plan, loop: ast.AST, name: str) -> bool:
    return any(plan.facts.value(n).of("dict") for n in walk(loop) if isinstance(n, ast.Name) and n.id == name)


def _loader(plan: Plan, loop: ast.AST) -> str:
    """The text by which the loop names its loader."""
    nodes = plan.facts.loops[loop].loader_nodes  # type: ignore[index]
    return plan.program.source(min(nodes, key=lambda n: (n.lineno, n.col_offset)))
