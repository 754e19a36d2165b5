"""Means over some samples of a batch that can be written as the mean over those of all ranks.

A rank has N of the batch's samples, and may have more or less than one Nth of their weight: it divides what its own add
up to by the weight of all ranks, times N, since DDP takes the mean of the gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nbddp.analysis.agreement.weighted_losses import marks_ignored, weighted_losses
from nbddp.analysis.library import Samples, effect_of, entry_of
from nbddp.analysis.loaders import ShardedReading
from nbddp.analysis.syntax import keywords_of, walk
from nbddp.analysis.values import BY_MASK, PICKED, RAGGED, CallFact, Extent, Literal, Loop, Obj, Value, spread

FUNCTIONAL = "torch.nn.functional."
LOSSES = {  # torch's own, which without a reduction give each sample's
    "torch.nn.BCELoss": "binary_cross_entropy",
    "torch.nn.BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "torch.nn.CrossEntropyLoss": "cross_entropy",
    "torch.nn.HuberLoss": "huber_loss",
    "torch.nn.L1Loss": "l1_loss",
    "torch.nn.MSELoss": "mse_loss",
    "torch.nn.NLLLoss": "nll_loss",
    "torch.nn.SmoothL1Loss": "smooth_l1_loss",
}
BY_LABEL = ("cross_entropy", "nll_loss")  # their weights are those of classes
OLD = {"size_average", "reduce", None}  # None stands for `**options`


@dataclass(frozen=True)
class SampleMean:
    """How a call is written that takes such a mean."""

    by: str  # a "method" of the losses, a "function" that is given them, or a "loss"
    evaluates: bool  # by a function that evaluates too, there on batches of each rank's own
    function: str = ""  # of the loss, where it was a module
    values: tuple[tuple[str, str], ...] = ()  # what the loss gets for each sample's instead of their mean
    weights: str = ""  # by which its mean divides


@dataclass(frozen=True)
class SampleMeans:
    """Of a training."""

    written: Mapping[CallFact, SampleMean]
    weighted: tuple[ast.Call, ...]  # by weights, and cannot be written so
    picked: tuple[ast.Call, ...]  # over selected samples, likewise


def sample_means(plan: ShardedReading) -> SampleMeans:
    """All that a training takes over some samples; not those of an evaluation that each rank runs whole."""
    training = {f.node for f in plan.roles.batch_loops}
    written, weighted, picked = dict[CallFact, SampleMean](), list[ast.Call](), list[ast.Call]()
    for call in weighted_losses(plan):
        own = {f: _written(plan, f) for f in _calls_of(plan, call) if f.loops & training - plan.dealt}
        made = {f: mean for f, mean in own.items() if mean}
        if own and len(made) == len(own):
            written |= made
        elif own or plan.facts.value(call).varies:
            weighted.append(call)
    for fact in _over_picked(plan, training):
        by_mask = all(v.of(BY_MASK) for v in _given(plan, fact) if v.of(PICKED))
        if by_mask and (mean := _written(plan, fact)):
            written[fact] = mean
        else:
            picked.append(fact.node)
    return SampleMeans(written, tuple(weighted), tuple(picked))


def _calls_of(plan: ShardedReading, loss: ast.Call) -> Iterator[CallFact]:
    """Of a loss that is built by a call, or the call itself, where it is that of a function."""
    builds = bool(plan.facts.value(loss).of("loss"))
    for fact in _by_place(plan):
        built = any(o.node is loss for o in plan.facts.value(fact.node.func).objs)
        if built or (fact.node is loss and fact.names and not builds):
            yield fact


def _over_picked(plan: ShardedReading, training: set[Loop]) -> Iterator[CallFact]:
    """`criterion(output[mask], y[mask])`, `losses[mask].mean()`."""
    for fact in _by_place(plan):
        trains = (fact.grad and fact.loops & training) or fact.innermost & training - plan.dealt
        if trains and _picks(_given(plan, fact)) and _is_mean(plan, fact):
            yield fact


def _picks(given: list[Value]) -> bool:
    """Rows of which one sample may have more than another are one of each again beside a label of each."""
    picked = [v for v in given if v.of(PICKED)]
    beside = any(spread(v) is Extent.SAMPLES and v not in picked for v in given)
    return bool(picked) and not (beside and all(o.name == RAGGED for v in picked for o in v.of(PICKED)))


def _by_place(plan: ShardedReading) -> list[CallFact]:
    return sorted(plan.facts.calls.values(), key=lambda c: plan.program.span(c.node))


def _is_mean(plan: ShardedReading, fact: CallFact) -> bool:
    averages = plan.facts.is_loss(fact.node) or entry_of(fact.node, plan.flow.imports).samples is Samples.MEAN
    return averages and plan.facts.value(fact.node).extent is Extent.MEAN


def _given(plan: ShardedReading, fact: CallFact) -> list[Value]:
    func = fact.node.func
    return [*fact.args.values(), *([plan.facts.value(func.value)] if isinstance(func, ast.Attribute) else [])]


def _written(plan: ShardedReading, fact: CallFact) -> SampleMean | None:
    """Nothing where it cannot be written."""
    training = {f.node for f in plan.roles.batch_loops}
    dealt = bool(fact.loops & plan.dealt)
    together = not (fact.varying_control or fact.ever_in_forward or (dealt and fact.untaped & training))
    together = together and not fact.bodies  # at times it is a function of the notebook, which takes other arguments
    if not (together and fact.loops & training and plan.facts.value(fact.node).extent is Extent.MEAN):
        return None
    call = fact.node
    if isinstance(call.func, ast.Attribute) and call.func.attr == "mean" and not fact.names:  # `losses[mask].mean()`
        return None if call.args or call.keywords else SampleMean("method", dealt)
    if any(effect_of(n).samples is Samples.MEAN for n in fact.names):
        return SampleMean("function", dealt) if len(call.args) == 1 and not call.keywords else None
    return _of_loss(plan, fact, dealt)


def _of_loss(plan: ShardedReading, fact: CallFact, dealt: bool) -> SampleMean | None:
    """`criterion(output[mask], y[mask])`, `F.cross_entropy(output, y, weights)`."""
    call, built = fact.node, _built(plan, fact)
    name = LOSSES.get(built.name) if built else next((n.removeprefix(FUNCTIONAL) for n in fact.names), None)
    own = _options(plan, built, call.func) if built else {}
    named = keywords_of(call) | dict(zip(["weight"], call.args[2:], strict=False))
    if own is None or name not in LOSSES.values() or OLD & named.keys() or len(call.args) > (2 if built else 3):
        return None
    given = {n: plan.program.source(v) for n, v in named.items() if n and not _is_none(plan, v)} | own
    weights = _weights(plan, call, given) if name in BY_LABEL else ""
    if weights is None or given.get("reduction", "mean").strip("\"'") != "mean":
        return None
    function = f"{_library(plan, built)}functional.{name}" if built else ""
    return SampleMean("loss", dealt, function, tuple((own | {"reduction": '"none"'}).items()), weights)


def _built(plan: ShardedReading, fact: CallFact) -> Obj | None:
    """The loss that is called, where it is a single one of torch; of a function's, in each of its calls."""
    called = [*plan.facts.value(fact.node.func).objs]
    one = len({o.node for o in called}) == 1 and called[0].kind == "loss" and called[0].name in LOSSES
    return called[0] if one and isinstance(called[0].node, ast.Call) else None


