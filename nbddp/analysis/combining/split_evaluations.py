"""Whether the batches of an evaluation loop can be dealt out among the ranks, or each has to see all of them."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.library import Effect, effect_of, under
from nbddp.analysis.slicing import carried_reads, fresh_names, read_names
from nbddp.analysis.syntax import Program, increment, walk
from nbddp.analysis.values import (
    WHOLE,
    Assumptions,
    CallFact,
    Extent,
    Facts,
    Loop,
    LoopFact,
    Machine,
    Obj,
    Value,
    alike,
    contents,
    is_read,
    spread,
)
from nbddp.sentence import NOTHING, Sentence, sentence

BatchLoop = ast.For | ast.AsyncFor | ast.While


def undealable(m: Machine, fact: LoopFact, own: set[str]) -> Sentence:
    """Why the batches of an evaluation loop cannot be dealt out; empty where they can. `own` are names it changes."""
    loop = fact.node
    assert isinstance(loop, BatchLoop)
    if m.context.varying:
        return sentence("some ranks may run this loop while others skip it")
    if isinstance(loop, ast.While) or fact.next_of & fact.loaders:
        return sentence("its batches are fetched one at a time with next()")
    if any((m.get(o, "dataset") or Value()).of("iterable dataset") for o in fact.loaders):
        return sentence("it reads an IterableDataset, whose batches have no index to split by")
    if fact.cut:
        return sentence("the loop may skip or regroup batches of the loader")
    if any(fact.node in other.parents and other.loaders for other in m.facts.loops.values()):
        return sentence("a loop over another DataLoader runs inside of it")
    if not fact.loader_nodes:
        return sentence("the loop does not name its DataLoader")
    if any(isinstance(n, ast.Break | ast.Return) and _leaves(m, n, loop) for n in walk(loop)):
        return sentence("the loop may end early")
    if fact.toggles:
        return sentence("train() or eval() is called inside of the loop")
    if len(fact.loaders) > 1 and len({*map(ast.unparse, fact.loader_nodes)}) > 1:
        return sentence("the loop reads several DataLoaders at once")
    alone = _goes_by_a_share(m, loop) or _looks_at_its_place(m, fact) or _leaves_traces(m, loop, own)
    return alone or _trains_statistics(m, loop) or _carries_on(m, loop)


def splits_inside(program: Program, assumed: Assumptions, facts: Facts, loop: Loop) -> bool:
    """`loss_batch(model, xb, yb)`, which trains where it is given an optimizer: each rank counts its samples there."""
    functions = {program.function_of(split.at) for split in assumed.splits} - {program.function_of(loop)}
    return any(loop in call.loops and functions & call.bodies for call in facts.calls.values())


def _looks_at_its_place(m: Machine, fact: LoopFact) -> Sentence:
    """A batch that is treated by its number, or by what the batches before it have left, is treated otherwise."""
    assert isinstance(fact.node, BatchLoop)
    carried, read = carried_reads(fact.node), read_names(fact.node.body)
    for name, value in m.visible().items():
        counts = name in read and not all(_counted_elsewhere(m, o, fact.node) for o in value.of("counter"))
        varies = m.held(value) not in WHOLE and not value.of("metric")
        shifts = not value.objs  # `last, now = now, best`: alike on all ranks, and after fewer turns
        apart = value.objs - {one.obj for one in m.assumed.counting.get(fact.node, ())}
        if varies and name in carried and value.objs and not apart:
            continue
        if varies and name in carried and value.objs and value.objs == value.of("instance"):
            return sentence("it collects values in '%1'", name)
        if counts or ((varies or shifts) and name in carried):
            return sentence(
                "the loop uses '%1', which depends on the position of the batch or on earlier batches", name
            )
    if (taken := _takes_the_next(m, fact.node)) is not None:
        return sentence(
            "the loop uses '%1', which depends on the position of the batch or on earlier batches", ast.unparse(taken)
        )
    return _sets_what_it_reads(m, fact.node)


def _goes_by_a_share(m: Machine, loop: BatchLoop) -> Sentence:
    """`scores > threshold`, `out / scaler.std()`, by what a rank has found in its own samples before."""
    read, anew = read_names(loop.body) - fresh_names(loop), _fields_set(m, loop)
    for node in (n for s in loop.body for n in walk(s)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in read and (None, name) in m.varying_before:
                value = m.lookup(name)
            case ast.Attribute(ctx=ast.Load()) if _reads_before(m, node, anew):
                value = m.facts.value(node)
            case ast.Call() if _asks_before(m, node, anew):
                value = m.facts.value(node)
            case _:
                continue
        number = value is not None and not (alike(value) or value.objs) and spread(value) is not Extent.SAMPLES
        if number:
            return sentence("the loop uses '%1', which each rank has for itself", ast.unparse(node))
    return NOTHING


def _fields_set(m: Machine, loop: BatchLoop) -> set[str]:
    """By what the loop runs for each of its batches: `self.log_det = …` in a forward."""
    run = {body for call in m.facts.calls.values() if loop in call.loops for body in call.bodies}
    stores = (n for part in (loop, *run) for n in walk(part) if isinstance(n, ast.Assign))
    return {t.attr for n in stores for target in n.targets for t in walk(target) if isinstance(t, ast.Attribute)}


def _reads_before(m: Machine, node: ast.Attribute, anew: set[str]) -> bool:
    owners = m.facts.value(node.value).of("instance") if node.attr not in anew else frozenset[Obj]()
    return any((owner, node.attr) in m.varying_before for owner in owners)


def _asks_before(m: Machine, call: ast.Call, anew: set[str]) -> bool:
    """A method that is given nothing of a batch."""
    fact = m.facts.calls.get(call)
    if fact is None or not fact.bodies or any(v.varies for v in fact.args.values()):
        return False
    read = (n for body in fact.bodies for n in walk(body) if isinstance(n, ast.Attribute))
    return any(_reads_before(m, n, anew) for n in read)


def _counted_elsewhere(m: Machine, counter: Obj, loop: BatchLoop) -> bool:
    """`for i, word in enumerate(words): index[word] = i`, in a loop that is neither around this one nor in it."""
    outer, above = {loop, *m.program.ancestors(loop)}, [*m.program.ancestors(counter.node)]
    return loop not in above and any(isinstance(a, ast.For | ast.comprehension) and a not in outer for a in above)


def _takes_the_next(m: Machine, loop: BatchLoop) -> ast.expr | None:
    """`next(numbers)` of what was there before the loop: another one for each of its turns."""
    calls = [c.node for c in m.facts.calls.values() if loop in c.loops and "next" in c.names and c.node.args]
    anew = fresh_names(loop)
    return next((c.args[0] for c in calls if not (isinstance(c.args[0], ast.Name) and c.args[0].id in anew)), None)


def _sets_what_it_reads(m: Machine, loop: Loop) -> Sentence:
    """`seen = counts["n"]; counts["n"] = seen + 1`: a number of turns, of which a rank takes a part."""
    inside = {*walk(loop)}
    stores = [s for s in inside if isinstance(s, ast.Assign | ast.AugAssign | ast.Call)]
    added = {b for s in stores for b in _only_added_to(s)}
    for place, given in (found for s in stores if (found := _put(s)) and not _only_added_to(s)):
        made = m.facts.value(place).of("dict", "list", "instance", "namespace")
        whole = all(m.held(m.facts.value(v)) in WHOLE and not m.facts.value(v).objs for v in given)
        text = ast.unparse(place)
        read = (n for n in inside - added - {place} if isinstance(n, type(place)) and ast.unparse(n) == text)
        if whole and any(not {o.node, o.site} & inside for o in made) and any(read):
            return sentence(
                "the loop uses '%1', which depends on the position of the batch or on earlier batches", text
            )
    return NOTHING


def _put(node: ast.AST) -> tuple[ast.expr, list[ast.expr]] | None:
    match node:
        case ast.Assign(targets=[ast.Subscript(value=place) | ast.Attribute(value=place)], value=value):
            return place, [value]
        case ast.Call(func=ast.Attribute(value=place, attr="update" | "setdefault"), args=args, keywords=keywords):
            return place, [*args, *(k.value for k in keywords)]
    return None


def _only_added_to(node: ast.AST) -> tuple[ast.expr, ...]:
    """`counts["n"] += 1`, `counts["n"] = counts["n"] + 1`: where the name of the container stands."""
    found = increment(node)
    if found is None or not isinstance(found.place, ast.Subscript | ast.Attribute):
        return ()
    return tuple(part.value for part in (found.place, found.before) if isinstance(part, type(found.place)))


def _of_before(m: Machine, name: str, value: Value) -> Value:
    """What this call of a function makes a name of the cells does not hold yet: `preds = test(model)`, once more."""
    frame = m.frame
    if frame.node is None or name in frame.global_names or m.globals.get(name) is not value:
        return value
    return replace(value, objs=frozenset(o for o in value.objs if o.site is None or o.site is not frame.call))


def _leaves_traces(m: Machine, loop: Loop, own: set[str]) -> Sentence:
    fresh = fresh_names(loop)  # an object is no name that could be combined, whatever the loop changes in it
    seen = {n: v for n, v in m.visible().items() if n not in own or (v.of("instance") and n not in fresh)}
    others = {name: _of_before(m, name, value) for name, value in seen.items()}
    reached = {o for v in contents(m.facts, Value(items=tuple(others.values())), None) for o in v.objs}
    counts = {(one.obj, field) for one in m.assumed.counting.get(loop, ()) for field in one.zeros}
    for (obj, name), value in m.facts.fields.items():
        if value.varies and (obj, name) not in m.varying_before | counts:
            outer = obj.kind in ("instance", "class") or obj in reached
            if outer or (obj.kind == "dict" and not _is_made_in(m, loop, obj.node)):
                if name.startswith("["):
                    return sentence("it fills a list or a dictionary that has no name here")
                return sentence("it collects values in '%1' of an object", name)
    for name, value in others.items():
        if value.varies and (None, name) not in m.varying_before:
            return sentence("it collects values in '%1'", name)
    inside = [c for c in m.facts.calls.values() if loop in c.loops]
    return sentence("the loop prints, plots, logs or writes something") if any(map(_shows, inside)) else NOTHING


WRITES = (Effect.WRITES, Effect.PICTURE)


def _shows(call: CallFact) -> bool:
    attr = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else ""
    if any(o.kind in ("writer", "file", "logger") for o in call.receivers) or (
        not call.names and effect_of(f".{attr}").effect in WRITES
    ):
        return True
    called = [effect_of(n) for n in call.names]
    shown = any(op.out or op.display or op.effect in WRITES for op in called)
    return shown or any(under(n, ("wandb",)) for n in call.names)


def _trains_statistics(m: Machine, loop: Loop) -> Sentence:
    """A model in training mode counts what it sees, and DDP sends the counts of rank 0 around at each pass."""
    for call in m.facts.calls.values():
        if loop in call.loops and not call.in_forward:
            models = {o for o in call.called if o.kind == "model"}
            if any(loop in call.taped or _counts(m, o) for o in models - m.asleep):
                return sentence("the model may be in training mode: no model.eval() was found before the loop")
            if models and loop in call.taped:  # DDP's own forward, in which the ranks may meet
                return sentence("gradients are recorded: there is no torch.no_grad() around the loop")
    return NOTHING


def _carries_on(m: Machine, loop: Loop) -> Sentence:
    """A model that keeps something from one call for the next: `out, self.h = self.rnn(x, self.h)`."""
    models = {o for c in m.facts.calls.values() if loop in c.loops for o in c.called | {o for _, o in c.methods}}
    for model in sorted(models, key=lambda o: getattr(o.node, "lineno", 0)):
        owner = m.facts.classes.get(model)
        for method in owner.body if owner is not None and model.kind == "model" else ():
            if isinstance(method, ast.FunctionDef) and method in m.facts.reached and not _builds(m, method):
                if kept := sorted(_kept(method)):
                    return sentence("the model carries '%1' over from one batch to the next", kept[0])
    return NOTHING


def _builds(m: Machine, method: ast.FunctionDef) -> bool:
    """`__init__`, and what that alone calls."""
    callers = {m.program.function_of(c.node) for c in m.facts.calls.values() if method in c.bodies}
    return method.name == "__init__" or {getattr(f, "name", "") for f in callers} == {"__init__"}


def _kept(method: ast.FunctionDef) -> set[str]:
    """Attributes of `self` that the method reads before it sets them."""
    own = [n for n in walk(method) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "self"]
    added = {n.target for n in walk(method) if isinstance(n, ast.AugAssign)}
    ends: dict[str, int] = {}
    for statement in (s for s in walk(method) if isinstance(s, ast.Assign | ast.AugAssign)):
        for name in {n.attr for n in walk(statement) if n in own and isinstance(n.ctx, ast.Store)}:
            last = statement.end_lineno or statement.lineno
            ends[name] = min(ends.get(name, last), last)
    reads = (n for n in own if isinstance(n.ctx, ast.Load) or n in added)
    return {n.attr for n in reads if n.lineno <= ends.get(n.attr, 0)}


def _counts(m: Machine, model: Obj) -> bool:
    """May it hold a BatchNorm?"""
    return "BatchNorm" in m.program.text or not is_read(m.facts, model)


def _is_made_in(m: Machine, loop: Loop, node: ast.AST) -> bool:
    """In the function around the loop, or anew in one that the loop calls."""
    maker = m.program.function_of(node)
    called = (c for c in m.facts.calls.values() if loop in c.loops)
    return maker is m.program.function_of(loop) or any(maker in c.bodies for c in called)


def _leaves(m: Machine, node: ast.AST, loop: ast.AST) -> bool:
    if isinstance(node, ast.Return):
        return m.program.function_of(node) is m.program.function_of(loop)
    around = (a for a in m.program.ancestors(node) if isinstance(a, BatchLoop))
    return next(around, None) is loop
