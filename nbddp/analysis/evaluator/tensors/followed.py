"""How many dimensions a tensor has, by how it was made, where that is seen."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.iteration import loaders_in
from nbddp.analysis.evaluator.tensors.dimensions import DIMENSION
from nbddp.analysis.evaluator.tensors.names_made import Source, sources_of
from nbddp.analysis.evaluator.tensors.rows import same_places
from nbddp.analysis.library import Samples, Shape, effect_of
from nbddp.analysis.values import Args, Extent, Keywords, Machine, Value, goes_along_sequences, spread

ONE_DIMENSION = ("arange", "linspace", "randperm")
PAIRS = ("max", "min", "median", "mode", "sort", "topk", "kthvalue", "cummax", "cummin")  # what and where
ITSELF, MANY = -1, 200  # what has just been asked; expressions that are looked at
Known = dict[ast.AST, int | None]


def counted(
    m: Machine, node: ast.Call, word: str, base: Value, args: Args, keywords: Keywords
) -> tuple[Args, Keywords]:
    """`labels.sort(-1)`, `x.transpose(-1, -2)`: the dimensions that are asked for, from the first where known."""
    op = effect_of(f".{word}")
    turns, place = op.shape is Shape.TURNED, op.dim or 0
    asked = [i for i, v in enumerate(args) if _is_negative(v) and (turns or i == place)]
    named = [k for k in DIMENSION if k in keywords and _is_negative(keywords[k])]
    no_dim = bool(op.last) and len(args) <= place and not any(k in keywords for k in DIMENSION)  # `F.softmax(x)`
    if no_dim and spread(base) is Extent.SAMPLES and dimensions(m, _subject(m, node)) == 1:
        return args, {**keywords, "dim": Value(const=0)}
    if not (op.over or turns or op.shape is Shape.APART or word in ("select", "unbind")) or not (asked or named):
        return args, keywords
    if spread(base) is not Extent.SAMPLES or (known := dimensions(m, _subject(m, node))) is None:
        return args, keywords
    first = [_from_first(v, known) if i in asked else v for i, v in enumerate(args)]
    return first, {k: _from_first(v, known) if k in named else v for k, v in keywords.items()}


def _subject(m: Machine, node: ast.Call) -> ast.expr:
    """Whose method it is; of a function the first argument."""
    method = isinstance(node.func, ast.Attribute) and not m.facts.value(node.func).objs
    return node.func.value if method or not node.args else node.args[0]  # type: ignore[attr-defined]


def _is_negative(value: Value) -> bool:
    return isinstance(value.const, int) and value.const < 0


def _from_first(value: Value, known: int) -> Value:
    assert isinstance(value.const, int)
    return replace(value, const=known + value.const)


def dimensions(m: Machine, node: ast.AST) -> int | None:
    """None where it is not known, or not the same each time."""
    found = _of(m, node, {})
    return found if found != ITSELF else None


def _of(m: Machine, node: ast.AST, known: Known) -> int | None:
    """Each expression once; `x = relu(x)` says nothing of `x`."""
    if node not in known:
        known[node] = ITSELF if len(known) < MANY else None
        known[node] = _looked_up(m, node, known) if len(known) < MANY else None
    return known[node]


def _looked_up(m: Machine, node: ast.AST, known: Known) -> int | None:
    if same := same_places(m, node):
        return _one({_of(m, one, known) for one in same}, most=True)
    match node:
        case ast.Name():
            key = m.program.function_of(node), node.id
            sources = sources_of(m.program).get(key, [])
            first = next(
                (n for n in known if isinstance(n, ast.Name) and (m.program.function_of(n), n.id) == key), node
            )
            if first is not node:
                return known[first]
            found = _one({_of_source(m, source, known) for source in sources})
            return 1 if found is None and len(sources) < 2 and _is_target(m, node) else found
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr=word)) as value) if word in PAIRS:
            return _of(m, value, known)  # `x.max(1)[0]`
        case ast.Attribute(value=value, attr="values" | "indices" | "T" | "mT" | "data"):
            return _of(m, value, known)
        case ast.Subscript(value=value, slice=index):
            return _picked(_of(m, value, known), index)
        case ast.Call(func=ast.Attribute(value=value, attr=word)) if not m.facts.value(node.func).objs:
            return _by_method(m, _of(m, value, known), word, node)
        case ast.Call():
            return _made(m, node)
    return None


def _one(found: set[int | None], *, most: bool = False) -> int | None:
    """What all say that know it otherwise than by themselves; of operands that with the most."""
    numbers = [n for n in found if n is not None and n != ITSELF]
    if None in found or (len(numbers) > 1 and not most):
        return None
    return max(numbers, default=ITSELF)


def _picked(before: int | None, index: ast.expr) -> int | None:
    """`x[:, 0]`, `x[None]`, `x[a:b]`."""
    if before is None or before == ITSELF:
        return before
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        match part:
            case ast.Constant(value=None):
                before += 1
            case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant()):
                before -= 1
            case ast.Slice():
                continue
            case _:
                return None
    return before


def _by_method(m: Machine, before: int | None, word: str, node: ast.Call) -> int | None:
    op, args = effect_of(f".{word}"), node.args
    given = [m.facts.value(a).const for a in (*args, *(k.value for k in node.keywords if k.arg in DIMENSION))]
    if op.shape is Shape.ANEW:
        sizes = args[0].elts if args and isinstance(args[0], ast.Tuple) else args
        return len(sizes) or None if all(map(_is_number, sizes)) else None
    if op.shape is Shape.FLAT:
        return 1 if given in ([], [0]) else 2 if given == [1] else None
    kept = any(k.arg in ("keepdim", "keepdims") for k in node.keywords)
    if before is None or before == ITSELF or kept:
        return before
    if None in given or any(k.arg not in DIMENSION for k in node.keywords):
        return None
    if op.shape is Shape.TURNED:
        return before
    if word == "unsqueeze":
        return before + 1
    goes = word == "squeeze" or op.samples in (Samples.SUM, Samples.MEAN, Samples.STATISTIC)
    return before - 1 if goes and len(given) == 1 else None


def _is_number(node: ast.expr) -> bool:
    """`-1`, `3`, `len(x)`, `x.shape[0]`: not `x.shape`."""
    match node:
        case ast.Constant() | ast.UnaryOp() | ast.Call(args=[_, *_]) | ast.Subscript(slice=ast.Constant()):
            return True
    return False


def _made(m: Machine, node: ast.Call) -> int | None:
    """`torch.randn(24, 3)`, `torch.randint(0, 9, (24,))`, `torch.arange(24)`, `nn.Flatten(0)(x)`."""
    layers = m.facts.value(node.func).of("model")
    if layers and {o.name for o in layers} == {"torch.nn.Flatten"}:
        first = {a.value for o in layers for a in getattr(o.node, "args", ())[:1] if isinstance(a, ast.Constant)}
        return 2 if not first else 1 if first == {0} else None
    names = m.facts.calls[node].names if node in m.facts.calls else set[str]()
    if len(names) != 1 or not (name := next(iter(names))).startswith(("torch.", "numpy.")):
        return None
    if name.endswith(ONE_DIMENSION):
        return 1
    op = effect_of(name)
    sizes = node.args[op.size :] if op.size is not None else []
    if sizes and isinstance(sizes[0], ast.Tuple | ast.List):
        return len(sizes[0].elts)
    return len(sizes) if op.size == 0 and sizes and all(isinstance(s, ast.Constant) for s in sizes) else None


def _of_source(m: Machine, source: Source, known: Known) -> int | None:
    if not isinstance(source, tuple):
        return _of(m, source, known) if source is not None else None
    loop, place = source
    datasets = [d for o in loaders_in(m, m.facts.value(loop)) for d in (m.get(o, "dataset") or Value()).objs]
    calls = [d.node for d in datasets if d.name.endswith("TensorDataset") and isinstance(d.node, ast.Call)]
    if len(calls) != len(datasets) or not calls or any(place >= len(c.args) for c in calls):
        return None
    return _one({_of(m, c.args[place], known) for c in calls})


def _is_target(m: Machine, node: ast.Name) -> bool:
    """Classes, as `F.cross_entropy(scores, y)` takes them of samples: without rows and columns of pixels."""
    calls = [call for call, given in m.program.handed.get(node.id, ()) if call.args[1:2] == [given]]
    losses = (
        m.facts.calls[c].names | {o.name for o in m.facts.value(c.func).of("loss")} for c in calls if c in m.facts.calls
    )
    images = "Conv" in m.program.text
    return not (images or goes_along_sequences(m)) and any(
        effect_of(name).by_class for names in losses for name in names
    )
