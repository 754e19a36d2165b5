"""How many samples a batch is written with: `torch.randn(64, 2)`, `X[torch.randint(0, len(X), (64,))]`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import bound, region_at, stored
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import Extent, Split, spread

FIRST = ("zeros", "ones", "full", "empty", "rand", "randn", "randperm", "arange", "eye")
SIZE = {"randint": 2, "linspace": 2, "normal": 2, "choice": 1, "uniform": 2, "sample": 1}  # which argument it is
TENSORS = ("torch.tensor", "torch.Tensor", "torch.LongTensor", "torch.FloatTensor", "torch.as_tensor", "numpy.array")
ALIKE = ("to", "float", "long", "double", "cuda", "cpu", "clone", "detach", "requires_grad_", "type", "astype")
KEPT = ("view", "reshape", "unsqueeze")  # where they do not begin with a number
DEPTH = 8


def written_size(plan: Reading, node: ast.expr) -> str | None:
    """Its text: two batches with the same one are taken to be as large."""
    found = _size(plan, node, DEPTH)
    if found is None:
        return None
    if isinstance(found, ast.List):
        return str(len(found.elts))
    const = plan.facts.value(found).const
    return str(const) if isinstance(const, int) else plan.program.source(found)


def known_size(plan: Reading, node: ast.expr) -> str | None:
    """Where it is a number."""
    found = written_size(plan, node)
    return found if found is not None and found.isdigit() else None


def is_constant(plan: Reading, node: ast.expr, batches: Iterable[ast.expr]) -> bool:
    """`weights = torch.tensor([1.0, 2.0, 3.0])`, with another number of rows than the batches, if theirs is known."""
    rows = _size(plan, node, DEPTH)
    return isinstance(rows, ast.List) and str(len(rows.elts)) not in {known_size(plan, b) for b in batches}


def has_size(plan: Reading, node: ast.expr, size: ast.expr) -> bool:
    """Written with the same number, by whatever name: `torch.zeros(batch_size, 8)`."""
    own = _size(plan, node, DEPTH)
    sources = plan.facts.value(own).sources if own is not None else frozenset[ast.AST]()
    return bool(sources & plan.facts.value(size).sources)


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


def counted_rows(plan: Reading, split: Split) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`scores[range(n), labels]`: what counts the rows of a batch, and what it must be as long as."""
    for node in (n for s in region_at(plan, split.at).rest for n in walk(s)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and _is_split(plan, node.value):
            first, *others = node.slice.elts
            beside = [o for o in others if _is_split(plan, o)]
            named = [
                n for n in (*beside, node.value) if isinstance(n, ast.Name) and n not in {*split.renamed, *split.inline}
            ]
            if beside and named and is_count(plan, first):
                yield first, named[0]


def _is_split(plan: Reading, node: ast.expr) -> bool:
    return spread(plan.facts.value(node)) is Extent.SAMPLES


def is_count(plan: Reading, node: ast.expr) -> bool:
    """`range(n)`, `torch.arange(n)`, or a name that never is anything else."""
    if isinstance(node, ast.Name):
        made = [n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)]
        given = [plan.program.parents[n] for n in made]
        return len(given) == 1 and isinstance(given[0], ast.Assign) and is_count(plan, given[0].value)
    name = qualified(node.func, plan.flow.imports) if isinstance(node, ast.Call) else None
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    return isinstance(node, ast.Call) and len(node.args) == 1 and (plain or name in ("torch.arange", "numpy.arange"))


def _of_call(plan: Reading, node: ast.Call, depth: int) -> ast.expr | None:
    name = qualified(node.func, plan.flow.imports) or ""
    library, _, word = name.rpartition(".")
    if name in TENSORS and node.args and isinstance(rows := node.args[0], ast.List):
        return None if any(isinstance(row, ast.Starred) for row in rows.elts) else rows
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
