"""Calls that write files, fetch them, or read them back."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Effect, effect_of, makes
from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.syntax import is_name, qualified, walk

WRITES = (Effect.WRITES, Effect.PICTURE)
ORDERS = ("execute", "executemany", "executescript", "commit")  # to a database, which gives nothing back that is used


MOVED = ("rename", "replace")


def library_name(plan: Reading, node: ast.Call) -> str:
    return qualified(node.func, plan.flow.imports) or ""


def opens_to_write(plan: Reading, node: ast.AST) -> bool:
    """`open(path, "w")`, `path.open("w")`, `archive.open(name, "w")`, and the files of logs."""
    if not isinstance(node, ast.Call):
        return False
    name = library_name(plan, node)
    if makes(name) == "log file" or (name == "logging.basicConfig" and path_of(node) is not None):
        return True
    method = not name and isinstance(node.func, ast.Attribute) and node.func.attr == "open"
    if makes(name) != "file" and not method:
        return False
    given = [*node.args[0 if method else 1 : 2], *(k.value for k in node.keywords if k.arg == "mode")]
    given = [g for g in given if not method or isinstance(g, ast.Constant | ast.IfExp)]  # `archive.open(name)`
    made = [n for mode in given for n in plan.bindings.made_of(mode)]  # `"a" if epoch else "w"`
    made = [n for n in made if not isinstance(plan.program.parents.get(n), ast.Compare)]
    modes = (set(m.value) for m in made if isinstance(m, ast.Constant) and isinstance(m.value, str))
    return any(mode & set("wax") and mode <= set("rwaxbt+:gz2|") for mode in modes)


def path_of(call: ast.Call) -> ast.expr | None:
    """The argument that names the file, where a text in its place can lead nowhere."""
    named = next((k.value for k in call.keywords if k.arg in ("file", "filename")), None)
    attr = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if named is not None or attr == "basicConfig":
        return named
    plain = (attr == "open" and (isinstance(call.func, ast.Name) or len(call.args) > 1)) or attr.endswith("FileHandler")
    return call.args[0] if plain and call.args else None


def _in_memory(plan: Reading, node: ast.expr) -> bool:
    """A buffer: the call that makes one, or a name that stands for nothing else."""
    if isinstance(node, ast.Call):
        return library_name(plan, node) in ("io.BytesIO", "io.StringIO")
    if not isinstance(node, ast.Name):
        return False
    assigned = (n for n in plan.nodes() if isinstance(n, ast.Assign))
    given = [n.value for n in assigned if any(is_name(t, node.id) for t in n.targets)]
    return bool(given) and all(isinstance(g, ast.Call) and _in_memory(plan, g) for g in given)


def writes(plan: Reading, node: ast.AST) -> bool:
    """One call that writes a file or makes a folder, by what is called."""
    if not isinstance(node, ast.Call):
        return False
    name = library_name(plan, node)
    if effect_of(name).effect in WRITES or makes_folders(plan, node):
        return not any(_in_memory(plan, argument) for argument in node.args)
    if name or not isinstance(node.func, ast.Attribute):
        return False
    if isinstance(plan.program.parents.get(node), ast.Expr) and node.func.attr in ORDERS:
        return _is_database(plan, node.func.value)
    if isinstance(plan.program.parents.get(node), ast.Expr) and node.func.attr in MOVED:
        return len(node.args) == 1 and not node.keywords  # of a path; a table's gives another one
    fact = plan.facts.calls.get(node)
    own = fact is not None and bool(fact.bodies)
    return not own and (effect_of(f".{node.func.attr}").effect in WRITES or node.func.attr == "save")


def _is_database(plan: Reading, node: ast.expr) -> bool:
    """`sqlite3.connect(path)`, and its `.cursor()`."""
    for made in (n for n in plan.bindings.made_by(node) if isinstance(n, ast.Call)):
        if library_name(plan, made) == "sqlite3.connect":
            return True
        if isinstance(made.func, ast.Attribute) and made.func.attr == "cursor" and made is not node:
            return _is_database(plan, made.func.value)
    return False


def fetches(plan: Reading, node: ast.AST) -> bool:
    """A call that may download something or unpack it on the disk."""
    if not isinstance(node, ast.Call):
        return False
    name = library_name(plan, node)
    if effect_of(name).fetches or name.endswith(".from_pretrained"):
        return True
    for keyword in node.keywords:
        value = keyword.value
        off = isinstance(value, ast.Constant) and value.value in (False, None)
        if keyword.arg == "download" and not off:
            return True
        if keyword.arg in ("pretrained", "weights") and not off and name.startswith(("torchvision.", "timm.")):
            return True
    if any(_asks_for_data(name, number, argument) for number, argument in enumerate(node.args)):
        return True
    return isinstance(node.func, ast.Attribute) and bool(effect_of(f".{node.func.attr}").fetches)


def _asks_for_data(name: str, number: int, node: ast.expr) -> bool:
    """`resnet18(ResNet18_Weights.DEFAULT)`, `resnet18(True)`, `MNIST("data", True, transform, None, True)`."""
    if isinstance(node, ast.Constant) and node.value is True:
        return (name.startswith("torchvision.models.") and number == 0) or (
            name.startswith("torchvision.datasets.") and number >= 4
        )
    words = [getattr(n, "attr", "") or getattr(n, "id", "") for n in walk(node)]
    return name.startswith("torchvision.") and any("_Weights" in w for w in words)


def unpacks(plan: Reading, node: ast.AST) -> bool:
    """An archive on the disk, or whatever a shell does there."""
    if not isinstance(node, ast.Call):
        return False
    method = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""
    return bool(effect_of(library_name(plan, node)).unpacks or effect_of(method).unpacks)


def makes_folders(plan: Reading, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    attr = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if any(k.arg == "exist_ok" and isinstance(k.value, ast.Constant) and k.value.value is True for k in node.keywords):
        return False  # which any number of processes may do at once
    return library_name(plan, node) in ("os.mkdir", "os.makedirs") or attr == "mkdir"


def loads(plan: Reading, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and bool(effect_of(library_name(plan, node)).loads)


def looks(plan: Reading, node: ast.AST) -> bool:
    """A call that tells what there is on the disk: `os.path.exists(path)`, `path.is_file()`, `os.listdir(folder)`."""
    if not isinstance(node, ast.Call):
        return False
    name = library_name(plan, node)
    method = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) and not name else ""
    return bool(effect_of(name or method).looks)
