"""Where a model gets its name, and after which statement it is complete, so that DDP can take it over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis.library import MOVES
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import block_of, effects
from nbddp.analysis.syntax import names_in, walk
from nbddp.analysis.values import OPENED, CallFact, Obj, contents

CODE = ("function", "method", "bound", "partial")
LATER = (*MOVES, "load_state_dict", "state_dict", "parameters", "train", "eval")


@dataclass(frozen=True, eq=False)
class Home:
    name: str  # "model" or "self.model"
    built: ast.Assign  # the statement that first gives it the name
    ready: ast.stmt  # the last one that completes it
    moved: bool  # is it on its device by then?
    inline: ast.expr | None  # the expression to wrap, where building is all there is


def find_home(plan: Reading, model: Obj) -> Home | None:
    """None where no single variable holds the model before it trains."""
    built = _first_holder(plan, model, model.node, model.site, 0)
    if built is None or len(built.targets) != 1 or _trained_in(plan, built, model):
        return None
    target = built.targets[0]
    name = _target_name(plan, target, model, built)
    if name is None:
        return None
    following = _following(plan, built)
    ready: ast.stmt = built
    moved = _moves(built.value) or _inside_moves(plan, model)
    for statement in following:
        if _ends_building(plan, statement, name, model):
            break
        if _completes(plan, statement, name) and not (plan.options.shard and _can_wait(plan, statement, name, model)):
            ready = statement
            moved |= _moves(statement)
    return Home(name, built, ready, moved, _whole_value(plan, ready, name, model))


def completing(plan: Reading, home: Home) -> Iterator[ast.stmt]:
    """From the statement that builds it to the last that completes it."""
    yield home.built
    for statement in _following(plan, home.built) if home.ready is not home.built else ():
        yield statement
        if statement is home.ready:
            return


def _can_wait(plan: Reading, statement: ast.stmt, name: str, model: Obj) -> bool:
    """Can be done to a sharded model as well: a move; what follows its optimizer, where it changes no parameter."""
    optimizers = _optimizers(plan, model)
    if only_moves(statement) or not any(o.node.lineno < statement.lineno for o in optimizers):  # type: ignore[attr-defined]
        return only_moves(statement)
    parents = plan.program.parents
    uses = [parents[n] for n in walk(statement) if isinstance(n, ast.Name | ast.Attribute) and ast.unparse(n) == name]
    return all(isinstance(n, ast.Attribute) and n.attr in LATER and isinstance(parents[n], ast.Call) for n in uses)


def _optimizers(plan: Reading, model: Obj) -> set[Obj]:
    return {o for m in plan.roles.models if m.obj is model for o in m.optimizers}


def _whole_value(plan: Reading, ready: ast.stmt, name: str, model: Obj) -> ast.expr | None:
    """What the last statement gives to the name, and to nothing else: the model."""
    if not isinstance(ready, ast.Assign) or [ast.unparse(t) for t in ready.targets] != [name]:
        return None
    return ready.value if plan.facts.value(ready.value).of("model") == {model} else None


def _target_name(plan: Reading, target: ast.expr, model: Obj, built: ast.Assign) -> str | None:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return f"self.{target.attr}"
    if isinstance(target, ast.Tuple):
        items = plan.facts.value(built.value).items or ()
        for part, item in zip(target.elts, items, strict=False):
            if item.of("model") == {model} and isinstance(part, ast.Name):
                return part.id
    return None


def _first_holder(plan: Reading, model: Obj, node: ast.AST, site: ast.AST | None, depth: int) -> ast.Assign | None:
    """The assignment that receives what is built at the node; through the functions that only build and return it."""
    statement = plan.program.statement_of(node)
    short = next((a for a in plan.program.ancestors(node) if isinstance(a, ast.Lambda | ast.stmt)), None)
    if isinstance(short, ast.Lambda):  # `build = lambda width: nn.Linear(width, 3)`
        return _at_callers(plan, model, short, site, depth) if _is_value(plan, node, short.body) else None
    if isinstance(statement, ast.Assign) and _is_value(plan, node, statement.value):
        function = plan.program.function_of(statement)
        if function is None or not _returned(plan, statement, function) or depth > 4:
            return statement
        if plan.options.shard and any(plan.program.function_of(o.node) is function for o in _optimizers(plan, model)):
            return statement  # before its optimizer
        return _at_callers(plan, model, function, site, depth)
    if isinstance(statement, ast.Return) and depth <= 4:
        function = plan.program.function_of(statement)
        return _at_callers(plan, model, function, site, depth) if function is not None else None
    return None


def _is_value(plan: Reading, node: ast.AST, value: ast.expr) -> bool:
    """Is the node what is assigned, perhaps with `.to(device)` behind it or `torch.compile` around it?"""
    if node is value:
        return True
    objs = plan.facts.value(node).objs
    return bool(objs) and bool(objs & plan.facts.value(value).objs or _in_tuple(plan, objs, value))


def _in_tuple(plan: Reading, objs: frozenset[Obj], value: ast.expr) -> bool:
    return any(objs & i.objs for i in plan.facts.value(value).items or ())


def _returned(plan: Reading, statement: ast.Assign, function: ast.AST) -> bool:
    names = {n.id for t in statement.targets for n in walk(t) if isinstance(n, ast.Name)}
    for node in walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            if names & {n.id for n in walk(node.value) if isinstance(n, ast.Name)}:
                return function not in plan.functions_that_run(plan.facts.backward)
    return False


def _at_callers(plan: Reading, model: Obj, function: ast.AST, site: ast.AST | None, depth: int) -> ast.Assign | None:
    """The call that made this one, where it is known; else the only call of the function."""
    calls = [c.node for c in plan.facts.calls.values() if any(o.node is function for o in c.called)]
    if isinstance(site, ast.Call) and site in calls:
        return _first_holder(plan, model, site, None, depth + 1)
    found = {h for c in calls if (h := _first_holder(plan, model, c, None, depth + 1)) is not None}
    return found.pop() if len(found) == 1 and len(calls) == 1 else None


def _following(plan: Reading, built: ast.stmt) -> list[ast.stmt]:
    """Statements that run after it in the same block, and after a branch that it ends; at the top level those kept."""
    parent = plan.program.parents[built]
    if isinstance(parent, ast.Module):
        return [s.node for s in plan.kept if s.node.lineno > built.lineno]
    block = block_of(parent, built)
    rest = block[block.index(built) + 1 :] if block else []
    leaves = any(isinstance(s, ast.Return | ast.Raise | ast.Break | ast.Continue) for s in rest)
    return [*rest, *_following(plan, parent)] if isinstance(parent, ast.If | ast.With) and not leaves else rest


def _ends_building(plan: Reading, statement: ast.stmt, name: str, model: Obj) -> bool:
    """It trains, or hands the model to something that keeps it, or gives the name to another."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):  # what stands in it runs later
        kept = statement.body if isinstance(statement, ast.ClassDef) else []
        return any(isinstance(part, ast.Assign) and _holds(plan, part, model) for part in kept)
    own = name.split(".", maxsplit=1)[0] in names_in(statement)  # or another model is trained, as a teacher is
    for fact in _calls(plan, statement):
        if (own and (fact.node in plan.facts.backward or fact.optimizers)) or model in fact.called:
            return True
        if _given(fact, model) and (fact.made or "setattr" in fact.names or plan.facts.value(fact.node).of(*CODE)):
            return True
    if _trained_in(plan, statement, model):
        return True
    if isinstance(statement, ast.Assign):
        root = name.split(".", maxsplit=1)[0]
        stores = {ast.unparse(t) for t in statement.targets}
        if name in stores:
            return model not in plan.facts.value(statement.value).objs
        return root not in stores and _holds(plan, statement, model)
    return False


