"""A call of `DataLoader`, its arguments by name however they were given."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import qualified
from nbddp.analysis.values import Obj, Value

POSITIONS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn",
             "pin_memory", "drop_last")  # fmt: skip
DRAWS = frozenset({"dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "drop_last"})

TOO_MANY = 10**9  # places, of which a list takes some gigabytes


@dataclass(frozen=True, eq=False)
class LoaderCall:
    obj: Obj
    node: ast.Call
    arguments: dict[str, ast.expr]
    keywords: dict[str, ast.keyword]
    plain: bool  # nothing that says what is drawn hides in *args, **kwargs or functools.partial
    name: str | None  # the variable that gets it
    statement: ast.stmt

    def constant(self, name: str) -> object:
        node = self.arguments.get(name)
        return node.value if isinstance(node, ast.Constant) else None

    def gives(self, name: str) -> bool:
        """Is the argument given, and not as None?"""
        node = self.arguments.get(name)
        return node is not None and not (isinstance(node, ast.Constant) and node.value is None)


def loader_call(plan: Reading, obj: Obj) -> LoaderCall | None:
    node = obj.node
    if not isinstance(node, ast.Call):
        return None
    arguments = dict(zip(POSITIONS, node.args, strict=False))
    keywords = {k.arg: k for k in node.keywords if k.arg}
    arguments |= {name: k.value for name, k in keywords.items()}
    statement = plan.program.statement_of(node)
    name = None
    if isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1:
        target = statement.targets[0]
        name = target.id if isinstance(target, ast.Name) else None
    return LoaderCall(obj, node, arguments, keywords, _is_plain(plan, node), name, statement)


def _is_plain(plan: Reading, node: ast.Call) -> bool:
    if any(isinstance(a, ast.Starred) for a in node.args) or not _is_called_by_name(plan, node):
        return False
    return all(_says_how_to_load(plan, k.value) for k in node.keywords if k.arg is None)


def _is_called_by_name(plan: Reading, node: ast.Call) -> bool:
    """`DataLoader(…)`, rather than what functools.partial has made of it."""
    return (qualified(node.func, plan.flow.imports) or "").endswith("Loader")


def _says_how_to_load(plan: Reading, node: ast.expr) -> bool:
    """Are the keys of a `**kwargs` known, none of them about what is drawn?"""
    holders = plan.facts.value(node).of("dict")
    keys = {field[2:-2] for field, _ in plan.facts.fields.of(*holders) if field.startswith("['")}
    written = all(isinstance(o.node, ast.Dict | ast.Call) for o in holders)
    return bool(holders) and written and not keys & DRAWS


def dataset_value(plan: Reading, call: LoaderCall) -> Value:
    return plan.facts.fields.get((call.obj, "dataset"), Value())


def is_endless(plan: Reading, call: LoaderCall) -> bool:
    """`def __len__(self): return sys.maxsize`: a DistributedSampler would write down all of its places."""
    owners = [plan.facts.classes.get(o) for o in dataset_value(plan, call).objs]
    lengths = (f for c in owners if c for f in c.body if isinstance(f, ast.FunctionDef) and f.name == "__len__")
    return any(_is_too_many(plan, n.value) for f in lengths for n in f.body if isinstance(n, ast.Return))


def _is_too_many(plan: Reading, node: ast.expr | None) -> bool:
    match node:
        case ast.Call(func=ast.Name("int"), args=[ast.Constant(value=int() | float() as number)]):
            return number >= TOO_MANY
        case ast.Constant(value=int() as number):
            return number >= TOO_MANY
        case ast.Attribute():
            return qualified(node, plan.flow.imports) == "sys.maxsize"
    return False


def dataset_name(plan: Reading, call: LoaderCall) -> str:
    """`train_set` for `train_loader`."""
    stem = re.sub(r"_?(data_?loader|loader|dl|iter)$", "", call.name or "", flags=re.IGNORECASE)
    return plan.naming(f"{stem}_set" if stem else "dataset")
