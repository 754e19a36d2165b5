"""How many samples a batch is written with: `torch.randn(64, 2)`, `X[torch.randint(0, len(X), (64,))]`."""

from __future__ import annotations

import ast

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import bound, stored
from nbddp.analysis.syntax import qualified

FIRST = ("zeros", "ones", "full", "empty", "rand", "randn", "randperm", "arange", "eye")
SIZE = {"randint": 2, "linspace": 2, "normal": 2, "choice": 1, "uniform": 2, "sample": 1}  # which argument it is
ALIKE = ("to", "float", "long", "double", "cuda", "cpu", "clone", "detach", "requires_grad_", "type", "astype")
KEPT = ("view", "reshape", "unsqueeze")  # where they do not begin with a number
DEPTH = 8


def written_size(plan: Reading, node: ast.expr) -> str | None:
    """Its text: two batches with the same one are taken to be as large."""
    found = _size(plan, node, DEPTH)
    if found is None:
        return None
    const = plan.facts.value(found).const
    return str(const) if isinstance(const, int) else plan.program.source(found)


def known_size(plan: Reading, node: ast.expr) -> str | None:
    """Where it is a number."""
    found = written_size(plan, node)
    return found if found is not None and found.isdigit() else None


def _size(plan: Reading, node: ast.expr, depth: int) -> ast.expr | None:
    if depth == 0:
        return None
    match node:
        case ast.Name(id=name):
            made = [n for n in plan.nodes() if isinstance(n, ast.Assign) and name in stored(n)]
            values = [v for n in made for t, v in bound(plan.program, n) if getattr(t, "id", "") == name]
            return _size(plan, values[0], depth - 1) if len(made) == len(values) == 1 else None
        case ast.Subscript(slice=ast.Name() | ast.Call() as index):
            return _size(plan, index, depth - 1)
        case ast.Call():
            return _of_call(plan, node, depth)
    return None


def _of_call(plan: Reading, node: ast.Call, depth: int) -> ast.expr | None:
    library, _, word = (qualified(node.func, plan.flow.imports) or "").rpartition(".")
    if library.partition(".")[0] in ("torch", "numpy", "random"):
        named = {k.arg: k.value for k in node.keywords}
        place = SIZE.get(word, 0 if word in FIRST else len(node.args))
        if word == "randint" and len(node.args) == place:
            place = 1  # `randint(high, size)`
        size = named.get("size") or named.get("steps") or (node.args[place] if place < len(node.args) else None)
        only = word != "arange" or len(node.args) == 1
        return (size.elts[0] if isinstance(size, ast.Tuple | ast.List) and size.elts else size) if only else None
    if isinstance(node.func, ast.Attribute):
        first = node.args[0] if node.args else None
        from_first = isinstance(first, ast.Constant) and first.value == 0
        turned = isinstance(first, ast.UnaryOp) or (node.func.attr == "unsqueeze" and not from_first)
        if node.func.attr in ALIKE or (node.func.attr in KEPT and turned):
            return _size(plan, node.func.value, depth - 1)
    return None
