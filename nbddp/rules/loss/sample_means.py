"""Means over some samples of a batch, written as the mean over those of all ranks.

A rank has N of the batch's samples, and may have more or less than one Nth of their weight: it divides what its own add
up to by the weight of all ranks, times N, since DDP takes the mean of the gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import marks_ignored
from nbddp.analysis.library import Samples, effect_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, Extent, Literal, Obj
from nbddp.edits import Edit, append_argument, keywords_of, set_arguments, wrap

NAME = "loss"
PART = "mean_over_samples"
TRAINED = "mean_over_trained_samples"  # by a function that evaluates too, there on batches of each rank's own
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
WIDTH = 120
OLD = {"size_average", "reduce", None}  # None stands for `**options`


def over_samples(plan: Plan, fact: CallFact) -> tuple[Edit, ...]:
    """The call, or nothing where that cannot be written."""
    training = {f.node for f in plan.roles.batch_loops}
    dealt = bool(fact.loops & plan.dealt)
    together = not (fact.varying_control or fact.ever_in_forward or (dealt and fact.untaped & training))
    together = together and not fact.bodies  # at times it is a function of the notebook, which takes other arguments
    if not (together and fact.loops & training and plan.facts.value(fact.node).extent is Extent.MEAN):
        return ()
    part = TRAINED if dealt else PART
    if isinstance(fact.node.func, ast.Attribute) and fact.node.func.attr == "mean" and not fact.names:
        return tuple(_method(plan, fact.node, part))
    if any(effect_of(n).samples is Samples.MEAN for n in fact.names):
        plain = len(fact.node.args) == 1 and not fact.node.keywords
        return tuple(_function(plan, fact.node, part)) if plain else ()
    return tuple(_loss(plan, fact, part))


def _method(plan: Plan, call: ast.Call, part: str) -> Iterator[Edit]:
    """`losses[mask].mean()`."""
    assert isinstance(call.func, ast.Attribute)
    if not (call.args or call.keywords):
        start, end = plan.program.span(call)
        first, last = plan.program.span(call.func.value)  # without the brackets around it
        yield Edit(NAME, start, first, f"{plan.naming(part)}(", "open", (part,))
        yield Edit(NAME, last, end, ")", "close")


def _function(plan: Plan, call: ast.Call, part: str) -> Iterator[Edit]:
    start, end = plan.program.span(call.func)
    yield Edit(NAME, start, end, plan.naming(part), "text", (part,))


def _loss(plan: Plan, fact: CallFact, part: str) -> Iterator[Edit]:
    """`criterion(output[mask], y[mask])`, `F.cross_entropy(output, y, weights)`."""
    call, built = fact.node, _built(plan, fact)
    name = LOSSES.get(built.name) if built else next((n.removeprefix(FUNCTIONAL) for n in fact.names), None)
    own = _options(plan, built, call.func) if built else {}
    named = keywords_of(call) | dict(zip(["weight"], call.args[2:], strict=False))
    if own is None or name not in LOSSES.values() or OLD & named.keys() or len(call.args) > (2 if built else 3):
        return
    given = {n: plan.program.source(v) for n, v in named.items() if n and not _is_none(plan, v)} | own
    weights = _weights(plan, call, given) if name in BY_LABEL else ""
    if weights is None or given.get("reduction", "mean").strip("\"'") != "mean":
        return
    if built:
        start, end = plan.program.span(call.func)
        yield Edit(NAME, start, end, f"{_library(plan, built)}functional.{name}")
    values = own | {"reduction": '"none"'}
    yield from set_arguments(plan.program, NAME, call, {n: v for n, v in values.items() if n in named})
    added = ", ".join(f"{n}={v}" for n, v in values.items() if n not in named)
    yield from [append_argument(plan.program, NAME, call, added, ())] if added else []
    yield from _around(plan, call, weights, len(added), part)


def _around(plan: Plan, call: ast.Call, weights: str, added: int, part: str) -> Iterator[Edit]:
    """On lines of their own where one would be too long."""
    start, end = plan.program.span(call)
    line = plan.program.text[plan.program.text.rfind("\n", 0, start) + 1 : end]
    inner = "\n" + line[: len(line) - len(line.lstrip())] + "    "
    fits = len(f"    {line}ddp_functional.{part}(){weights}") + added < WIDTH
    before, between, after = ("", ", ", "") if fits else (inner, f",{inner}", f",{inner[:-4]}")
    text = f"{between}{weights}" if weights else ""
    yield from wrap(plan.program, NAME, call, f"{plan.naming(part)}({before}", f"{text}{after})", (part,))


def _built(plan: Plan, fact: CallFact) -> Obj | None:
    """The loss that is called, where it is a single one of torch."""
    called = [*plan.facts.value(fact.node.func).objs]
    one = len(called) == 1 and called[0].kind == "loss" and called[0].name in LOSSES
    return called[0] if one and isinstance(called[0].node, ast.Call) else None


def _options(plan: Plan, built: Obj, name: ast.expr) -> dict[str, str] | None:
    """What it was built with, beside the mean; None where the function does not take the same."""
    assert isinstance(built.node, ast.Call)
    positional = ["weight"] * built.name.endswith(("EntropyLoss", "NLLLoss", "BCELoss", "LogitsLoss"))
    named = keywords_of(built.node) | dict(zip(positional, built.node.args, strict=False))
    how = named.pop("reduction", None)
    mean = how is None or plan.facts.value(how).const == "mean"
    if not mean or OLD & named.keys() or len(built.node.args) > len(positional) or not _may_stand_twice(plan, name):
        return None
    kept = {n: v for n, v in named.items() if n and not _is_none(plan, v)}
    return {n: _written(plan, v) or f"{plan.program.source(name)}.{n}" for n, v in kept.items()}


def _written(plan: Plan, value: ast.expr) -> str:
    number = value.operand if isinstance(value, ast.UnaryOp) else value
    return plan.program.source(value) if isinstance(number, ast.Constant) else ""


def _weights(plan: Plan, call: ast.Call, given: dict[str, str]) -> str | None:
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


def _of_part(plan: Plan, label: ast.expr) -> str | None:
    """As it is written of a rank's samples; nothing where these are cut out just there."""
    inside, (start, _) = {*walk(label)}, plan.program.span(label)
    text, splits = plan.program.source(label), plan.assumed.splits
    renamed = {n: plan.naming(new) for split in splits for n, new in split.renamed.items() if n in inside}
    for node in sorted(renamed, key=plan.program.span, reverse=True):
        first, last = plan.program.span(node)
        text = text[: first - start] + renamed[node] + text[last - start :]
    return None if any(n in inside for split in splits for n in split.inline) else text


def _is_probable(plan: Plan, label: ast.expr) -> bool:
    """Targets that are no classes, but how probable each is: `F.one_hot(y).float()`."""
    name = label.id if isinstance(label, ast.Name) else ""
    made = [n.value for n in plan.nodes() if isinstance(n, ast.Assign) and name in {ast.unparse(t) for t in n.targets}]
    words = {n.attr for part in (label, *made) for n in walk(part) if isinstance(n, ast.Attribute)}
    return bool(words & {"one_hot", "float", "double", "softmax"})


def _may_stand_twice(plan: Plan, node: ast.expr) -> bool:
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


def _is_perhaps_none(plan: Plan, node: ast.expr) -> bool:
    return plan.facts.value(node).const is Literal.PERHAPS_NONE


def _is_none(plan: Plan, node: ast.expr) -> bool:
    return plan.facts.value(node).const is Literal.NONE


def _library(plan: Plan, built: Obj) -> str:
    """`nn.` of `nn.CrossEntropyLoss`."""
    assert isinstance(built.node, ast.Call)
    module, _, name = plan.program.source(built.node.func).rpartition(".")
    return f"{module}." if module and name == built.name.rpartition(".")[2] else "torch.nn."
