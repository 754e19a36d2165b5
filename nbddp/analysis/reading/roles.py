"""Which thing plays which part in the training: loops, loaders, models, optimizers."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.reading.training_loops import only_looked_at
from nbddp.analysis.slicing import root_name
from nbddp.analysis.syntax import Program, walk
from nbddp.analysis.values import CallFact, Facts, Loop, LoopFact, Obj, Value, may_learn


@dataclass(frozen=True, eq=False)
class Model:
    """A model that the training changes, and how the training calls it."""

    obj: Obj
    optimizers: frozenset[Obj]
    forward_calls: tuple[ast.Call, ...]  # model(x) with gradients on
    bypasses: tuple[ast.Call, ...]  # calls that train it without going through its forward


@dataclass(frozen=True, eq=False)
class Roles:
    batch_loops: tuple[LoopFact, ...]  # loops over a training loader
    epoch_loops: tuple[LoopFact, ...]  # the loops right around those
    evaluation_loops: tuple[LoopFact, ...]
    training_loaders: frozenset[Obj]
    evaluation_loaders: frozenset[Obj]  # iterated in evaluation loops only
    models: tuple[Model, ...]
    optimizers: frozenset[Obj]
    schedulers: frozenset[Obj]
    followers: frozenset[Obj] = frozenset()  # models that the training moves without training them: averages, teachers


def find_roles(program: Program, facts: Facts, whole: Container[Loop]) -> Roles:
    """`whole` are evaluations that each rank runs on all data, though they may follow gradients."""
    loops = sorted(facts.loops.values(), key=lambda f: (len(f.parents), _line(f.node)))
    drawing = [f for f in loops if f.backward and f.node not in whole and (f.loaders or f.next_of)]
    going = [f for f in loops if f.backward and f.loader_nodes and f not in drawing]  # where all ranks draw alike
    batch = tuple(f for f in drawing if f.loaders or not _inner_draws(facts, f, [*drawing, *going]))
    evaluation = tuple(f for f in loops if f.loaders and f not in drawing and not f.lazy)
    looked_at = only_looked_at(program, facts)
    training_loaders = frozenset(o for f in batch for o in (f.loaders | f.next_of - looked_at))
    stepping = [c for c in facts.calls.values() if c.optimizers]
    training = {f.node for f in loops if f.backward}
    in_training = frozenset(o for c in stepping if c.loops & training for o in c.optimizers)
    every = _models(program, facts, frozenset(o for c in stepping for o in c.optimizers))
    models = tuple(m for m in every if not _is_tried_out(m, in_training))
    optimizers = frozenset(o for c in stepping for o in c.optimizers) - frozenset(
        o for m in every if m not in models for o in m.optimizers
    )
    return Roles(
        batch_loops=batch,
        epoch_loops=_epoch_loops(facts, batch),
        evaluation_loops=evaluation,
        training_loaders=training_loaders,
        evaluation_loaders=frozenset(o for f in evaluation for o in f.loaders) - training_loaders,
        models=models,
        optimizers=optimizers,
        schedulers=frozenset(o for v in facts.values.values() for o in v.of("scheduler")),
        followers=_followers(facts, frozenset(m.obj for m in models)),
    )


def _is_tried_out(model: Model, in_training: frozenset[Obj]) -> bool:
    """One step by hand before the training, of a model that is then made anew: all ranks take it alike."""
    used = model.forward_calls or model.bypasses or model.optimizers & in_training
    return bool(in_training) and not used


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _inner_draws(facts: Facts, fact: LoopFact, drawing: list[LoopFact]) -> bool:
    """A loop around the one that draws; what it draws by `next()` itself is looked at, and trains nothing."""
    inner = {other.node for other in drawing if fact.node in other.parents}
    around = [call.loops for b in facts.backward if fact.node in (call := facts.calls[b]).loops]
    return all(loops & inner for loops in around)


def _epoch_loops(facts: Facts, batch: tuple[LoopFact, ...]) -> tuple[LoopFact, ...]:
    """For each batch loop the innermost loops around it that count: not those over phases, folds or models.

    A function with the batch loop may be called from several.
    """
    found: dict[Loop, LoopFact] = {}
    for fact in batch:
        around = sorted((facts.loops[p] for p in fact.parents), key=lambda f: (-len(f.parents), _line(f.node)))
        counting = [f for f in around if not f.loaders and not f.named and not _lists_things(facts, f.node)]
        around_others = {node for f in counting for node in f.parents}
        found |= {f.node: f for f in [f for f in counting if f.node not in around_others] or counting[:1]}
    return tuple(found.values())


def _lists_things(facts: Facts, loop: Loop) -> bool:
    """`for phase in ["train", "val"]`, `for fold, (a, b) in enumerate(kfold.split(x))`."""
    if not isinstance(loop, ast.For | ast.AsyncFor):
        return isinstance(loop, ast.comprehension)
    source = loop.iter
    if facts.counts(source):
        return False
    while isinstance(source, ast.Call) and source.args:
        source = source.args[0]
    return isinstance(source, ast.Call | ast.List | ast.Tuple | ast.Dict)


def _models(program: Program, facts: Facts, optimizers: frozenset[Obj]) -> tuple[Model, ...]:
    by_model: dict[Obj, set[Obj]] = {}
    for optimizer in optimizers:
        for owner in facts.fields.get((optimizer, "params"), Value()).objs:
            for unit in _units(facts, owner):
                by_model.setdefault(unit, set()).add(optimizer)
    if not by_model:  # parameters moved by hand, or an optimizer whose parameters are not followed
        by_model = {o: set() for c in _training_calls(facts) for o in c.called if may_learn(facts, o)}
    ordered = sorted(by_model.items(), key=lambda item: _line(item[0].node))
    models = (Model(obj, frozenset(found), *_calls_of(program, facts, obj)) for obj, found in ordered)
    return tuple(replace(m, bypasses=_where_it_trains(facts, m, by_model)) for m in models)


def _where_it_trains(facts: Facts, model: Model, units: Container[Obj]) -> tuple[ast.Call, ...]:
    """Calls that pass by its forward; not those of a part that an earlier loop trains, by an optimizer of its own.

    Nor those of a teacher that an earlier loop has trained, where another optimizer moves the student.
    """
    steps = {loop for c in facts.calls.values() if c.optimizers & model.optimizers for loop in c.loops}
    others = {loop for c in facts.calls.values() if c.optimizers - model.optimizers for loop in c.loops}
    past = (facts.calls[c] for c in model.bypasses)
    apart = (f for f in past if f.loops & others or (f.called and all(o in units for o in f.called)))
    left_out = {f.node for f in apart if steps and f.loops and not f.loops & steps}
    return tuple(c for c in model.bypasses if c not in left_out)


def _followers(facts: Facts, trained: frozenset[Obj]) -> frozenset[Obj]:
    """Copies that follow a model by hand, in a loop that trains; parts of what is trained go with it."""
    training = {n for n, f in facts.loops.items() if f.backward}
    moved = {root for o, loops in facts.changed.items() if loops & training for root in facts.roots(o)}
    whole = {root for model in trained for root in facts.roots(model)}
    return frozenset(moved - trained - whole)


def _units(facts: Facts, owner: Obj) -> set[Obj]:
    """What to synchronise as one: the module that the training calls, be it the outermost or a part."""
    if owner.kind != "model":
        return set()
    called = {o for c in facts.calls.values() if not c.in_forward and c.grad for o in c.called if o.kind == "model"}
    return {owner} if owner in called else facts.roots(owner)


def _training_calls(facts: Facts) -> list[CallFact]:
    """Calls with gradients on in a training loop, if there is one; those from inside a model's forward left out."""
    training = {n for n, f in facts.loops.items() if f.backward}
    return [c for c in facts.calls.values() if c.grad and (c.loops & training or not training) and not c.in_forward]


