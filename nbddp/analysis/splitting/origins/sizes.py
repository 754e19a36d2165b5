"""How many samples a batch is written with: `torch.randn(64, 2)`, `X[torch.randint(0, len(X), (64,))]`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from nbddp.analysis.library import Samples, Shape, effect_of, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import held, is_split, region_at
from nbddp.analysis.syntax import handed, keywords_of, qualified, walk
from nbddp.analysis.values import FLAT, TURNED, Obj, Split

TENSORS = ("torch.tensor", "torch.Tensor", "torch.LongTensor", "torch.FloatTensor", "torch.as_tensor", "numpy.array")
DEPTH = 8
FIXED = ast.Name | ast.Subscript | ast.Slice | ast.Tuple | ast.Constant | ast.BinOp | ast.UnaryOp
STATE = ("layers", "samples", "features")


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


def loaders_of(plan: Reading, node: ast.expr) -> set[Obj]:
    """Whose samples these are, in a loop: `for (x, y), (w, s) in zip(cycle(small), large)`."""
    found = set[Obj]()
    for name in plan.bindings.made_of(node, through_calls=False):
        for one in plan.bindings.of(name) if isinstance(name, ast.Name) else ():
            if isinstance(one.by, ast.For | ast.AsyncFor) and isinstance(one.value, ast.expr):
                found |= plan.facts.value(_gone_through(plan, one.value, one.places[1:])).of("loader")
    return found


def _gone_through(plan: Reading, node: ast.expr, places: tuple[int | None, ...]) -> ast.expr:
    """`large` of `enumerate(zip(cycle(small), large))`, for what stands in place 1 of place 1."""
    loader = bool(plan.facts.value(node).of("loader"))
    if isinstance(node, ast.Name) and not loader and (made := plan.bindings.single(node)) is not None:
        return _gone_through(plan, made, places)
    if loader or not isinstance(node, ast.Call) or not node.args:
        return node
    word, at = ast.unparse(node.func), places[0] if places else None
    if word == "zip" and at is not None and at < len(node.args):
        return _gone_through(plan, node.args[at], places[1:])
    return _gone_through(plan, node.args[0], places[1:] if word == "enumerate" else places)


def rows_of_batches(plan: Reading) -> set[str]:
    """How many samples the batches have, as far as that is written: of a loader's, and of those that are split."""
    given = (plan.facts.calls[o.node].args for o in plan.assumed.alike if o.node in plan.facts.calls)
    written = {str(sizes[key].const) for sizes in given for key in ("batch_size", 1) if key in sizes}
    known = {known_size(plan, node) for split in plan.assumed.splits for node in held(plan, split)}
    return {size for size in written | known if size is not None and size.isdigit()}


def is_constant(plan: Reading, node: ast.expr, batches: Iterable[ast.expr]) -> bool:
    """`weights = torch.tensor([1.0, 2.0])`, `[0.1, 0.9]`: with other rows than the batches, if theirs are known."""
    rows = _size(plan, node, DEPTH)
    return isinstance(rows, ast.List) and str(len(rows.elts)) not in {known_size(plan, b) for b in batches}


def is_unchanging(plan: Reading, node: ast.expr) -> bool:
    """`times[:length]`, which nothing has drawn: the same in each turn, whatever the batch is."""
    made = [part for one in plan.bindings.made_by(node) for part in walk(one)]
    names = [n for n in made if isinstance(n, ast.Name)]
    written = (all(isinstance(one.value, ast.Constant) for one in plan.bindings.of(n)) for n in names)  # by default
    once = all(default or plan.bindings.single(n) is not None for n, default in zip(names, written, strict=True))
    at_top = all(plan.program.parents[one.by] is plan.program.tree for n in names for one in plan.bindings.of(n))
    return bool(names) and once and at_top and all(isinstance(n, FIXED) for n in made if isinstance(n, ast.expr))


def fits(plan: Reading, node: ast.expr, batches: Sequence[ast.expr]) -> bool:
    """Is it as long as one of them, or is one drawn by it?"""
    sizes = {size for batch in batches if (size := written_size(plan, batch)) is not None}
    return written_size(plan, node) in sizes or are_drawn_by(plan, node, batches)


def are_drawn_by(plan: Reading, node: ast.expr, batches: Sequence[ast.expr]) -> bool:
    """`images`, of `noise = torch.randn_like(images)`."""
    made = [part for batch in batches for one in plan.bindings.made_by(batch) for part in walk(one)]
    named = [n for n in made if isinstance(n, ast.Name) and isinstance(node, ast.Name) and n.id == node.id]
    return any(plan.bindings.of(n) == plan.bindings.of(node) for n in named)


