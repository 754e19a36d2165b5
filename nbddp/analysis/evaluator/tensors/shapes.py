"""How many dimensions a tensor has, and of what sizes: by what it is made of, where that is known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from nbddp.analysis.evaluator.tensors.dimensions import from_the_last, samples_at
from nbddp.analysis.evaluator.tensors.layers import after_layer, note_ranks
from nbddp.analysis.evaluator.tensors.many import measured, of_any, sizes_of
from nbddp.analysis.evaluator.tensors.operations import contracted
from nbddp.analysis.evaluator.tensors.picked_shapes import is_tensor, shape_of_picked
from nbddp.analysis.evaluator.tensors.reshaping import PAIRS, REDUCES, anew, renamed, reshaped
from nbddp.analysis.evaluator.tensors.rows import same_places
from nbddp.analysis.library import Samples, Shape, effect_of, under
from nbddp.analysis.syntax import keywords_of
from nbddp.analysis.values import (
    FLAT,
    LINE,
    ONE,
    SEVERAL,
    TURNED,
    AsMany,
    Dimensions,
    Extent,
    Machine,
    Several,
    Sizes,
    Value,
    goes_along_sequences,
    marked,
    spread,
)

ONE_DIMENSION = ("arange", "linspace", "randperm", "bincount", "random.permutation")
SAME = ("values", "indices", "data", "grad", "real", "imag", "iloc", "loc")
TABLES = {"DataFrame": 2, "Series": 1, "merge": 2, "get_dummies": 2}  # and `pandas.read_csv`
MADE = ("regression", "classification", "moons", "circles", "blobs", "friedman1", "friedman2", "friedman3")
MANY = 4  # arguments, of which the last is the number of targets
DRAWS = ("normal", "uniform", "random", "standard_normal", "integers", "exponential", "poisson", "gamma")
OF_TABLES = (
    "to_numpy", "drop", "dropna", "fillna", "reset_index", "set_index", "sample", "head", "tail", "sort_values",
    "sort_index", "drop_duplicates", "replace", "rename", "interpolate",
)  # fmt: skip
COPIES = ("tensor", "Variable", "as_tensor", "array", "asarray", "from_numpy", "Parameter", "FloatTensor", "LongTensor")
STAY = (Samples.KEEPS, Samples.EACH, Samples.WEIGHS)


def shaped(m: Machine, node: ast.expr, value: Value) -> Value:
    """The value of a node, whose parts have been seen, with what is known of its shape."""
    if value.items and isinstance(node, ast.Call) and m.facts.value(node.func).of("model", "submodule"):
        return _each_shaped(m, node, value.items, value)
    if value.number or not is_tensor(value):
        return value
    note_paired(m, node)
    note_ranks(m, node)
    found = of_any(m, node, lambda: _of(m, node, value))
    if found is None and spread(value) is Extent.SAMPLES and not isinstance(node, ast.Name):
        found = AsMany(node)
    value = value if found == value.shape else replace(value, shape=found)
    several = spread(value) is Extent.SAMPLES and not value.of(ONE)
    return _lined(_in_a_row(m, node, value)) if value.rank is not None and several else value


def _each_shaped(m: Machine, node: ast.Call, parts: Sequence[Value], value: Value) -> Value:
    """`outputs, states = self.gru(x)`."""
    found = of_any(m, node, lambda: _called(m, node, value))
    if not isinstance(found, Several) or len(found.of) != len(parts):
        return value
    return replace(value, items=tuple(_of_shape(p, shape) for p, shape in zip(parts, found.of, strict=True)))


def _of_shape(part: Value, shape: Sizes | AsMany | None) -> Value:
    """Also of both states of an `nn.LSTM`."""
    if part.items:
        return replace(part, items=tuple(_of_shape(p, shape) for p in part.items))
    return replace(part, shape=shape)


def with_dimensions(m: Machine, target: ast.Name, value: Value) -> Value:
    """In a loop, what has some number of dimensions by a name: what is made of it has as many, or some more."""
    unknown = value.shape is None and not value.number and is_tensor(value)
    return replace(value, shape=AsMany(target)) if unknown and m.loops else value


def _in_a_row(m: Machine, node: ast.expr, value: Value) -> Value:
    """`x.flatten()`, `x.view(-1)`: all features of a sample, then those of the next one."""
    if value.rank != 1 or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return value
    base = m.facts.value(node.func.value)
    line = base.of(LINE) and not base.of(TURNED)
    if line or effect_of(f".{node.func.attr}").shape not in (Shape.ANEW, Shape.FLAT):
        return value
    one = isinstance(base.shape, tuple) and all(size == 1 for size in base.shape[1:])
    return value if one else marked(value, SEVERAL)


def _lined(value: Value) -> Value:
    """Is the dimension of the samples the last one?"""
    last = value.rank == samples_at(value) + 1 and not value.of(FLAT)
    plain = value if last == bool(value.of(LINE)) else replace(value, objs=value.objs - value.of(LINE))
    return marked(plain, LINE) if last and plain is not value else plain


def note_paired(m: Machine, node: ast.expr) -> None:
    """`x - y.T`, `mse_loss(x[:, 0], y)` where `y` is a column: each sample meets all others; or where that may be."""
    values = map(m.facts.value, _aligned(m, node))
    places = [from_the_last(v) for v in values if spread(v) is Extent.SAMPLES and not v.of(FLAT, ONE)]
    if len(places) > 1 and (None in places or len({*places}) > 1):
        m.facts.meets[node].add(frozenset(places))


def _aligned(m: Machine, node: ast.expr) -> Sequence[ast.expr]:
    """What is computed with number by number."""
    match node:
        case ast.BinOp(left=left, right=right) if not isinstance(node.op, ast.MatMult):
            return [left, right]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Call(func=ast.Attribute(value=base, attr=word), args=args) if effect_of(f".{word}").aligned:
            return args if m.facts.value(node.func).objs else [base, *args]
        case ast.Call(func=func, args=args) if any(effect_of(o.name).aligned for o in m.facts.value(func).of("loss")):
            return args
    return []


def _of(m: Machine, node: ast.expr, value: Value) -> Dimensions:
    match node:
        case ast.BinOp(left=left, right=right):
            both = [seen(m, side) for side in (left, right)]
            if isinstance(node.op, ast.MatMult):
                return _product(*both)
            sizes = together(both)
            return _with_others(m, [left, right]) if sizes is None else sizes
        case ast.Compare(left=left, comparators=others):
            return together([seen(m, one) for one in (left, *others)])
        case ast.UnaryOp(operand=operand):
            return sizes_of(m, m.facts.value(operand))
        case ast.Subscript(value=base, slice=index):
            return shape_of_picked(m, m.facts.value(base), index, value)
        case ast.Attribute(value=base, attr=word):
            return _field(m, m.facts.value(base), word, value)
        case ast.Call():
            return _called(m, node, value)
        case ast.Name() if not isinstance(value.shape, tuple) and _is_target(m, node, value):
            return (None,)
    return value.shape


def _field(m: Machine, base: Value, word: str, value: Value) -> Dimensions:
    if not is_tensor(base):
        return value.shape
    shape = sizes_of(m, base)
    if isinstance(shape, Several):  # `x.max(1).values`
        return shape.of[0] if len({*shape.of}) == 1 and word in SAME else None
    turned = shape and (shape[::-1] if word == "T" else (*shape[:-2], *shape[-2:][::-1]))
    return shape if word in SAME else turned if word in ("T", "mT") else None


def seen(m: Machine, node: ast.expr) -> Sizes | None:
    """Numbers go with anything; also `math.pi`."""
    value = m.facts.value(node)
    constant = any(under(o.name, ("math", "numpy", "torch")) for o in value.of("library"))
    sizes = () if value.number or constant else sizes_of(m, value)
    return sizes if isinstance(sizes, tuple) else None


def together(shapes: Sequence[Sizes | None]) -> Sizes | None:
    """Of what is computed number by number, with the last dimensions on top of each other."""
    known = [s[::-1] for s in shapes if s is not None]
    if len(known) < len(shapes):
        return None
    sizes = [{*column} - {1} for column in zip_longest(*known, fillvalue=1)]
    return tuple(1 if not column else None if len(column) > 1 else next(iter(column)) for column in sizes)[::-1]


def _with_others(m: Machine, parts: Sequence[ast.expr]) -> Sizes | None:
    """`alpha * x`: what is not of samples is taken to have no more dimensions than what is."""
    of_samples = [p for p in parts if spread(m.facts.value(p)) is Extent.SAMPLES]
    samples = together([seen(m, p) for p in of_samples]) if of_samples else None
    return samples and (None,) * len(samples)


def _product(left: Sizes | None, right: Sizes | None) -> Sizes | None:
    if not (left and right):
        return None
    longer = max(left, right, key=len)
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    return (*longer[: max(len(longer) - 2, 0)], *rows, *columns)


def _called(m: Machine, node: ast.Call, value: Value) -> Dimensions:
    fact, func = m.facts.calls.get(node), m.facts.value(node.func)
    batch = isinstance(value.shape, Several)  # `next(batches)`
    if fact is None or fact.bodies or batch or func.of("function", "method", "class"):
        return value.shape
    first = seen(m, node.args[0]) if node.args else None
    if func.of("model", "submodule", "loss"):
        return after_layer(m, func.of("model"), first)
    word = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if isinstance(node.func, ast.Attribute) and not func.objs:
        base = m.facts.value(node.func.value)
        if word in (
            "transform",
            "fit_transform",
            "inverse_transform",
        ):  # of scikit-learn; of labels it may make columns
            return first and ((None,) * len(first) if len(first) > 1 else None)
        if not is_tensor(base):
            return value.shape
        if base.shape is None and word in DRAWS:  # `rng.normal(size=(60, 4))`
            return _by_library(m, node, {f"numpy.random.{word}"})
        if word == "new_tensor" and node.args:
            return _written(m, node.args[0])
        return _by_word(m, word, node, [node.func.value, *node.args])
    return _by_library(m, node, fact.names)


def _by_word(m: Machine, word: str, node: ast.Call, given: list[ast.expr]) -> Dimensions:
    """`x.sum(1)`, `torch.sum(x, 1)`."""
    op, before = effect_of(f".{word}"), seen(m, given[0])
    if before is not None and word in OF_TABLES:
        numbered = word == "reset_index" and "drop" not in keywords_of(node)  # a column more
        return (None, None) if numbered else (None,) * len(before)
    if op.aligned and len(given) > 1:
        return together([seen(m, one) for one in given])
    if word in ("matmul", "mm", "bmm", "mv") and len(given) > 1:
        found = _product(before, seen(m, given[1]))
        return (None,) * 3 if word == "bmm" and len(found or ()) != 3 else found
    if op.draws and word.endswith("_"):
        return before  # `torch.Tensor(24, 3).uniform_()`
    if word not in (*PAIRS, *REDUCES, "repeat") and same_places(m, node):
        return before if op.samples in STAY or before is None else (None,) * len(before)
    return reshaped(m, before, word, node, given[1:])


def _by_library(m: Machine, node: ast.Call, names: set[str]) -> Dimensions:
    """`torch.randn(24, 3)`, `torch.randint(0, 9, (24,))`, `torch.arange(24)`, `torch.stack(rows)`."""
    name = next(iter(names)) if len(names) == 1 else ""
    if name.startswith("einops.") and len(node.args) > 1:
        return renamed(seen(m, node.args[0]), m.facts.value(node.args[1]).const)
    if not name.startswith(("torch.", "numpy.")):
        return _of_table(m, node, name)
    many = keywords_of(node).get("size") or (*node.args[1:], None)[0]
    chosen = many is not None and name.endswith("random.choice") and m.facts.value(many).number
    if chosen or name.endswith((*ONE_DIMENSION, "eye")):
        return (None, None) if name.endswith("eye") else (None,)
    op, word = effect_of(name), name.rpartition(".")[2]
    named = keywords_of(node).get("size")
    if word in ("Tensor", "FloatTensor") and node.args and all(m.facts.value(a).number for a in node.args):
        return anew(m, word, None, node.args)  # `torch.Tensor(24, 3)`
    if op.size is not None or named is not None:
        return _of_size(m, word, [named] if named else node.args[op.size :], one=op.size != 0)
    if not node.args:
        return None
    first = m.facts.value(node.args[0])
    if name.endswith("_like"):
        return seen(m, node.args[0])
    if op.as_many:  # `F.linear(x, weight)`
        before = seen(m, node.args[0])
        return before and (before[0], *(None for _ in before[1:]))
    if op.samples is Samples.JOINS:
        inner = _of_each(m, node.args[0])
        return None if inner is None or word[1:] == "stack" else (None,) * (len(inner) + (word == "stack"))
    if word in COPIES:
        return _written(m, node.args[0])
    if word == "einsum":
        known = contracted(first.const)
        return known and (None,) * len(known[1])
    return _by_word(m, word, node, node.args)


def _of_table(m: Machine, node: ast.Call, name: str) -> Dimensions:
    """`pandas.read_csv(path)`, `train_test_split(X, y)`: of each one part, and then the other."""
    word = name.rpartition(".")[2]
    if word == "concat" and node.args and "axis" not in keywords_of(node):
        parts = getattr(node.args[0], "elts", [])
        inner = seen(m, parts[0]) if parts else None
        return inner and (None,) * len(inner)
    if name.startswith("pandas."):
        many = 2 if effect_of(name).opens and word != "read_pickle" else TABLES.get(word, 0)
        return (None,) * many or None
    if name.startswith("sklearn.datasets.make_") and word.removeprefix("make_") in MADE:
        plain = len(node.args) < MANY and not keywords_of(node).keys() & {"n_targets", "coef", "return_centers"}
        return Several(((None, None), (None,))) if plain else None
    if not name.endswith("model_selection.train_test_split") or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    sizes = [seen(m, given) for given in node.args]
    return Several(tuple(one and (None,) * len(one) for one in sizes for _ in range(2)))


def _of_each(m: Machine, several: ast.expr) -> Sizes | None:
    """Of what is joined, where one part tells how many dimensions all have; an empty one goes with any."""
    if not isinstance(several, ast.Tuple | ast.List):
        value = m.facts.value(several)
        inner = sizes_of(m, m.elements(value)) if value.of("list") else None
        return inner if isinstance(inner, tuple) else None
    for part in sorted(several.elts, key=lambda part: isinstance(m.facts.value(part).shape, AsMany)):
        starred = isinstance(part, ast.Starred)
        sizes = seen(m, part.value if isinstance(part, ast.Starred) else part)
        if sizes and (starred or len(sizes) > 1 or spread(m.facts.value(part)) is Extent.SAMPLES):
            return sizes[starred:]
    return None


def _of_size(m: Machine, word: str, sizes: Sequence[ast.expr], *, one: bool) -> Dimensions:
    """`(24, 3)`, `x.shape`, `*x.shape`; `24, 3` unless it is one argument."""
    if len(sizes) == 1 and (tensor := measured(sizes[0])) is not None:
        return seen(m, tensor)
    listed = bool(sizes) and isinstance(sizes[0], ast.Tuple | ast.List)
    if one and sizes and m.facts.value(sizes[0]).number:  # `rng.poisson(3.0, 48)`
        return (None,)
    return anew(m, word, None, sizes) if listed or not one else None


def _written(m: Machine, node: ast.expr) -> Dimensions:
    """`[[1.0, 2.0], [3.0, 4.0]]`, a number, a tensor."""
    if not isinstance(node, ast.List | ast.Tuple):
        value = m.facts.value(node)
        return () if value.number else sizes_of(m, value) if is_tensor(value) else None
    inner = {_written(m, e) for e in node.elts if not isinstance(e, ast.Starred)}
    rows = len(node.elts) if not any(isinstance(e, ast.Starred) for e in node.elts) else None
    row = next(iter(inner)) if len(inner) == 1 else None
    return (rows, *row) if isinstance(row, tuple) else None


def _is_target(m: Machine, node: ast.Name, value: Value) -> bool:
    """Classes, as `F.cross_entropy(scores, y)` takes them of samples: without rows and columns of pixels."""
    if spread(value) is not Extent.SAMPLES or not isinstance(node.ctx, ast.Load):
        return False
    calls = [call for call, given in m.program.handed.get(node.id, ()) if call.args[1:2] == [given]]
    losses = (
        m.facts.calls[c].names | {o.name for o in m.facts.value(c.func).of("loss")} for c in calls if c in m.facts.calls
    )
    images = "Conv" in m.program.text
    return not (images or goes_along_sequences(m)) and any(
        effect_of(name).by_class for names in losses for name in names
    )