def _holds(plan: Reading, statement: ast.Assign, model: Obj) -> bool:
    return any(model in v.objs for v in contents(plan.facts, plan.facts.value(statement.value), OPENED))


def _trained_in(plan: Reading, statement: ast.stmt, model: Obj) -> bool:
    """By functions of the notebook: one goes back, and is given the model; or it, or another, calls the model."""
    training, calls = plan.functions_that_run(plan.facts.backward), _calls(plan, statement)
    found = [f for f in calls if not f.bodies.isdisjoint(training)]
    calling = plan.functions_that_run(c.node for c in plan.facts.calls.values() if model in c.called) if found else ()
    return any(_given(f, model) for f in found) or any(not f.bodies.isdisjoint(calling) for f in calls)


def _calls(plan: Reading, statement: ast.stmt) -> list[CallFact]:
    return [plan.facts.calls[n] for n in walk(statement) if isinstance(n, ast.Call) and n in plan.facts.calls]


def _given(call: CallFact, model: Obj) -> bool:
    return any(model in v.objs for v in call.args.values())


def _completes(plan: Reading, statement: ast.stmt, name: str) -> bool:
    """Does the statement complete the model: move it, load it, freeze it, put a new head on it?"""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return False
    root = name.split(".", maxsplit=1)[0]
    own = {n: s.changes for n, s in plan.flow.functions.items()}
    found = effects([statement], plan.flow.imports, own)
    touched = root in found.mutates | found.may_bind or _freezes(plan, statement, root)
    if isinstance(statement, ast.For) and not touched:  # for p in model.parameters(): p.requires_grad = False
        reads = {n.id for n in walk(statement.iter) if isinstance(n, ast.Name)}
        return root in reads
    return touched and not _only_builds_others(plan, statement, root)