def has_size(plan: Reading, node: ast.expr, size: ast.expr) -> bool:
    """Written with the same number, by whatever name: `torch.zeros(batch_size, 8)`."""
    own = _size(plan, node, DEPTH)
    sources = plan.facts.value(own).sources if own is not None else frozenset[ast.AST]()
    return bool(sources & plan.facts.value(size).sources)


def _size(plan: Reading, node: ast.expr, depth: int) -> ast.expr | None:
    if depth == 0:
        return None
    match node:
        case ast.Name() if (made := plan.bindings.single(node)) is not None:
            return _size(plan, made, depth - 1)
        case ast.Subscript(slice=ast.Name() | ast.Call() as index):
            return _size(plan, index, depth - 1)
        case (
            ast.Subscript(slice=ast.Slice(lower=None, upper=ast.expr() as count, step=None))
            | ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=ast.expr() as count, step=None), *_]))
        ):
            return count
        case ast.Subscript(slice=ast.Slice(lower=ast.expr() as first, upper=ast.BinOp(left, ast.Add(), count))) if (
            ast.dump(left) == ast.dump(first)  # `X[i : i + 64]`, of which the last may have fewer
        ):
            return count
        case ast.List(elts=rows) if not any(isinstance(row, ast.Starred) for row in rows):
            return node
        case ast.Call():
            return _of_call(plan, node, depth)
    return None