def _options(plan: ShardedReading, built: Obj, name: ast.expr) -> dict[str, str] | None:
    """What it was built with, beside the mean; None where the function does not take the same."""
    assert isinstance(built.node, ast.Call)
    positional = ["weight"] * built.name.endswith(("EntropyLoss", "NLLLoss", "BCELoss", "LogitsLoss"))
    named = keywords_of(built.node) | dict(zip(positional, built.node.args, strict=False))
    how = named.pop("reduction", None)
    mean = how is None or plan.facts.value(how).const == "mean"
    if not mean or OLD & named.keys() or len(built.node.args) > len(positional):
        return None
    kept = {n: v for n, v in named.items() if n and not _is_none(plan, v)}
    if name is built.node:  # `nn.CrossEntropyLoss(weight)(output, y)`
        twice = all(_may_stand_twice(plan, v) for v in kept.values())
        return {n: plan.program.source(v) for n, v in kept.items()} if twice else None
    written = {n: _literal(plan, v) or f"{plan.program.source(name)}.{n}" for n, v in kept.items()}
    return written if _may_stand_twice(plan, name) else None


def _literal(plan: ShardedReading, value: ast.expr) -> str:
    number = value.operand if isinstance(value, ast.UnaryOp) else value
    return plan.program.source(value) if isinstance(number, ast.Constant) else ""