def _calls_of(program: Program, facts: Facts, model: Obj) -> tuple[tuple[ast.Call, ...], tuple[ast.Call, ...]]:
    """Calls that train the model: through its forward, and past it."""
    calls = _training_calls(facts)
    forwards = tuple(c.node for c in calls if model in c.called)
    past = (c for c in calls if _is_past(facts, c, model) and not (forwards and _only_tells(program, c)))
    return forwards, tuple(c.node for c in past if not _is_shown_behind(program, facts, c))


def _only_tells(program: Program, call: CallFact) -> bool:
    """`model.save_words(vocabulary, path)`, of a class that is not read: no samples go in, and nothing is taken."""
    unread = not call.bodies and isinstance(program.parents[call.node], ast.Expr)
    return unread and not any(value.varies for value in call.args.values())


def _is_shown_behind(program: Program, facts: Facts, call: CallFact) -> bool:
    """`plot(model.generate(20))` behind the steps, also in a function that is called there: no step goes through it."""
    if only_shows(program, facts, program.function_of(call.node)):
        return True
    around = [[facts.loops[n] for n in facts.calls[b].loops] for b in facts.backward]
    inner = {max(loops, key=lambda f: len(f.parents)) for loops in around if loops}
    places = _places(program, facts, call.node, {program.function_of(f.node) for f in inner}, frozenset())
    return bool(inner) and all(around) and all(p and _is_behind(program, facts, facts.calls[p], inner) for p in places)


