"""Run statements in the abstract, in their order; loops twice, branches side by side."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nbddp.analysis import domain
from nbddp.analysis import library as names
from nbddp.analysis.accumulators import fresh_start, inside, starts_at_zero
from nbddp.analysis.attributes import is_class_method
from nbddp.analysis.calls import iterate, loaders_in, parts
from nbddp.analysis.comparisons import can_be_agreed
from nbddp.analysis.domain import ANYTHING, Extent, Obj, Value, join, spread, thing, truth
from nbddp.analysis.drawing import generated, is_cut, is_indirect, yields
from nbddp.analysis.effects import all_arguments
from nbddp.analysis.expressions import binary, evaluate, library, put_element
from nbddp.analysis.facts import Loop, LoopFact
from nbddp.analysis.foreign import bound, iterated
from nbddp.analysis.imports import bindings
from nbddp.analysis.literals import literal_elements
from nbddp.analysis.machine import DEPTH, Active, Env, Frame, Machine
from nbddp.analysis.moving import moved_by_hand
from nbddp.analysis.reductions import leave_loop
from nbddp.analysis.scaling import as_mean, tell_unlike
from nbddp.analysis.taint import taint
from nbddp.analysis.uneven import is_uneven, note_size
from nbddp.sentence import sentence

Stops = ast.Return | ast.Raise | ast.Break | ast.Continue


def run_block(m: Machine, body: list[ast.stmt]) -> bool:
    """Run statements; True when the block ends by leaving."""
    for statement in body:
        if not m.tick():
            return False
        run_statement(m, statement)
        if isinstance(statement, Stops):
            return True
    return False


def run_statement(m: Machine, node: ast.stmt) -> None:
    method = _TABLE.get(type(node))
    if method is not None:
        method(m, node)


# binding ---------------------------------------------------------------------
def assign(m: Machine, target: ast.expr, value: Value, *, added: bool = False) -> None:
    """Bind a target; `added` where the value was put on top of what was there."""
    match target:
        case ast.Name():
            m.bind(target.id, bound(m, target, value))
        case ast.Tuple() | ast.List():
            _unpack(m, target.elts, value)
        case ast.Starred():
            assign(m, target.value, value)
        case ast.Attribute():
            owner = evaluate(m, target.value)
            value = bound(m, target, value)
            for obj in owner.objs:
                m.put(obj, target.attr, value)
                if obj.kind == "model":
                    for child in parts(m, value) - {obj}:
                        m.facts.contained.setdefault(child, set()).add(obj)
        case ast.Subscript():
            _put_item(m, target, value, added)


def _put_item(m: Machine, target: ast.Subscript, value: Value, added: bool) -> None:
    container, key = evaluate(m, target.value), evaluate(m, target.slice)
    put_element(m, container, value, key.const)
    chosen = key.varies and not added  # by the samples of the share: what belongs to others is not met
    if not container.of("list", "dict", "model", "submodule") and (put := m.held(value)) not in domain.WHOLE:
        taint(m, target.value, Extent.VARYING if chosen else domain.join_extent(spread(container), put))
    note_size(m.facts, container.of("dict") if key.varies else ())
    for holder in container.of("submodule", "model"):
        for child in parts(m, value):
            m.facts.contained.setdefault(child, set()).add(holder.owner or holder)


def _unpack(m: Machine, targets: list[ast.expr], value: Value) -> None:
    if value.items is not None and len(value.items) == len(targets):
        for target, item in zip(targets, value.items, strict=True):
            assign(m, target, item)
        return
    if value.of("shape"):
        varies = value.varies
        for i, target in enumerate(targets):
            extent = Extent.SUM if varies and i == 0 else Extent.UNIFORM
            assign(m, target, Value(extent=extent, equal=not m.deals(), number=True))
        return
    if value.of("split"):
        each = Value(frozenset(Obj("dataset", t, "split", o) for t in targets[:1] for o in value.of("split")))
        for target in targets:
            assign(m, target, Value(frozenset(Obj("dataset", target, "split", o.owner) for o in each.objs)))
        return
    for target in targets:
        assign(m, target, value if value.of("foreign") else iterate(m, value, target))


def _assign(m: Machine, node: ast.Assign) -> None:
    grown = _grown(node)
    value = _increment(m, *grown) if grown else evaluate(m, node.value)
    for target in node.targets:
        if isinstance(target, ast.Attribute) and target.attr == "data":
            moved_by_hand(m, target.value)
        assign(m, target, value)


def _grown(node: ast.Assign) -> tuple[ast.expr, ast.operator, ast.expr] | None:
    """`x = x + e` counts as `x += e`."""
    if len(node.targets) != 1 or not isinstance(node.value, ast.BinOp) or not isinstance(node.value.op, ast.Add):
        return None
    target, left = node.targets[0], node.value.left
    if isinstance(target, ast.Name) and isinstance(left, ast.Name) and left.id == target.id:
        return left, node.value.op, node.value.right
    return None


def _increment(m: Machine, target: ast.expr, op: ast.operator, operand: ast.expr) -> Value:
    old, new = evaluate(m, target), as_mean(m, operand, evaluate(m, operand))
    if old.of("list") and isinstance(op, ast.Add):
        inner = m.elements(new) if new.of("list") else iterate(m, new, operand)
        put_element(m, old, domain.marked(inner, domain.PICKED) if new.of(domain.PICKED) else inner)
        return old
    counts = m.varying_control or (m.loops and m.loops[-1].deals)
    if counts and isinstance(op, ast.Add | ast.Sub) and not new.varies:
        # how often this runs differs between ranks: what is counted adds up, samples and not what ranks think of shares
        adds_up = spread(old) in (Extent.UNIFORM, Extent.SUM) and not m.share_control
        extent = Extent.SUM if adds_up else Extent.VARYING
        return Value(extent=extent, number=old.number and new.number)
    if isinstance(op, ast.Add) and spread(new) is Extent.SAMPLES and spread(old) is Extent.SUM:
        return old
    gathers = old.extent in domain.WHOLE and not old.const and not _begun_here(m, operand)
    if isinstance(op, ast.Add) and spread(new) is Extent.SUM and gathers:
        number = old.number and new.number
        return Value(extent=Extent.SUM, equal=new.equal and domain.alike(old), number=number)  # an accumulator
    return tell_unlike(m, binary(old, new, op), (target, old), (operand, new))


def _begun_here(m: Machine, operand: ast.expr) -> bool:
    """`loss = penalty; loss += errors.sum()`: in the same turn of the batches, and not with zero."""
    statement = m.program.statement_of(operand)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Name) or not any(active.shares for active in m.loops):
        return False
    start = fresh_start(m.program, statement, target.id)
    return start is not None and not starts_at_zero(start, target.id)


def _aug_assign(m: Machine, node: ast.AugAssign) -> None:
    load = _as_load(node.target)
    moved_by_hand(m, node.target)
    value = _increment(m, load, node.op, node.value)
    control, m.varying_control = m.varying_control, 0
    assign(m, node.target, value, added=True)
    m.varying_control = control


def _as_load(target: ast.expr) -> ast.expr:
    """The same place, read: a fresh node for the last step only, the inner ones are loads already."""
    copy: ast.expr
    match target:
        case ast.Name():
            copy = ast.Name(target.id, ast.Load())
        case ast.Attribute():
            copy = ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            copy = ast.Subscript(target.value, target.slice, ast.Load())
        case _:
            return target
    return ast.copy_location(copy, target)


def _ann_assign(m: Machine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(m, node.target, evaluate(m, node.value))


def _delete(m: Machine, node: ast.Delete) -> None:
    env = m.globals if m.frame.node is None else m.frame.local
    for target in node.targets:
        if isinstance(target, ast.Name):
            env.pop(target.id, None)


def _import(m: Machine, node: ast.Import | ast.ImportFrom) -> None:
    for name, target in bindings(node):
        if name == "*":
            m.star_imports.append(target.removesuffix(".*"))
        else:
            m.set_plain(name, library(target))


# definitions -------------------------------------------------------------------
def _function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for part in [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
        evaluate(m, part)
    if m.frame.node is not None:
        m.closures[node] = m.frame
    m.set_plain(node.name, thing("function", node, node.name))


def _class(m: Machine, node: ast.ClassDef) -> None:
    obj = Obj("class", node, node.name)
    found = [evaluate(m, b) for b in node.bases]
    m.facts.fields[obj, "__bases__"] = Value(frozenset(o for b in found for o in b.objs))
    frame = Frame(node, {}, outer=m.frame if m.frame.node is not None else None)
    m.frames.append(frame)
    run_block(m, node.body)
    m.frames.pop()
    for name, value in frame.local.items():
        m.facts.fields[obj, name] = value
    m.set_plain(node.name, Value(frozenset({obj})))


def run_function(m: Machine, obj: Obj, args: list[Value], keywords: dict[str, Value], node: ast.Call | None) -> Value:
    """Run the body of a function of the notebook with these arguments."""
    function = obj.node
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return ANYTHING
    running = sum(f.node is function for f in m.frames)
    if running > 1 or len(m.frames) > DEPTH or not m.tick():
        varies = any(v.varies for v in [*args, *keywords.values()])
        return Value(extent=Extent.VARYING if varies else Extent.UNIFORM)
    if is_class_method(function):
        args = [_class_around(m, function, obj.owner), *args]
    elif obj.kind == "method" and obj.owner is not None:
        args = [Value(frozenset({obj.owner})), *args]
    env = _bind_arguments(m, function, args, keywords)
    frame = Frame(function, env, outer=m.closures.get(function), call=node)
    m.facts.reached.add(function)
    if node in m.facts.calls:
        m.facts.calls[node].bodies.add(function)
    m.frames.append(frame)
    control = m.varying_control
    grad = m.grad
    if isinstance(function, ast.Lambda):
        frame.returned = evaluate(m, function.body)
    else:
        frame.global_names = _declared(function, ast.Global)
        frame.outer_names = _declared(function, ast.Nonlocal)
        m.grad = grad and not _without_gradients(m, function)
        m.drawing.append(set())
        run_block(m, function.body)
        drawn = m.drawing.pop()
    m.grad = grad
    m.varying_control = control
    m.frames.pop()
    if not isinstance(function, ast.Lambda) and yields(function):
        return generated(m, frame, obj.owner, drawn)
    return frame.returned or ANYTHING


def _declared(function: ast.AST, kind: type[ast.Global] | type[ast.Nonlocal]) -> frozenset[str]:
    """Of the function itself, not of those that it defines."""
    return frozenset(n for s in inside(function.body) if isinstance(s, kind) for n in s.names)  # type: ignore[attr-defined]


def _class_around(m: Machine, method: ast.AST, owner: Obj | None) -> Value:
    """What a class method gets first: the class by which it is asked for, that of a thing, the one that defines it."""
    if owner is not None and owner.kind == "class":
        return Value(frozenset({owner}))
    known = m.facts.classes.get(owner) if owner is not None else None
    node = known or m.program.parents.get(method)
    return thing("class", node, node.name) if isinstance(node, ast.ClassDef) else ANYTHING


def _without_gradients(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    for decorator in node.decorator_list:
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        if any(o.name in names.NO_GRAD for o in m.facts.value(func).of("library")):
            return True
    return False


def _bind_arguments(
    m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, args: list[Value], keywords: dict[str, Value]
) -> Env:
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    env: Env = {}
    defaults = dict(zip([a.arg for a in positional[::-1]], spec.defaults[::-1], strict=False))
    defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
    for name, default in defaults.items():
        env[name] = m.facts.value(default)
    for arg in all_arguments(spec):
        env.setdefault(arg.arg, ANYTHING)
    for arg, value in zip(positional, args, strict=False):
        env[arg.arg] = value
    if spec.vararg and len(args) > len(positional):
        env[spec.vararg.arg] = Value(items=tuple(args[len(positional) :]))
    if "*" in keywords:
        env.update({n: _one_of(keywords["*"]) for a in positional[len(args) :] if _takes(defaults.get(n := a.arg))})
    known = {a.arg for a in all_arguments(spec)} - {a.arg for a in (spec.vararg, spec.kwarg) if a}
    keywords = _unfolded(m, keywords)
    if (unnamed := _unnamed(m, keywords)) is not None:
        env.update(dict.fromkeys(known - {a.arg for a in positional[: len(args)]}, unnamed))
    env.update({k: v for k, v in keywords.items() if k in known})
    if spec.kwarg:
        rest = m.make("dict", spec.kwarg)
        for name in keywords.keys() - known - {"*", "**"}:
            put_element(m, rest, keywords[name], name)
        env[spec.kwarg.arg] = rest
    return env


def _one_of(given: Value) -> Value:
    return Value(given.objs, spread(given))


def _takes(default: ast.expr | None) -> bool:
    """May an argument be one of `f(*batch)`? What has a default of its own is seldom meant."""
    return default is None or (isinstance(default, ast.Constant) and default.value is None)


def _unnamed(m: Machine, keywords: dict[str, Value]) -> Value | None:
    """`model(**batch)`: what any argument may be, where nothing is known of the names in the dictionary."""
    given = keywords.get("**", ANYTHING)
    if any(o in given.objs and field.startswith("['") for o, field in m.facts.fields) or m.held(given) in domain.WHOLE:
        return None
    return Value(extent=m.held(given))


def _unfolded(m: Machine, keywords: dict[str, Value]) -> dict[str, Value]:
    """`f(**options)`: what is known to stand in the dictionary, by its name."""
    given = dict(keywords)
    for obj in keywords["**"].of("dict") if "**" in keywords else ():
        for (owner, field), value in m.facts.fields.items():
            if owner == obj and field.startswith("['"):
                given.setdefault(field[2:-2], value)
    return given


def _return(m: Machine, node: ast.Return) -> None:
    value = evaluate(m, node.value) if node.value else ANYTHING
    if m.frame.node is not None and yields(m.frame.node):
        return  # what a generator returns is not among what it yields
    m.frame.returned = value if m.frame.returned is None else join(m.frame.returned, value)


# branches ------------------------------------------------------------------------
def _copies(m: Machine) -> tuple[Env, list[Env]]:
    return dict(m.globals), [dict(f.local) for f in m.frames]


def _restore(m: Machine, saved: tuple[Env, list[Env]]) -> None:
    m.globals = dict(saved[0])
    for frame, local in zip(m.frames, saved[1], strict=True):
        frame.local = dict(local)


def _join_env(a: Env, b: Env) -> Env:
    return {k: join(a[k], b[k]) if k in a and k in b else a.get(k, b.get(k, ANYTHING)) for k in {**a, **b}}


def _join_states(states: list[tuple[Env, list[Env]]]) -> tuple[Env, list[Env]]:
    globals_, locals_ = states[0]
    for other_globals, other_locals in states[1:]:
        globals_ = _join_env(globals_, other_globals)
        locals_ = [_join_env(x, y) for x, y in zip(locals_, other_locals, strict=True)]
    return globals_, locals_


def _branches(m: Machine, *bodies: list[ast.stmt]) -> None:
    before = _copies(m)
    ends = []
    for body in bodies:
        _restore(m, before)
        if not run_block(m, body):
            ends.append(_copies(m))
    _restore(m, _join_states(ends) if ends else before)


@contextmanager
def varying(m: Machine, yes: bool) -> Iterator[None]:
    m.varying_control += yes
    yield
    m.varying_control -= yes


@contextmanager
def decided(m: Machine, test: ast.expr, value: Value) -> Iterator[None]:
    """By each rank for itself: of a sample, or of its share as a whole; in a loop over samples it is one of them."""
    differs = m.differs(test, value)
    own = differs and not can_be_agreed(m.facts, test)  # as it will be
    of_share = own and spread(value) is not Extent.SAMPLES and m.sharing() and not (m.varying_control or m.deals())
    m.share_control += of_share
    m.own_turns += own
    with varying(m, differs):
        yield
    m.own_turns -= own
    m.share_control -= of_share


def _if(m: Machine, node: ast.If) -> None:
    test = evaluate(m, node.test)
    if (known := truth(test)) is not None:
        run_block(m, node.body if known else node.orelse)
        return
    m.conditions += 1
    with decided(m, node.test, test):
        _branches(m, node.body, node.orelse)
    m.conditions -= 1


def _match(m: Machine, node: ast.Match) -> None:
    subject = evaluate(m, node.subject)
    for case in node.cases:
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                m.bind(part.name, subject)
    with varying(m, subject.varies):
        _branches(m, *(c.body for c in node.cases), [])


def _try(m: Machine, node: ast.Try) -> None:
    run_block(m, node.body)
    run_block(m, node.orelse)
    for handler in node.handlers:
        if handler.name:
            m.bind(handler.name, ANYTHING)
        _branches(m, handler.body, [])
    run_block(m, node.finalbody)


def _with(m: Machine, node: ast.With | ast.AsyncWith) -> None:
    grad = m.grad
    for item in node.items:
        value = evaluate(m, item.context_expr)
        m.grad = _grad_under(m, item.context_expr, m.grad)
        if item.optional_vars is not None:
            assign(m, item.optional_vars, value)
    run_block(m, node.body)
    m.grad = grad


def _grad_under(m: Machine, node: ast.expr, now: bool) -> bool:
    func = node.func if isinstance(node, ast.Call) else node
    called = {o.name for o in m.facts.value(func).of("library")}
    if called & names.NO_GRAD:
        return False
    if called & {"torch.set_grad_enabled", "torch.enable_grad"} and isinstance(node, ast.Call):
        argument = truth(evaluate(m, node.args[0])) if node.args else True
        return now if argument is None else argument
    return now


# loops -----------------------------------------------------------------------------
def _enter(m: Machine, node: Loop, iterable: Value | None, source: ast.expr | None) -> LoopFact:
    fact = m.facts.loops.setdefault(node, LoopFact(node))
    fact.parents.update(a.fact.node for a in m.loops)
    fact.function = m.frame.node
    for name, value in m.visible().items():
        fact.names[name] = join(fact.names[name], value) if name in fact.names else value
    if iterable is not None and source is not None:
        loaders = loaders_in(m, iterable)
        fact.loaders |= loaders
        fact.loader_nodes |= _loader_nodes(m, source)
        fact.indirect |= loaders if is_indirect(m, iterable) else set()
        fact.cut |= is_cut(m, iterable)
        fact.lazy |= yields(node)
        fact.named |= _names_things(m, iterable)
        for seen in m.drawing:
            seen.update(loaders)
        fact.foreign |= iterated(m, iterable)
        known = _is_known(m, iterable)
        fact.opaque |= not known and not iterable.varies and not _counts(source)
        fact.varying_iterable |= iterable.varies
    return fact


def _names_things(m: Machine, iterable: Value) -> bool:
    """A list of phases, rates or models, a dictionary: its turns are no epochs."""
    inside = literal_elements(m, iterable) or ([m.elements(iterable)] if iterable.of("list") else [])
    parts = [part for value in inside for part in value.items or (value,)]
    return bool(iterable.of("dict")) or any(isinstance(p.const, str | float) or p.objs - p.of("counter") for p in parts)


def _is_known(m: Machine, value: Value, depth: int = 0) -> bool:
    """Is it seen what the loop draws from, through `enumerate` and bars?"""
    wrapped = [inner for o in value.of("iterator") if (inner := m.get(o, "of")) is not None]
    things = value.objs - value.of("foreign")
    if any(_counts(o.node) for o in value.of("iterator")):
        return True
    if wrapped and things == value.of("iterator") and depth < 6:
        return any(_is_known(m, inner, depth + 1) for inner in wrapped)
    return bool(things or value.items) or value.const is not None


def _counts(source: ast.AST) -> bool:
    """`range(10)`, `enumerate(range(10))`, `tqdm(range(10))`."""
    if not isinstance(source, ast.Call):
        return False
    return source_name(source) in ("range", "trange", "arange") or bool(source.args and _counts(source.args[0]))


def source_name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _loader_nodes(m: Machine, source: ast.expr) -> set[ast.expr]:
    """The outermost expressions in a loop's iterable that are loaders themselves; through names of wrappers."""
    if m.facts.value(source).of("loader"):
        return {source}
    found: set[ast.expr] = set()
    if isinstance(source, ast.Call):
        for part in [*source.args, *(k.value for k in source.keywords)]:
            found |= _loader_nodes(m, part)
        return found
    for obj in m.facts.value(source).of("iterator"):
        if isinstance(obj.node, ast.Call):
            found |= _loader_nodes(m, obj.node)
    return found


