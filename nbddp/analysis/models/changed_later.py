"""Models that get other parts, or are frozen, behind the place where DDP takes them over."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.models.unfreezing import belong_to, switches
from nbddp.analysis.models.wrap_points import Home, completing
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import is_name
from nbddp.analysis.values import Obj
from nbddp.sentence import NOTHING, Sentence, sentence

PARTS = ("model", "submodule", "parameter")
REMAKING = tuple(
    f"torch.nn.utils.{word}" for word in ("weight_norm", "spectral_norm", "parametriz", "prune", "remove_")
)
STATES = ("state_dict", "load_state_dict")


def changed_later(plan: Reading, model: Obj, home: Home) -> Sentence:
    """Why DDP would not see it as it is trained."""
    scope = plan.program.function_of(home.built) or plan.program.tree
    before = [*completing(plan, home), *(n for n in getattr(scope, "body", ()) if n.lineno <= home.ready.lineno)]
    building = _run_by(plan, before) | {*plan.run_by_models}  # what a forward() makes anew is told of as such
    function = plan.program.function_of(home.ready)
    for node in (*_new_parts(plan, model), *switches(plan, model, [])):
        around = plan.program.function_of(node)
        late = around is not function or node.lineno > (home.ready.end_lineno or home.ready.lineno)
        late = late and around not in building and not any(s in before for s in plan.program.ancestors(node))
        if late or (node.lineno == home.built.lineno and _freezes_all(plan, model, node)):
            return sentence("'%1' changes it after it has been built",
                            plan.program.source(plan.program.statement_of(node)).splitlines()[0])  # fmt: skip
    if home.name.startswith("self.") and _is_saved_within(plan, model):
        return sentence("it is a part of a model whose state is saved or loaded")
    return NOTHING


def _freezes_all(plan: Reading, model: Obj, node: ast.expr) -> bool:
    """`net = nn.Linear(6, 3).requires_grad_(False)`: DDP refuses a model of which nothing is trained."""
    call = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    return call is not None and model in call.receivers and any(v.const is False for v in call.args.values())


def _new_parts(plan: Reading, model: Obj) -> Iterator[ast.expr]:
    """`model.fc = nn.Linear(8, 2)`, `model[2] = …`, `setattr(model, "fc", …)`, `model.layers.append(…)`."""
    for statement in plan.nodes():
        if isinstance(statement, ast.Assign) and plan.facts.value(statement.value).of(*PARTS):
            for target in statement.targets:
                if isinstance(target, ast.Attribute | ast.Subscript) and not _is_begun(plan, target):
                    if belong_to(plan, plan.facts.value(target.value).objs, model):
                        yield target
    for call, fact in plan.facts.calls.items():
        stores = isinstance(call.func, ast.Attribute) and effect_of(f".{call.func.attr}").effect is Effect.STORES
        given = plan.facts.value(call.args[0]).objs if call.args and any(map(_gives_parts, fact.names)) else ()
        if belong_to(plan, (*given, *(fact.receivers if stores else ())), model):
            yield call


def _gives_parts(name: str) -> bool:
    return name == "setattr" or name.startswith(REMAKING)


def _is_begun(plan: Reading, target: ast.expr) -> bool:
    """`self.fc = nn.Linear(8, 2)` in the `__init__` of a part."""
    own = isinstance(target, ast.Attribute) and is_name(target.value, "self")
    return own and getattr(plan.program.function_of(target), "name", "") == "__init__"


def _run_by(plan: Reading, statements: Iterable[ast.stmt]) -> set[ast.AST]:
    """The functions that these statements run."""
    found, waiting = set[ast.AST](), [n for s in statements for n in ast.walk(s)]
    for node in waiting:
        fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
        for body in fact.bodies - found if fact is not None else ():
            found.add(body)
            waiting += ast.walk(body)
    return found


def _is_saved_within(plan: Reading, model: Obj) -> bool:
    """`whole.load_state_dict(…)`, where DDP would give the part's names another beginning."""
    holders = plan.facts.roots(model) - {model}
    inside = (c for c in plan.facts.calls.values() if c.receivers & holders)
    return any(isinstance(c.node.func, ast.Attribute) and c.node.func.attr in STATES for c in inside)
