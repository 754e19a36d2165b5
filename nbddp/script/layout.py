"""Where each kept statement goes: definitions and constants to the module, the rest into `train`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from nbddp.analysis import Plan
from nbddp.analysis.library import HIDES
from nbddp.analysis.reading import surely_draws
from nbddp.analysis.slicing import Effects
from nbddp.analysis.syntax import BUILTINS, Statement, bindings, qualified, walk
from nbddp.script.from_modules import Modules

Import = ast.Import | ast.ImportFrom
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
MAKE_CLASSES = ("collections.namedtuple", "typing.NamedTuple", "dataclasses.make_dataclass", "enum.Enum")


@dataclass(frozen=True)
class Layout:
    imports: tuple[Statement, ...]
    environment: tuple[Statement, ...]  # what must run before some import: paths, environment variables
    module: tuple[Statement, ...]
    body: tuple[Statement, ...]
    global_names: tuple[str, ...]  # bound in `train`, read by what stands at the module
    parameters: tuple[tuple[str, object], ...]  # constants of the cell marked "parameters"
    beside: frozenset[str]  # modules beside the notebook that the script imports


def lay_out(
    plan: Plan, modules: Modules, edited: Collection[Statement], bound_by_edits: set[str], read_by_edits: set[str]
) -> Layout:
    found = [s for s in modules.kept if isinstance(s.node, Import)]
    imports = _in_order(plan, [s for s in found if not _gives_another_meaning(plan, s, found)])
    rest = [s for s in modules.kept if s not in imports]
    names = {n for s in imports for n in plan.flow.effects[s.index].binds} | BUILTINS | modules.names
    names -= {n for s in rest if not _is_guarded(s.node) for n in plan.flow.effects[s.index].may_bind}  # another value
    environment = _environment(plan, imports, modules, rest, _split(plan, rest, names, edited)[0])
    module, body = _split(plan, [s for s in rest if s not in environment], names, edited)
    return Layout(
        imports,
        environment,
        module,
        body,
        _global_names(plan, module, body, bound_by_edits, read_by_edits),
        _parameters(module),
        modules.imported,
    )


def _gives_another_meaning(plan: Plan, statement: Statement, imports: list[Statement]) -> bool:
    """`from random import random`, where `import random` has been read before: in its place."""
    given = _meanings(statement)
    for earlier in (s for s in imports if s.index < statement.index):
        others = {name for name, meaning in _meanings(earlier).items() if given.get(name, meaning) != meaning}
        between = (s for s in plan.kept if earlier.index < s.index < statement.index)
        if any(plan.flow.effects[s.index].reads & others for s in between):
            return True
    return False


def _meanings(statement: Statement) -> dict[str, str]:
    assert isinstance(statement.node, Import)
    return {name: meaning for name, meaning in bindings(statement.node) if name != "*"}


def _in_order(plan: Plan, imports: list[Statement]) -> tuple[Statement, ...]:
    """`from pylab import *` brings another `random`: before `import random`, where that one is read before it."""
    for star in [s for s in imports if isinstance(s.node, ast.ImportFrom) and s.node.names[0].name == "*"]:
        hidden = HIDES.get(getattr(star.node, "module", None) or "", frozenset())
        for at, earlier in enumerate(imports[: imports.index(star)]):
            names, between = plan.flow.effects[earlier.index].binds & hidden, range(earlier.index, star.index)
            if any(plan.flow.effects[s.index].reads & names for s in plan.kept if s.index in between):
                imports.insert(at, imports.pop(imports.index(star)))
                break
    return tuple(imports)


def _environment(
    plan: Plan,
    imports: tuple[Statement, ...],
    modules: Modules,
    rest: list[Statement],
    module: tuple[Statement, ...],
) -> tuple[Statement, ...]:
    """What imports need, and the constants of which it is made: `folder = "project"; sys.path.append(folder)`."""
    effects = plan.flow.effects
    known = {n for s in imports for n in effects[s.index].binds} | BUILTINS | {*plan.program.needs}
    constants = {n: s for s in module if not isinstance(s.node, Definition) and s.cell.mark != "parameters"
                 for n in effects[s.index].binds}  # fmt: skip
    for s in rest:
        if isinstance(s.node, ast.Assign) and _is_path(plan, s.node.value, constants):
            constants |= {n: s for n in effects[s.index].binds if len(plan.flow.binders[n]) == 1}
    found, wanted = set[Statement](), [s for s in rest if _is_environment(plan, s, imports, modules)]
    while wanted:
        statement = wanted.pop()
        made = {constants[n] for n in effects[statement.index].reads & constants.keys()}
        earlier = all(s.index < statement.index for s in made)
        guarded = isinstance(statement.node, ast.Try)
        if guarded or (earlier and effects[statement.index].reads <= known | constants.keys()):
            found.add(statement)
            wanted += made - found
    return tuple(s for s in rest if s in found)


def _is_path(plan: Plan, node: ast.expr, known: Collection[str]) -> bool:
    """`root = pathlib.Path.cwd().parent`, `os.path.abspath("..")`: computed, and of nothing but the folder."""
    names = [n for n in walk(node) if isinstance(n, ast.Name)]
    own = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    read = {qualified(n, plan.flow.imports) or n.id for n in names if n.id not in own}
    return bool(read) and all(n in known or n.partition(".")[0] in ("pathlib", "os", "str", "next") for n in read)


def _is_environment(plan: Plan, statement: Statement, imports: tuple[Statement, ...], modules: Modules) -> bool:
    """`sys.path.append("..")`, `os.environ[…] = …`, `os.chdir(…)` and guarded imports, before what they serve."""
    node = statement.node
    if _is_guarded(node):
        return True
    if isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse:  # `if root not in sys.path:`
        node = node.body[0]
    found = plan.flow.effects[statement.index]
    if not isinstance(node, ast.Expr | ast.Assign) or found.binds:
        return False
    text = plan.program.source(node)
    if not text.startswith(("sys.path", "os.environ", "os.chdir", "os.putenv", "matplotlib.use", "site.")):
        return False
    return any(i.index > statement.index for i in imports) or modules.behind(statement)


def _only_imports(node: ast.Try | ast.If) -> bool:
    """A guarded import: imports, flags, and nothing that computes."""
    imports = [n for n in walk(node) if isinstance(n, Import)]
    plain = all(
        isinstance(s, Import | ast.Pass | ast.Raise)
        or (isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant))
        or (isinstance(s, ast.Expr) and _prints(s.value))
        for block in _blocks(node)
        for s in block
    )
    return bool(imports) and plain and isinstance(node, ast.Try)


def _is_guarded(node: ast.stmt) -> bool:
    return isinstance(node, ast.Try | ast.If) and _only_imports(node)


def _prints(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _blocks(node: ast.Try | ast.If) -> list[list[ast.stmt]]:
    handlers = [h.body for h in getattr(node, "handlers", [])]
    return [node.body, node.orelse, getattr(node, "finalbody", []), *handlers]


def _split(
    plan: Plan, rest: list[Statement], names: set[str], edited: Collection[Statement]
) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    bindings = Counter(n for s in plan.kept for n in plan.flow.effects[s.index].may_bind)
    mutated = {n for s in plan.kept for n in _changed(plan.flow.effects[s.index])}
    rebound = {n for node in plan.nodes() if isinstance(node, ast.Global) for n in node.names}
    names, module = set(names), []
    for statement in rest:
        found = plan.flow.effects[statement.index]
        once = all(bindings[n] == 1 for n in found.may_bind)
        if not once or not found.reads | _read_by_what_runs(plan, statement) <= names:
            continue
        changed = rebound if _is_unchangeable(statement.node) else mutated
        if _is_definition(plan, statement.node) or (
            _is_constant(statement.node) and not found.binds & changed and statement not in edited
        ):
            module.append(statement)
            names |= found.binds
    return tuple(module), tuple(s for s in rest if s not in module)


def _read_by_what_runs(plan: Plan, statement: Statement) -> set[str]:
    """`@register("cnn")` before a definition: what `register` reads is there by then."""
    decorators = getattr(statement.node, "decorator_list", [])
    called = {n.id for d in decorators for n in walk(d) if isinstance(n, ast.Name)}
    makers = [s for s in plan.kept if plan.flow.effects[s.index].binds & called]
    return {n for s in makers for n in plan.flow.effects[s.index].deferred} - called if called else set()


def _changed(found: Effects) -> set[str]:
    return found.mutates | found.deferred_mutates


def _is_definition(plan: Plan, node: ast.stmt) -> bool:
    """Also `Row = namedtuple("Row", "step loss")`: what is exchanged is of a class that the module has."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=func)):
            return qualified(func, plan.flow.imports) in MAKE_CLASSES
    return isinstance(node, Definition) and not _draws(plan, node)