def _turns(m: Machine, fact: LoopFact, one: Callable[[Active], None], loaders: set[Obj]) -> bool:
    """Run a body twice, so that what an iteration leaves meets the next; after a loop it may also not have run.

    True where it runs over shares of these loaders.
    """
    shares = _draws_shares(m, fact.node, loaders)
    backward = unsure = False
    for turn in range(2):
        before = _copies(m)
        active = Active(fact, shares, shares and turn > 0 and not (fact.backward or fact.lazy), m.conditions)
        m.loops.append(active)
        one(active)
        m.loops.pop()
        backward, unsure = backward or active.backward, unsure or active.unsure
        _restore(m, _join_states([before, _copies(m)]))
    _note_use(fact, loaders, backward, unsure)
    return shares


def _draws_shares(m: Machine, loop: Loop, loaders: set[Obj]) -> bool:
    return bool(loaders & m.mixed[loop]) if loop in m.mixed else bool(loaders) and loop not in m.whole


def _note_use(fact: LoopFact, loaders: set[Obj], backward: bool, unsure: bool) -> None:
    """What a loop that has been run does with its loaders this time: it watches, trains, or perhaps trains."""
    seen = fact.watched if not backward else fact.perhaps if unsure else fact.trained
    seen |= loaders | fact.next_of


