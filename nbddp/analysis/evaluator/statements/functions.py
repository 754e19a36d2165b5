"""Define functions and classes of the notebook, and run their bodies with arguments."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.calls import instance
from nbddp.analysis.evaluator.classes import is_class_method, is_setter, itself, line_of
from nbddp.analysis.evaluator.expressions import evaluate
from nbddp.analysis.evaluator.iteration import generated, yields
from nbddp.analysis.evaluator.statements.remembered_calls import remembered, sees_names_of_a_function
from nbddp.analysis.evaluator.writes import put_element
from nbddp.analysis.library import makes
from nbddp.analysis.slicing import all_arguments, defaults, inside
from nbddp.analysis.values import (
    ANYTHING,
    DEPTH,
    Env,
    Extent,
    Frame,
    Machine,
    Obj,
    Value,
    copies,
    domain,
    join,
    join_all,
    join_states,
    jumped,
    note_change,
    restore,
    spread,
    thing,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
HOW_IT_BINDS = ("property", "functools.cached_property", "staticmethod", "classmethod")
KEEPS_RESULTS = ("functools.cache", "functools.lru_cache")  # and gives the same one for the same arguments


def define_function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for part in [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
        evaluate(m, part)
    m.set_plain(node.name, _decorated(m, node, m.close_over(node, node.name)))


def _decorated(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, function: Value) -> Value:
    """What decorators of the notebook make of it; those of libraries leave it what it is."""
    if any(o.name in HOW_IT_BINDS for by in node.decorator_list for o in m.facts.value(by).of("library")):
        return function  # which is asked of the function itself
    if is_setter(node):  # the property goes on to be read
        return join(function, m.lookup(node.name) or function)
    for by in reversed(node.decorator_list):
        at = by.func if isinstance(by, ast.Call) else by
        by_what = sorted(m.facts.value(by).of("function", "class"), key=line_of)
        wrapper = join_all(_wrapped(m, at, o, function) for o in by_what)
        function = wrapper if wrapper.of("function", "instance") else function
    return function


def _wrapped(m: Machine, at: ast.expr, by: Obj, function: Value) -> Value:
    return m.steps.function(m, by, [function], {}, at) if by.kind == "function" else instance(m, at, by, [function], {})


def define_class(m: Machine, node: ast.ClassDef) -> None:
    obj = Obj("class", node, node.name)
    found = [evaluate(m, b) for b in node.bases]
    m.facts.fields[obj, "__bases__"] = Value(frozenset(o for b in found for o in b.objs))
    frame = Frame(node, {}, outer=m.frame if m.frame.node is not None else None)
    m.frames.append(frame)
    m.steps.block(m, node.body)
    m.frames.pop()
    for name, value in frame.local.items():
        m.facts.fields[obj, name] = value
    m.set_plain(node.name, Value(frozenset({obj})))


def run_function(m: Machine, obj: Obj, args: list[Value], keywords: dict[str, Value], node: ast.expr | None) -> Value:
    """Run the body of a function of the notebook with these arguments; not again where that would change nothing."""
    function = obj.node
    if not isinstance(function, Function):
        return ANYTHING
    running = sum(f.node is function for f in m.frames)
    if running:
        note_change()  # how far it gets hangs on what calls it: no call around it may be remembered
    if len(m.frames) > DEPTH:
        m.give_up(node or function)
    if running > 1 or not m.tick():
        note_change()
        varies = any(v.varies for v in [*args, *keywords.values()])
        return Value(extent=Extent.VARYING if varies else Extent.UNIFORM)
    if is_class_method(function):
        args = [_class_around(m, function, obj.owner), *args]
    elif obj.kind == "method" and obj.owner is not None:
        args = [itself(m, obj.owner), *args]
    m.facts.reached.add(function)
    if node in m.facts.calls:
        m.facts.calls[node].bodies.add(function)
    if any(o.name in KEEPS_RESULTS for by in _decorators(function) for o in m.facts.value(by).of("library")):
        node = None  # what it makes does not belong to one call
    if running or sees_names_of_a_function(m, obj):
        note_change()
        return _run_body(m, function, obj, args, keywords, node)
    site = m.frame.call if function.args.kwarg else None  # the dictionary that it gets is made by its caller
    return remembered(
        m,
        (obj, node, site, m.frame.receiver),
        args,
        keywords,
        lambda: _run_body(m, function, obj, args, keywords, node),
    )


def _called_by(m: Machine, function: Function, call: ast.AST | None) -> ast.AST | None:
    """The call; where a function calls itself one for each who called it first, so that what it makes is told apart.

    Inside of a model one for each call of the model: `[head(x) for head in self.heads]` of a batch, or of a picture.
    """
    models = (f.call for f in m.frames if f.around is not None and f.around.forward)
    first = next((f.call for f in m.frames if f.node is function), None) or next(models, None)
    return (
        m.program.again.setdefault((first, call), ast.copy_location(ast.Pass(), call))
        if first is not None and call is not None
        else call
    )


def _decorators(function: Function) -> list[ast.expr]:
    """`@functools.lru_cache`, and `@functools.lru_cache(maxsize=9)`."""
    written = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return [by.func if isinstance(by, ast.Call) else by for by in written]


def _run_body(
    m: Machine, function: Function, obj: Obj, args: list[Value], keywords: dict[str, Value], node: ast.expr | None
) -> Value:
    owner = obj.owner if obj.kind == "method" else None
    frame = Frame(
        function,
        _bind_arguments(m, function, args, keywords),
        outer=m.around(obj),
        call=_called_by(m, function, node),
        receiver=owner if owner is not None and owner.kind == "instance" else m.frame.receiver,
        around=m.context,
    )
    m.frames.append(frame)
    left, jumps, m.jumps = m.left, m.jumps, []
    with m.traced() as trace:
        if isinstance(function, ast.Lambda):
            frame.returned = evaluate(m, function.body)
        else:
            frame.global_names = _declared(function, ast.Global)
            frame.outer_names = _declared(function, ast.Nonlocal)
            known = all(follows_gradients(m, d, True) is not False for d in function.decorator_list)
            with m.within(grad=m.context.grad and known):
                m.steps.block(m, function.body)
    m.left = left | {one for one in m.left if one.by is ast.Raise}
    m.frames.pop()
    if left_so := jumped(m, ast.Return):
        restore(m, join_states([copies(m), *left_so]))
    m.jumps = jumps + m.jumps
    if not isinstance(function, ast.Lambda) and yields(function):
        made = generated(m, frame, obj.owner, trace.drawn)
        m.resumed.update(dict.fromkeys(made.objs, lambda: _run_body(m, function, obj, args, keywords, node)))
        return made
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


def follows_gradients(m: Machine, node: ast.expr, now: bool) -> bool | None:
    """In a block of it, or a function that it decorates; None where its argument decides, and is not known."""
    func = node.func if isinstance(node, ast.Call) else node
    called = {o.name for o in m.facts.value(func).of("library")}
    if any(makes(name) == "no gradients" for name in called):
        return False
    if called & {"torch.set_grad_enabled", "torch.enable_grad"} and isinstance(node, ast.Call):
        return domain.truth(evaluate(m, node.args[0])) if node.args else True
    return now


def _bind_arguments(
    m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, args: list[Value], keywords: dict[str, Value]
) -> Env:
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    otherwise = {argument.arg: default for argument, default in defaults(spec)}
    env: Env = {name: m.facts.value(default) for name, default in otherwise.items()}
    for arg in all_arguments(spec):
        env.setdefault(arg.arg, ANYTHING)
    for arg, value in zip(positional, args, strict=False):
        env[arg.arg] = value
    if spec.vararg and len(args) > len(positional):
        env[spec.vararg.arg] = Value(items=tuple(args[len(positional) :]))
    if "*" in keywords:
        env.update({n: _one_of(keywords["*"]) for a in positional[len(args) :] if _takes(otherwise.get(n := a.arg))})
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
    if any(field.startswith("['") for field, _ in m.facts.fields.of(*given.objs)) or m.held(given) in domain.WHOLE:
        return None
    return Value(extent=m.held(given))


def _unfolded(m: Machine, keywords: dict[str, Value]) -> dict[str, Value]:
    """`f(**options)`: what is known to stand in the dictionary, by its name."""
    given = dict(keywords)
    for obj in keywords["**"].of("dict") if "**" in keywords else ():
        for field, value in m.facts.fields.of(obj):
            if field.startswith("['"):
                given.setdefault(field[2:-2], value)
    return given


def run_return(m: Machine, node: ast.Return) -> None:
    value = evaluate(m, node.value) if node.value else ANYTHING
    if m.frame.node is not None and yields(m.frame.node):
        return  # what a generator returns is not among what it yields
    around = m.frame.around
    chosen = m.context.varying and around is not None and not around.varying  # `if v > limit: return False`
    if chosen or (m.context.repeated and not m.context.varying):
        value = m.under_condition(value)
    m.frame.returned = value if m.frame.returned is None else join(m.frame.returned, value)