def _draws(plan: Plan, node: Definition) -> bool:
    """`class Net: features = nn.Linear(8, 8)`, `def build(body=nn.Linear(8, 8))`: in its place, behind the seed."""
    return any(surely_draws(plan, part, {}) for part in _run_where_defined(node))


def _run_where_defined(node: Definition) -> list[ast.AST]:
    if not isinstance(node, ast.ClassDef):
        return [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    return [part for s in node.body for part in (_run_where_defined(s) if isinstance(s, Definition) else [s])]


def _is_constant(node: ast.stmt) -> bool:
    """`lr = 0.1`, `sizes = [64, 32]`, `steps = 4 * width`: literals and what is computed from constants."""
    simple = isinstance(node, ast.Assign) and all(
        isinstance(t, ast.Name) or (isinstance(t, ast.Tuple) and all(isinstance(e, ast.Name) for e in t.elts))
        for t in node.targets
    )
    return simple and isinstance(node, ast.Assign) and _literal(node.value)


def _is_unchangeable(node: ast.stmt) -> bool:
    """A number or a text: whoever is handed it cannot change it."""
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant)
    )


def _literal(node: ast.expr) -> bool:
    allowed = (
        ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.BinOp, ast.Name, ast.operator,
        ast.unaryop, ast.expr_context, ast.JoinedStr, ast.FormattedValue,
    )  # fmt: skip
    return all(isinstance(part, allowed) for part in walk(node))


def _global_names(
    plan: Plan, module: tuple[Statement, ...], body: tuple[Statement, ...], added: set[str], edits: set[str]
) -> tuple[str, ...]:
    """Names of `train` that must be the module's, for functions there read them or it binds them too."""
    bound = added | {n for s in body for n in plan.flow.effects[s.index].may_bind}
    moved = {n for s in body for n in plan.flow.effects[s.index].deferred_mutates}
    read = {n for s in module for n in plan.flow.effects[s.index].deferred | _changed(plan.flow.effects[s.index])}
    inside = {s.index for s in body}
    own = {n for s in (*module, *plan.kept) if s.index not in inside for n in plan.flow.effects[s.index].binds}
    if any(plan.flow.effects[s.index].uses_globals for s in plan.kept):
        return tuple(sorted(bound))
    return tuple(sorted(bound & (read | own | moved | edits) - {plan.naming("rank_device")}))  # a parameter of `train`


def _parameters(module: tuple[Statement, ...]) -> tuple[tuple[str, object], ...]:
    found: list[tuple[str, object]] = []
    for statement in module:
        node = statement.node
        if statement.cell.mark != "parameters" or not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                continue
            if isinstance(target, ast.Name):
                found.append((target.id, value))
    return tuple(found)