def _for(m: Machine, node: ast.For | ast.AsyncFor) -> None:
    iterable = evaluate(m, node.iter)
    fact = _enter(m, node, iterable, node.iter)
    before, loaders = m.varying_fields(), loaders_in(m, iterable)
    if loaders and not m.sharing() and not _draws_shares(m, node, loaders):
        _made_beside(m, node)
    uneven = is_uneven(m.facts, iterable)
    m.own_turns += uneven
    with varying(m, uneven or _draws_varying(m, iterable)):

        def one(active: Active) -> None:
            for value in literal_elements(m, iterable) or [element(m, iterable, node, active)]:
                assign(m, node.target, value)
                run_block(m, node.body)

        shares = _turns(m, fact, one, loaders)
    m.own_turns -= uneven
    steps = fact.backward and m.facts.draws_itself(fact)
    if (fact.loaders or steps) and not fact.lazy and (shares or node not in m.mixed):
        m.varying_before = before
        leave_loop(m, fact)
    run_block(m, node.orelse)


def _made_beside(m: Machine, loop: ast.For | ast.AsyncFor) -> None:
    """Hidden states in an evaluation on all of the data are of its batches, whatever share of the number sized them."""
    read = {n.id for n in inside(loop.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for name in sorted(read):
        value = m.lookup(name)
        if value is not None and spread(value) is Extent.SAMPLES:
            m.set_plain(name, value.with_extent(Extent.REPEATED))


def _draws_varying(m: Machine, iterable: Value) -> bool:
    """Does how often the loop turns differ between ranks?"""
    if iterable.varies:
        return True
    inner = [v for o in iterable.of("iterator") if (v := m.get(o, "of")) is not None]
    return any(v.varies or _draws_varying(m, v) for v in inner) or any(
        _draws_varying(m, i) for v in inner for i in v.items or ()
    )


def element(m: Machine, iterable: Value, node: ast.AST, active: Active) -> Value:
    """What one turn gets; the counter of a dealt-out loop differs between ranks, that of a shared one does not."""
    value = iterate(m, iterable, node)
    whole = bool(active.fact.loaders) and not active.shares
    if value.items and value.items[0].of("counter"):
        counter, *rest = value.items
        counter = Value(counter.objs, Extent.VARYING) if active.deals else counter
        return replace(value, items=(counter, *(r.with_extent(Extent.REPEATED) if whole else r for r in rest)))
    return value.with_extent(Extent.REPEATED) if whole else value


def _while(m: Machine, node: ast.While) -> None:
    fact = _enter(m, node, None, None)

    def one(active: Active) -> None:
        with decided(m, node.test, evaluate(m, node.test)):
            run_block(m, node.body)

    _turns(m, fact, one, set())
    if fact.next_of:
        leave_loop(m, fact)
    run_block(m, node.orelse)


def comprehension_loops(m: Machine, generators: list[ast.comprehension], body: Callable[[], None]) -> None:
    if not generators:
        body()
        return
    first = generators[0]
    iterable = evaluate(m, first.iter)
    fact = _enter(m, first, iterable, first.iter)
    loaders = loaders_in(m, iterable)
    active = Active(fact, bool(loaders & m.dealt.get(first, frozenset())))
    m.loops.append(active)
    outer = m.turn
    for turn in range(2):
        active.shares &= not (turn and first in m.unsure)  # a share, or all of it: a sum is then neither
        for value in literal_elements(m, iterable) or [element(m, iterable, first, active)]:
            m.turn = Obj("turn", first, repr(value.const)) if value.const is not None else outer
            assign(m, first.target, value)
            for condition in first.ifs:
                evaluate(m, condition)
            with varying(m, is_uneven(m.facts, iterable)):
                comprehension_loops(m, generators[1:], body)
    m.turn = outer
    m.loops.pop()
    _note_use(fact, loaders, active.backward, active.unsure)
    if fact.backward:
        m.facts.keep_whole.pop(first, None)
    elif fact.loaders:
        m.facts.keep_whole[first] = sentence("a comprehension has no place behind it where the ranks could meet")


def _expression(m: Machine, node: ast.Expr) -> None:
    evaluate(m, node.value)


def _assert(m: Machine, node: ast.Assert) -> None:
    evaluate(m, node.test)


_TABLE: dict[type[ast.stmt], Callable[[Machine, Any], None]] = {
    ast.Assign: _assign,
    ast.AugAssign: _aug_assign,
    ast.AnnAssign: _ann_assign,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Return: _return,
    ast.If: _if,
    ast.Match: _match,
    ast.Try: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Expr: _expression,
    ast.Assert: _assert,
}
