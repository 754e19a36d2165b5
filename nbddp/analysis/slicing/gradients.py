"""What gradients change, and who wants them: no name shows that `optimizer.step()` needs `loss.backward()`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache

from nbddp.analysis.library import learns
from nbddp.analysis.slicing.starts import block_of
from nbddp.analysis.syntax import BUILTINS, Program, names_in, qualified, walk


def may_learn(name: str, bound_by: ast.stmt | None, imports: Mapping[str, str]) -> bool:
    """May what the name stands for hold parameters? Not a class, nor a loss or an activation of torch's."""
    if bound_by is None:
        return name not in BUILTINS
    made = bound_by.value if isinstance(bound_by, ast.Assign) and _is_one_name(bound_by) else None
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and isinstance(made.func.value, ast.Call):
        made = made.func.value  # `nn.CrossEntropyLoss().to(device)`
    module = qualified(made.func, imports) if isinstance(made, ast.Call) else None
    return not isinstance(bound_by, ast.ClassDef) and (module is None or learns(module))


def _is_one_name(node: ast.Assign) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)


WAITING = "gradients that wait for a step"  # no name of a notebook's


def gives(node: ast.stmt) -> bool:
    """`loss.backward()` by itself: a training has its steps in one statement."""
    return isinstance(node, ast.Expr) and "backward" in _methods(node)


def wants(node: ast.stmt) -> bool:
    """`optimizer.step()`, `w.data -= 0.1 * w.grad`, and no backward() beside it."""
    changes = any(isinstance(n, ast.Assign | ast.AugAssign) for n in walk(node))
    return "backward" not in _methods(node) and ("step" in _methods(node) or (changes and reads_gradients(node)))


def reads_gradients(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "grad" and isinstance(n.ctx, ast.Load) for n in walk(node))


@lru_cache(maxsize=64)
def moves_data_alone(program: Program, call: ast.AST) -> bool:
    """`e.sum().backward()` in a function that reads `x.grad` and makes no step, as one that samples or attacks.

    What it leaves in parameters is set to zero before the next step, or they want none.
    """
    body = program.function_of(call)
    if body is None or not reads_gradients(body) or "step" in _methods(body):
        return False
    if _freezes(body) or _zeroed_behind(program, call):
        return True
    callers = [n for n in program.nodes if isinstance(n, ast.Call) and ast.unparse(n.func).endswith(body.name)]
    return bool(callers) and all(_zeroed_behind(program, caller) for caller in callers)


def is_made_in_step(program: Program, node: ast.AST) -> bool:
    """`delta` of `delta = zeros.clone().requires_grad_()`, set anew before each `backward()` that follows it."""
    if not isinstance(node, ast.Name):
        return False
    around = program.function_of(node)
    here = (n for n in program.nodes if isinstance(n, ast.Assign) and program.function_of(n) is around)
    makers = [n for n in here if any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)]
    loops = [n for n in program.ancestors(node) if isinstance(n, ast.For | ast.While)]
    inside = (n for n in makers if not loops or {*loops} & {*program.ancestors(n)})
    return any(_asks_for_gradients(n.value) for n in inside)


def _asks_for_gradients(made: ast.expr) -> bool:
    asked = isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "requires_grad_"
    return asked or (isinstance(made, ast.Call) and any(k.arg == "requires_grad" for k in made.keywords))


def _freezes(body: ast.AST) -> bool:
    asked = (n for n in walk(body) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]).endswith("requires_grad"))
    return any(isinstance(n.value, ast.Constant) and n.value.value is False for n in asked)


def _zeroed_behind(program: Program, call: ast.AST) -> bool:
    """In the block of the call, before the next `backward()` or step."""
    statement = program.statement_of(call)
    block = block_of(program.parents[statement], statement)
    for later in block[block.index(statement) + 1 :]:
        done = _methods(later)
        if done & {"zero_grad", "backward", "step"}:
            return "zero_grad" in done
    return False


def _methods(node: ast.AST) -> set[str]:
    calls = (n.func for n in walk(node) if isinstance(n, ast.Call))
    return {func.attr for func in calls if isinstance(func, ast.Attribute)}


def differentiated(nodes: Iterable[ast.AST]) -> Set[str]:
    """The names by which a gradient's loss is computed: `model` and `criterion` of `loss = criterion(model(x), y)`."""
    calls, assigned = list[ast.Call](), list[ast.Assign]()
    for part in (part for node in nodes for part in walk(node)):
        if isinstance(part, ast.Call):
            calls.append(part)
        elif isinstance(part, ast.Assign):
            assigned.append(part)
    made: list[ast.AST] = [n for n in calls if isinstance(n.func, ast.Attribute) and n.func.attr == "backward"]
    names = set[str]()
    while new := set[str]().union(*map(names_in, made)) - names:
        names |= new
        made += [a.value for a in assigned if any(names_in(target) & new for target in a.targets)]
    return {n.func.id for m in made for n in walk(m) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