def counted_rows(plan: Reading, split: Split) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`scores[range(n), labels]`: what counts the rows of a batch, and what it must be as long as."""
    for node in (n for s in region_at(plan, split.at).rest for n in walk(s)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and is_split(plan, node.value):
            first, *others = node.slice.elts
            beside = [o for o in others if is_split(plan, o)]
            named = [
                n for n in (*beside, node.value) if isinstance(n, ast.Name) and n not in {*split.renamed, *split.inline}
            ]
            if beside and named and is_count(plan, first):
                yield first, named[0]


def entries_of_each(plan: Reading, split: Split, size: ast.expr) -> str | None:
    """By what a size counts each sample: `len(x)` as one, `x.numel()` by the rest of its shape; None: not seen."""
    made = (plan.bindings.single(size) if isinstance(size, ast.Name) else None) or size
    match made:
        case ast.Call(func=ast.Attribute(value=counted)) if entry_of(made).samples is Samples.COUNT:
            rest = f" * {plan.program.source(counted)}.shape[1:].numel()"
            unclear = made is not size or split.dim or plan.facts.value(counted).of(TURNED, FLAT)
            return "" if plan.facts.value(counted).rank == 1 else None if unclear else rest
    return "" if not isinstance(made, ast.BinOp) and entry_of(made).samples is not Samples.COUNT else None


def is_count(plan: Reading, node: ast.expr) -> bool:
    """`range(n)`, `torch.arange(n)`, or a name that never is anything else."""
    if isinstance(node, ast.Name):
        made = plan.bindings.single(node)
        return made is not None and is_count(plan, made)
    return isinstance(node, ast.Call) and len(node.args) == 1 and bool(entry_of(node, plan.flow.imports).counts)


def _of_call(plan: Reading, node: ast.Call, depth: int) -> ast.expr | None:
    name, rows = qualified(node.func, plan.flow.imports), node.args[0] if node.args else None
    if name in TENSORS and len(node.args) > 1:  # `torch.LongTensor(batch_size, length)`
        return rows
    if name in TENSORS and isinstance(rows, ast.List | ast.Call | ast.Subscript):
        return _size(plan, rows, depth)
    op = entry_of(node, plan.flow.imports)
    if op.size is not None:
        return next(iter(written_sizes(plan, node)), None)
    if name is not None and rows is not None and op.samples in (Samples.EACH, Samples.KEEPS) and not op.product:
        return _size(plan, rows, depth - 1)  # `torch.sin(x)`
    if isinstance(node.func, ast.Attribute) and name is None:
        first = node.args[0] if node.args else None
        from_first = isinstance(first, ast.Constant) and first.value == 0
        turned = (op.shape is Shape.ANEW and isinstance(first, ast.UnaryOp)) or (op.shape is Shape.ONES and first)
        if op.shape is Shape.SAME or (turned and not from_first):
            return _size(plan, node.func.value, depth - 1)
    return _of_own(plan, node, depth)


def _of_own(plan: Reading, node: ast.Call, depth: int) -> ast.expr | None:
    """`real(20)`, of `def real(n): return X[torch.randint(0, len(X), (n,))]`."""
    fact = plan.facts.calls.get(node)
    match [*fact.bodies] if fact is not None else ():
        case [ast.FunctionDef(body=[*_, ast.Return(value=ast.expr() as value)]) as function]:
            rows = _size(plan, value, depth - 1)
            given = {name: one for name, one in handed(node, function) if isinstance(one, ast.expr)}
            return given.get(rows.id, rows) if isinstance(rows, ast.Name) else rows
    yielded = [made for made in plan.bindings.made_by(node) if made is not node]  # `next(batches)`
    return _size(plan, yielded[0], depth - 1) if len(yielded) == 1 else None


def written_sizes(plan: Reading, node: ast.AST) -> Sequence[ast.expr]:
    """`64, 2` of `torch.randn(64, 2)`, of `np.zeros((64, 2))` and of `torch.randint(0, 9, (64, 2))`."""
    op = entry_of(node, plan.flow.imports)
    if op.size is None or not isinstance(node, ast.Call):
        return ()
    named = keywords_of(node)
    if (size := named.get("size") or named.get("steps")) is not None:
        return sizes_in([size])
    if op.counts and len(node.args) > 1:  # `arange(first, end)`
        return ()
    without_low = qualified(node.func, plan.flow.imports) == "torch.randint" and len(node.args) == op.size
    return sizes_in(node.args[op.size - without_low :])


def is_state(plan: Reading, node: ast.expr) -> bool:
    """`torch.zeros(layers, len(x), hidden)`, also two of them: for each sample of a batch, behind the layers.

    Or what a model then makes of it.
    """
    made = [part for part in detached(plan, node) if not is_moved(part, ast.unparse(node))]
    calls = (plan.facts.calls.get(part) for part in made if isinstance(part, ast.Call))
    later = {c.node for c in calls if c is not None and any(o.kind in ("model", "submodule") for o in c.called)}
    others = [part for part in made if part not in later]
    carried = bool(later) and any(node in plan.bindings.made_of(call.args[1]) for call in stateful(plan))
    return bool(others) and all(
        _has_layers(plan, p) or (carried and len(sizes_of_state(plan, p)) == len(STATE)) for p in others
    )


def stateful(plan: Reading) -> Iterator[ast.Call]:
    """`self.lstm(x, states)` in a model."""
    for call, fact in plan.facts.calls.items():
        if fact.ever_in_forward and len(call.args) == 2 and any(effect_of(o.name).state for o in fact.called):
            yield call


def begins_states(plan: Reading, node: ast.expr) -> bool:
    """`model.init_hidden(size)`, of three written sizes each, whatever tells how many samples there are."""
    made = detached(plan, node)
    return bool(made) and all(len(sizes_of_state(plan, part)) == len(STATE) for part in made)


def sizes_of_state(plan: Reading, node: ast.expr) -> Sequence[ast.expr]:
    """Also of `….zero_()`, `….to(device)`."""
    sizes = written_sizes(plan, node)
    receiver = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return sizes_of_state(plan, receiver) if not sizes and receiver is not None else sizes


def detached(plan: Reading, node: ast.expr) -> list[ast.expr]:
    """What it comes from: `tuple([each.data for each in hidden])` and `h.detach()` are what they are made of."""
    found, waiting, seen = list[ast.expr](), [node], {node}
    for one in waiting:
        for value in plan.bindings.made_by(one):
            inner = [part for part in _parts(value) if part is not value]
            found += [] if inner else [value]
            waiting += (new := [part for part in inner if part not in seen])
            seen.update(new)
    return found


def _parts(node: ast.expr) -> Sequence[ast.expr]:
    """Without what only takes it apart, puts it together or takes the gradient off."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return parts
        case ast.IfExp(body=one, orelse=other):
            return one, other
        case ast.Call(func=ast.Name(id="tuple" | "list"), args=[ast.expr() as several]):
            return [several]
        case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
            return [each]
        case ast.Attribute(value=ast.expr() as whole, attr="data"):
            return [whole]
        case ast.Call(func=ast.Attribute(value=ast.expr() as whole, attr="detach" | "detach_" | "clone"), args=[]):
            return [whole]
    return []


def is_moved(node: ast.expr, place: str) -> bool:
    """`h.to(device)`, `h.requires_grad_()` of `h` itself: the same samples."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if entry_of(node).samples is not Samples.KEEPS and node.func.attr != "requires_grad_":
            return False
        node = node.func.value
    return ast.unparse(node) == place


def _has_layers(plan: Reading, node: ast.expr) -> bool:
    sizes = sizes_of_state(plan, node)
    if len(sizes) != len(STATE):
        return False
    first, second, _ = ([*plan.bindings.made_of(size)] for size in sizes)
    return any(map(_counts_samples, second)) and not any(map(_counts_samples, first))


def _counts_samples(node: ast.AST) -> bool:
    """`len(x)`, `x.size(0)`, `x.shape[0]`."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "len"
    return isinstance(node, ast.Attribute) and entry_of(node).about == "size"


def sizes_in(given: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """`2, 3` as well as `(2, 3)`."""
    return given[0].elts if given and isinstance(given[0], ast.Tuple | ast.List) else given