def _weights(plan: ShardedReading, call: ast.Call, given: dict[str, str]) -> str | None:
    """By which its mean divides, as a second argument; None where that cannot be written."""
    left_out = given.get("ignore_index", "-100" if marks_ignored(plan) else "")
    label = keywords_of(call).get("target") or (call.args[1] if len(call.args) > 1 else None)
    if not left_out and "weight" not in given:
        return ""
    weight = next((v for n, v in keywords_of(call).items() if n == "weight"), None) or next(iter(call.args[2:]), None)
    if label is None or _is_probable(plan, label) or not _may_stand_twice(plan, label):
        return None
    if weight is not None and (_is_perhaps_none(plan, weight) or not _may_stand_twice(plan, weight)):
        return None
    target = _of_part(plan, label)
    if target is None:
        return None
    counted = f"{target} != {left_out}"
    if "weight" not in given:
        return counted
    return f"{given['weight']}[{target}[{counted}]]" if left_out else f"{given['weight']}[{target}]"


def _of_part(plan: ShardedReading, label: ast.expr) -> str | None:
    """As it is written of a rank's samples; nothing where these are cut out just there."""
    inside, (start, _) = {*walk(label)}, plan.program.span(label)
    text, splits = plan.program.source(label), plan.assumed.splits
    renamed = {n: plan.naming(new) for split in splits for n, new in split.renamed.items() if n in inside}
    for node in sorted(renamed, key=plan.program.span, reverse=True):
        first, last = plan.program.span(node)
        text = text[: first - start] + renamed[node] + text[last - start :]
    return None if any(n in inside for split in splits for n in split.inline) else text


def _is_probable(plan: ShardedReading, label: ast.expr) -> bool:
    """Targets that are no classes, but how probable each is: `F.one_hot(y).float()`."""
    name = label.id if isinstance(label, ast.Name) else ""
    made = [n.value for n in plan.nodes() if isinstance(n, ast.Assign) and name in {ast.unparse(t) for t in n.targets}]
    words = {n.attr for part in (label, *made) for n in walk(part) if isinstance(n, ast.Attribute)}
    return bool(words & {"one_hot", "float", "double", "softmax"})


def _may_stand_twice(plan: ShardedReading, node: ast.expr) -> bool:
    """Names, items, and other views of them."""
    match node:
        case ast.Name() | ast.Constant() | ast.Slice():
            return True
        case ast.Attribute(value=value):
            return _may_stand_twice(plan, value)
        case ast.Subscript(value=value, slice=at):
            inside = at.elts if isinstance(at, ast.Tuple) else [at]
            return _may_stand_twice(plan, value) and all(_may_stand_twice(plan, i) for i in inside)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)):
            return effect_of(f".{attr}").samples is Samples.KEEPS and _may_stand_twice(plan, value)
    return False


def _is_perhaps_none(plan: ShardedReading, node: ast.expr) -> bool:
    return plan.facts.value(node).const is Literal.PERHAPS_NONE


def _is_none(plan: ShardedReading, node: ast.expr) -> bool:
    return plan.facts.value(node).const is Literal.NONE


def _library(plan: ShardedReading, built: Obj) -> str:
    """`nn.` of `nn.CrossEntropyLoss`."""
    assert isinstance(built.node, ast.Call)
    module, _, name = plan.program.source(built.node.func).rpartition(".")
    return f"{module}." if module and name == built.name.rpartition(".")[2] else "torch.nn."
