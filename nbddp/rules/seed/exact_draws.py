"""Under `--exact` a step draws for the whole batch, and all ranks stay where one process is: where that ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from operator import or_

from nbddp.analysis import Plan
from nbddp.analysis.library import Samples, Stream, effect_of, entry_of
from nbddp.analysis.splitting import may_turn, step_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, Extent, Value, of_weights, spread
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before, wrap
from nbddp.rules.seed.draws_for_models import like_weights
from nbddp.sentence import sentence

INSIDE = ("torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU", "torch.nn.functional.scaled_dot_product_attention")


def for_the_whole_batch(plan: Plan, name: str) -> Iterator[Edit | Diagnostic]:
    """What is drawn behind a step is drawn as it stands there; `my_part` begins the next one."""
    line, uses = f"{plan.naming('drawn_for_all')}.end()", ("drawn_for_all",)
    for split in plan.assumed.splits:
        steps = step_of(plan, split)
        yield after(plan.program, name, steps[-1], line, uses)
        if may_turn(plan):
            yield before(plan.program, name, split.at, f"{plan.naming('drawn_for_all')}.turns = True", uses)
        for node in (n for s in steps for n in walk(s)):
            if isinstance(node, ast.Return) or (
                isinstance(node, ast.Continue | ast.Break) and _leaves(plan, node, steps)
            ):
                yield before(plan.program, name, node, line, uses)
    yield from drawn_for_weights(plan, name)
    if (joined := _one_behind_the_other(plan)) is not None:
        yield plan.program.diagnose(
            "seed", "note", joined,
            sentence("a model with dropout is given two batches one behind the other, and it is not seen of which "
                     "samples a rank has its rows"),
            why=sentence("with --exact too, the numbers therefore differ from those of one process"),
            help=sentence("call the model for each of them"),
        )  # fmt: skip
    yield from drawn_inside(plan)


def in_whole_batches(plan: Plan, name: str) -> Iterator[Edit | Diagnostic]:
    """In models that split them."""
    yield from drawn_inside(plan)
    yield from drawn_for_weights(plan, name)


def drawn_for_weights(plan: Plan, name: str) -> Iterator[Edit]:
    said = {**dict.fromkeys(_of_weights(plan), "of_no_sample("), **{n: f"along({at}, " for n, at in _along(plan)}}
    for node in sorted(said, key=plan.program.span):
        if said.keys().isdisjoint(plan.program.ancestors(node)):
            before = f"{plan.naming('drawn_for_all')}.{said[node]}lambda: "
            yield from wrap(plan.program, name, node, before, ")", ("drawn_for_all",))


def drawn_inside(plan: Plan) -> Iterator[Diagnostic]:
    """Dropout of a layer of torch's, which no function of the script's draws."""
    for call in plan.calls(*INSIDE):
        word = "dropout_p" if call.node.func and "attention" in next(iter(call.names)) else "dropout"
        given = next((k.value for k in call.node.keywords if k.arg == word), None)
        if given is not None and plan.facts.value(given).const != 0 and _takes_packed(plan, call.node):
            yield plan.program.diagnose(
                "seed", "error", call.node,
                sentence("this draws its dropout for sequences that are packed one behind the other, which is not "
                         "sample by sample"),
                help=sentence("use nn.Dropout beside it, or leave out --exact"),
            )  # fmt: skip
        elif given is not None and plan.facts.value(given).const != 0:
            yield plan.program.diagnose(
                "seed", "note", call.node,
                sentence("on a GPU this draws its dropout inside, where it cannot be drawn for the whole batch"),
                why=sentence("--exact draws for the whole batch what single functions of torch draw: on a GPU the "
                             "script stops at the first step"),
                help=sentence("use nn.Dropout beside it, or leave out --exact"),
            )  # fmt: skip


def _takes_packed(plan: Plan, layer: ast.Call) -> bool:
    """`self.rnn(packed)`, of `packed = pack_padded_sequence(x, lengths)`."""
    uses = (f.node for f in plan.facts.calls.values() if any(o.node is layer for o in f.called))
    made = (n for use in uses for given in use.args[:1] for n in (given, *plan.bindings.made_by(given)))
    facts = (plan.facts.calls.get(n) for n in made if isinstance(n, ast.Call))
    return any(effect_of(name).packs for fact in facts if fact is not None for name in fact.names)


def _of_weights(plan: Plan) -> Iterator[ast.Call]:
    """`torch.randn(self.rows, 4)`, `self.noise.normal_()`: of the size of a part it would be taken for one.

    In a step too: `torch.randn(64, 100)`, however many samples a batch has.
    """
    steps = {n for split in plan.assumed.splits for s in step_of(plan, split) for n in walk(s)}
    for fact in plan.facts.calls.values():
        inside = fact.ever_in_forward or fact.node in steps
        if inside and _draws_by_torch(fact) and (like_weights(plan, fact) or _is_fixed(plan, fact.node)):
            yield fact.node


def _along(plan: Plan) -> Iterator[tuple[ast.Call, int]]:
    """`torch.randn(2, x.shape[0], 8)`: a part of a batch may have as many samples as another dimension has rows."""
    for fact in plan.facts.calls.values():
        if fact.ever_in_forward and fact.names and _draws_by_torch(fact):
            given = fact.node.args
            sizes = given[0].elts if given and isinstance(given[0], ast.Tuple | ast.List) else given
            found = [at for at, n in enumerate(sizes) if (v := plan.facts.value(n)).varies or v.size]
            if len(found) == 1 and found[0]:
                yield fact.node, found[0]


def _draws_by_torch(fact: CallFact) -> bool:
    func = fact.node.func
    by_word = isinstance(func, ast.Attribute) and not fact.names and not fact.bodies
    ops = [effect_of(f".{func.attr}")] if by_word else [effect_of(name) for name in fact.names]  # type: ignore[attr-defined]
    return any((op.makes == "tensor" or by_word) and op.draws is Stream.TORCH for op in ops)


def _is_fixed(plan: Plan, draw: ast.Call) -> bool:
    """Is the size that of a parameter, or known when the model is built? All that tells of it is of no sample then."""
    names = [n for n in plan.bindings.made_of(draw) if isinstance(n, ast.Name | ast.Attribute)]
    parts = [n for n in names if not isinstance(n, ast.Attribute) or not _is_of_it(plan, n)]
    values = [plan.facts.value(n) for n in parts]
    known = [of_weights(v) or v.number or bool(v.of("submodule")) or _is_sized(v) for v in values]
    things = (
        bool(v.of("library", "model", "instance")) or _is_field(plan, n) for n, v in zip(parts, values, strict=True)
    )
    sized = any(known) or any(isinstance(n, ast.Constant) for given in draw.args for n in walk(given))
    return sized and all(map(or_, known, things)) and not any(v.varies or v.size for v in values)


def _is_sized(value: Value) -> bool:
    """A tensor whose shape is known, as a buffer: samples have a first size that is not."""
    return isinstance(value.shape, tuple) and None not in value.shape and value.shape != ()


def _is_of_it(plan: Plan, node: ast.Attribute) -> bool:
    """`self.mean.data`, `self.mean.size()`"""
    called = isinstance(call := plan.program.parents.get(node), ast.Call) and call.func is node
    return called or node.attr in ("data", "shape", "device", "dtype")


def _is_field(plan: Plan, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and bool(plan.facts.value(node.value).of("model", "instance"))


def _one_behind_the_other(plan: Plan) -> ast.Call | None:
    """`model(torch.cat((real, fake)))`"""
    given = (
        a for f in plan.facts.calls.values() if f.grad and f.called & plan.wrapping.homes.keys() for a in f.node.args
    )
    for node in (n for a in given if "ropout" in plan.program.text for n in plan.bindings.made_of(a)):
        if not isinstance(node, ast.Call) or not node.args or any(k.arg in ("dim", "axis") for k in node.keywords):
            continue
        parts = getattr(node.args[0], "elts", ())
        along = plan.facts.value(node.args[1]).const if len(node.args) > 1 else 0
        joins = entry_of(node, plan.flow.imports).samples is Samples.JOINS and not ast.unparse(node.func).endswith(
            "stack"
        )
        if (
            joins
            and along == 0
            and len(parts) > 1
            and all(spread(plan.facts.value(p)) is Extent.SAMPLES for p in parts)
        ):
            return node
    return None


def _leaves(plan: Plan, node: ast.AST, steps: list[ast.stmt]) -> bool:
    """Does it go on or end a loop around the step, and not one within it?"""
    for around in plan.program.ancestors(node):
        if isinstance(around, ast.For | ast.While):
            return False
        if around in steps:
            return True
    return True