def only_shows(program: Program, facts: Facts, function: ast.AST | None) -> bool:
    """`test(model)`: it keeps nothing, follows nothing back, and nobody takes what it gives."""
    if function is None or _leaves_more(function):
        return False
    inside, waiting = set[ast.AST](), [function]
    while waiting:
        new = {*walk(waiting.pop())} - inside
        inside |= new
        waiting += [body for n in new if n in facts.calls for body in facts.calls[n].bodies - inside]
    callers = [f for f in facts.calls.values() if function in f.bodies]
    follows = any("torch.autograd.grad" in facts.calls[n].names for n in inside if n in facts.calls)
    shown = all(isinstance(program.parents[f.node], ast.Expr) for f in callers)
    return bool(callers) and shown and not follows and inside.isdisjoint(facts.backward)


def _places(
    program: Program, facts: Facts, node: ast.Call, around: set[ast.AST | None], seen: frozenset[ast.AST | None]
) -> list[ast.Call | None]:
    """Where it is reached from in the function of the steps; None where that is not seen, or where it leaves more."""
    function = program.function_of(node)
    if around == {function}:
        return [node]
    callers = [f.node for f in facts.calls.values() if function in f.bodies]
    if function is None or function in seen | around or not callers or _leaves_more(function):
        return [None]
    return [p for c in callers for p in _places(program, facts, c, around, seen | {function})]


def _leaves_more(function: ast.AST) -> bool:
    """Does it bind or fill anything that is not its own: a field, an item, a list that it is given?"""
    nodes = [*walk(function)]
    own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return any(isinstance(n, ast.Global | ast.Nonlocal) for n in nodes) or not _filled(nodes) <= own


def _filled(nodes: Iterable[ast.AST]) -> set[str]:
    """`samples.append(...)`, `samples[i] = ...`, `self.samples = ...`: what keeps what it is given."""
    places = [n for n in nodes if isinstance(n, ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store)]
    calls = (n.func for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return {
        root_name(f) or "" for f in (*places, *(c for c in calls if effect_of(f".{c.attr}").effect is Effect.STORES))
    }


def _is_behind(program: Program, facts: Facts, call: CallFact, inner: set[LoopFact]) -> bool:
    """Behind all steps, or behind backward() in their loop; and no step reads what is bound from there on."""
    statement, line = program.statement_of(call.node), call.node.lineno
    same = {f.node for f in inner} & call.loops
    ends = [getattr(f.node, "end_lineno", 0) for f in inner if f.parents & call.loops and f.node not in same]
    ends += [b.lineno for b in facts.backward if same & {*program.ancestors(b)}]
    nodes = [n for f in inner for n in walk(f.node)]
    later = [n for n in nodes if same and _line(n) >= line] + [*walk(statement)]
    bound = {n.id for n in later if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | _filled(later)
    read = {n.id for n in nodes if isinstance(n, ast.Name) and not (same and _line(n) >= line)}
    clear = _keeps_names(statement) or bool(same)
    return bool(ends) and all(line > end for end in ends) and not bound & read and clear


def _keeps_names(statement: ast.stmt) -> bool:
    """Is it no more than a call, or does it bind plain names only, and no field or item?"""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return isinstance(statement, ast.Expr | ast.Assign) and all(isinstance(t, ast.Name | ast.Tuple) for t in targets)


def _is_past(facts: Facts, call: CallFact, model: Obj) -> bool:
    if any(n.endswith(".functional_call") for n in call.names) and any(model in v.objs for v in call.args.values()):
        return True
    if call.runs_modules and any(owner == model for _, owner in call.methods):
        return True
    for obj in call.called - {model}:
        if obj.kind == "submodule" and obj.owner == model:
            return True
        if obj.kind == "model" and model in facts.roots(obj):
            return True
    return False