def _freezes(plan: Reading, statement: ast.stmt, root: str) -> bool:
    """`layer.weight.requires_grad = False`, through whatever name: DDP looks at it once, when it wraps."""
    top = plan.top_level(statement)
    if top is None or top.node is not statement or root not in plan.flow.touched[top.index]:
        return False
    return any(isinstance(n, ast.Attribute) and n.attr.startswith("requires_grad") for n in walk(statement))


def _only_builds_others(plan: Reading, statement: ast.stmt, root: str) -> bool:
    """`optimizer = Adam(model.parameters())`, `loss = criterion(...)`: they leave the model as it is."""
    if not isinstance(statement, ast.Assign):
        return False
    stores = {ast.unparse(t).split(".")[0].split("[")[0] for t in statement.targets}
    kinds = {o.kind for o in plan.facts.value(statement.value).objs}
    return root not in stores and bool(kinds & {"optimizer", "scheduler", "loss", "scaler"})


def of_data_parallel(plan: Reading, node: ast.expr) -> ast.expr | None:
    """The `model` of `model.module`, where nn.DataParallel, which is taken away, has made the difference."""
    if not (isinstance(node, ast.Attribute) and node.attr == "module" and plan.facts.value(node.value).of("model")):
        return None
    return node.value if any(plan.calls("torch.nn.DataParallel")) else None


def only_moves(statement: ast.stmt) -> bool:
    """`model.to(device)`, `model = model.cuda()`."""
    call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if not isinstance(call, ast.Call) or not is_move(call):
        return False
    target = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    return target in ("", ast.unparse(call.func.value))  # type: ignore[attr-defined]


def is_move(call: ast.Call) -> bool:
    """To another device, and to nothing else: not `model.to(torch.bfloat16)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in MOVES:
        return False
    kinds = any(isinstance(a, ast.Attribute) and ast.unparse(a).startswith("torch.") for a in call.args)
    return not kinds and len(call.args) < 2 and all(k.arg in ("device", "non_blocking") for k in call.keywords)


def _moves(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in MOVES for n in walk(node)
    )


def _inside_moves(plan: Reading, model: Obj) -> bool:
    """Does the function that builds it move it to the device already?"""
    function = plan.program.function_of(model.node)
    return function is not None and _moves(function)
