"""Call a method in the abstract: of models, optimizers, containers, and tensors."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.classes import bases_of, class_member, line_of
from nbddp.analysis.evaluator.iteration import sent_to
from nbddp.analysis.evaluator.methods.command_lines import call_parser
from nbddp.analysis.evaluator.methods.containers import container_method, fill
from nbddp.analysis.evaluator.methods.in_place import LEAVES_VALUES, change_in_place
from nbddp.analysis.evaluator.methods.models import (
    RETURNS_MODEL,
    backward,
    model_method,
    optimizer_method,
    scaler_method,
)
from nbddp.analysis.evaluator.tensors import REPLACES, counted, note_mixed, tensor_method
from nbddp.analysis.evaluator.writes import moved_by_hand
from nbddp.analysis.library import Samples, effect_of, steps_within
from nbddp.analysis.values import (
    ANYTHING,
    Args,
    Extent,
    Frame,
    Keywords,
    Machine,
    Value,
    foreign,
    has_parameters,
    join,
    optimizers_of,
)


def call_method(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value:
    if attr == "backward":
        return backward(m, node)
    if attr in RETURNS_MODEL and base.of("foreign"):
        return Value(base.of("foreign"))
    if attr in ("parameters", "named_parameters"):
        has_parameters(m, base)
    if attr == "step" and (inner := optimizers_of(m, base)):
        m.mark_loops(step=True)
        m.facts.calls[node].optimizers.update(inner)
    if attr in ("load_state_dict", "update_parameters", "reset_parameters") and isinstance(node.func, ast.Attribute):
        moved_by_hand(m, node.func.value)
    for step in steps_within(attr):
        _with_a_batch(m, node, step, [*args, *keywords.values()])
    for kinds, method in _BY_KIND:
        if base.of(*kinds):
            found = method(m, node, base, attr, args, keywords)
            if found is not None:
                return found
    op = effect_of(f".{attr}")
    keeps = op.samples is Samples.KEEPS
    args, keywords = counted(attr, base, args, keywords)
    note_mixed(m, node, base, attr, args, keywords)
    word = attr if keeps or attr in LEAVES_VALUES | REPLACES or attr.endswith("__") else attr.removesuffix("_")
    result = tensor_method(m, base, word, args, keywords)
    if attr.endswith("_") and attr not in LEAVES_VALUES and isinstance(node.func, ast.Attribute):
        moved_by_hand(m, node.func.value, [*args, *keywords.values()])
    if not (op.reads or keeps) and isinstance(node.func, ast.Attribute):
        change_in_place(m, node, node.func, base, result, [*args, *keywords.values()])
    unknown = base.of("foreign") and not result.objs and not result.varies and not keeps
    return replace(foreign(m, node, attr), extent=result.extent) if unknown else result  # `data.make_loader()`


def _with_a_batch(m: Machine, node: ast.Call, step: str, given: Args) -> None:
    """`trainer.fit(net)`: what `net.training_step(batch, 0)` does to the samples; the framework is who trains."""
    for obj in (o for value in given for o in value.of("model", "instance") if o in m.facts.classes):
        for method in (class_member(m, m.facts.classes[obj], step, obj) or ANYTHING).of("method"):
            with m.within(grad=False):
                m.steps.function(m, method, [Value(extent=Extent.SAMPLES), ANYTHING], {}, node)


def _nothing(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    return ANYTHING


def _drawing(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    """`fig.add_subplot(111)`, `ax.twinx()`."""
    return base


def _metric(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    # torchmetrics gathers over the ranks itself when its value is asked for
    return base if attr in ("to", "cuda", "cpu") else ANYTHING


def _super(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    """`super().method(…)`: run the method of a base class on the same instance."""
    frame = m.frame
    result: Value | None = None
    for obj in _first_argument(frame).objs:
        owner = m.facts.classes.get(obj)
        if owner is None:
            continue
        for parent in bases_of(m, owner).of("class"):
            member = class_member(m, parent.node, attr, obj)
            for method in member.of("method") if member else ():
                if method.node is not frame.node:
                    value = m.steps.function(m, method, args, keywords, node)
                    result = value if result is None else join(result, value)
    if result is None and (itself := _first_argument(frame)).of("model"):
        result = model_method(m, node, itself, attr, args, keywords)  # torch's: `return super().to(device)`
    if result is None and (held := Value(_first_argument(frame).of("list", "dict"))).objs:
        result = container_method(m, node, held, attr, args, keywords)  # Python's: `super().append(value)`
        fill(m, held, args if attr == "__init__" else [], keywords)
    return result or ANYTHING


def _generator(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    """`average.send(loss.item())`: its body goes on where that is called, and gives what it yields next."""
    for obj in sorted(base.of("generator"), key=line_of) if attr == "send" and args else ():
        m.put(sent_to(obj.node), "[]", args[0])
        if obj in m.resumed and all(frame.node is not obj.node for frame in m.frames):
            m.resumed[obj]()
    return m.elements(base) if attr in ("send", "__next__") else None


def _first_argument(frame: Frame) -> Value:
    spec = getattr(frame.node, "args", None)
    named = [*spec.posonlyargs, *spec.args] if isinstance(spec, ast.arguments) else []
    return frame.local.get(named[0].arg, ANYTHING) if named else ANYTHING


_BY_KIND = (
    (("super",), _super),
    (("generator",), _generator),
    (("model", "submodule"), model_method),
    (("optimizer",), optimizer_method),
    (("scaler",), scaler_method),
    (("scheduler", "writer", "tracker", "file", "logger", "device", "iterator"), _nothing),
    (("list", "dict"), container_method),
    (("drawing",), _drawing),
    (("metric",), _metric),
    (("parser",), call_parser),
)
