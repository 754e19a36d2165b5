"""What looks like a batch and is one sample: a sentence, a row, what a loop picks out of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import Definition, Region, region_at, stored
from nbddp.analysis.splitting.roots import is_data, is_single
from nbddp.analysis.syntax import qualified
from nbddp.analysis.values import TURNED, Extent, Split, spread

HANDING_ON = ("zip", "enumerate", "list", "reversed", "tqdm")
BATCHES = ("split", "chunk", "tensor_split", "array_split", "unbind", "reshape", "view", "stack")  # one at a time
DEPTH = 4  # of functions that hand it on
ONE = {"unsqueeze": 0, "view": 1, "reshape": 1}  # by their first argument: of samples in the first dimension


def sample_by_sample(plan: Reading, split: Split) -> str | None:
    """`for x, y in zip(X, Y)`, where these are tensors."""
    for loop in plan.program.ancestors(split.at):
        if isinstance(loop, ast.For) and stored(loop.target) & _made_of(region_at(plan, split.at), split):
            for name in _gone_through(loop.iter):
                if _is_tensor(plan, name, plan.program.function_of(name)):
                    return plan.program.source(loop.iter)
    return _next_of_dataset(plan, split)


def _next_of_dataset(plan: Reading, split: Split) -> str | None:
    """`x, y = next(samples)`, which goes through a dataset and not through batches of it."""
    region = region_at(plan, split.at)
    for statement in region.block[: region.block.index(region.at)]:
        for call in ast.walk(statement) if stored(statement) & {*split.names} else ():
            if isinstance(call, ast.Call) and call.args and ast.unparse(call.func) == "next":
                sources = (plan.facts.fields.get((o, "of")) for o in plan.facts.value(call.args[0]).of("iterator"))
                if any(source is not None and source.of("dataset") for source in sources):
                    return plan.program.source(call)
    return None


def _gone_through(node: ast.expr) -> Iterator[ast.Name]:
    """`X`, also in `zip(X, Y)`, `enumerate(X)` and a bar."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in HANDING_ON:
        yield from (n for part in node.args for n in _gone_through(part))


def _made_of(region: Region, split: Split) -> set[str]:
    """The names dealt out, and those that they were taken from right before."""
    own = {*split.names}
    for statement in region.block[: region.block.index(region.at)]:
        if stored(statement) & own:
            own |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    return own


def _is_tensor(plan: Reading, name: ast.Name, function: ast.AST | None, depth: int = 0) -> bool:
    """Made by torch or numpy, as far as that can be read; handed on to the function by all who call it."""
    if isinstance(function, Definition) and name.id in (names := [a.arg for a in function.args.args]):
        given = [c.args[at] for c in plan.callers.get(function, ()) if len(c.args) > (at := names.index(name.id))]
        return depth < DEPTH and any(
            isinstance(g, ast.Name) and _is_tensor(plan, g, plan.program.function_of(g), depth + 1) for g in given
        )
    made = [n for n in plan.nodes() if isinstance(n, ast.Assign) and name.id in stored(n)]
    return any(_makes_tensor(plan, value) for n in made for value in _bound_to(n.targets[0], n.value, name.id))


def _bound_to(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    """`X, y = torch.randn(9), torch.randn(9)`: of several values the one for the name."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [v for t, v in zip(target.elts, value.elts, strict=True) if name in stored(t)]
    return [value]


def _makes_tensor(plan: Reading, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    word = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = qualified(node.func, plan.flow.imports) or ""
    if name.startswith(("torch.", "numpy.")) and not name.startswith("torch.utils.") and word not in BATCHES:
        return True
    return word not in BATCHES and isinstance(node.func, ast.Attribute) and _makes_tensor(plan, node.func.value)


def along_second(plan: Reading, split: Split) -> ast.expr | None:
    """`data[:, idx]`, with what this turn has drawn; a slice may well be of time: `data[:, i : i + length]`."""
    region = region_at(plan, split.at)
    own = {*split.names} | {n.id for part in split.inline for n in ast.walk(part) if isinstance(n, ast.Name)}
    drawn: list[ast.AST] = [*split.inline]
    for statement in reversed(region.block[: region.block.index(region.at)]):
        if stored(statement) & own:
            drawn.append(statement)
            own |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    for node in (n for part in drawn for n in ast.walk(part)):
        match node:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), ast.expr() as index, *_])):
                read = {n.id for n in ast.walk(index) if isinstance(n, ast.Name)}
                sliced = isinstance(index, ast.Slice) or not is_data(plan, index)
                drawn_now = read & region.bound_before or isinstance(index, ast.Call)
                if not region.whole and not sliced and drawn_now:
                    return node
    return None


def made_one(region: Region, split: Split) -> ast.expr | None:
    """`x = x.unsqueeze(0)` right before the step."""
    for statement in region.block[: region.block.index(region.at)]:
        if stored(statement) & {*split.names}:
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and _is_one(node, split.dim):
                    return node
    return None


def _is_one(call: ast.Call, dim: int) -> bool:
    """`x.unsqueeze(0)`, `x.view(1, -1)`; of samples in the second dimension `x.unsqueeze(1)`, `x.view(-1, 1, 8)`."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    sizes = next((a.elts for a in call.args[:1] if isinstance(a, ast.Tuple)), call.args)
    place = dim if method != "unsqueeze" else 0
    one = sizes[place] if len(sizes) > place else None
    return method in ONE and isinstance(one, ast.Constant) and one.value == (dim if method == "unsqueeze" else 1)


def taken_for_one(plan: Reading, dim: int) -> ast.expr | None:
    """The same in the step, and a loss of what has been summed up: what was split were no samples."""
    training = {node for node, loop in plan.facts.loops.items() if loop.backward}
    for call, fact in plan.facts.calls.items():
        func = call.func
        base = plan.facts.value(func.value) if isinstance(func, ast.Attribute) else None
        if base is not None and base.varies and bool(base.of(TURNED)) == bool(dim) and _is_one(call, dim):
            return call
        trains = fact.grad and bool(fact.loops & training or not training) and "torch.nn.Parameter" not in fact.names
        if trains and (single := next((a for a in call.args if is_single(plan, a)), None)) is not None:
            return single
        if fact.grad and plan.facts.value(func).of("loss") and _is_summed_up(plan, call):
            return call
    return None


def _is_summed_up(plan: Reading, call: ast.Call) -> bool:
    extents = {spread(plan.facts.value(a)) for a in call.args[:2]}
    return bool(extents & {Extent.MEAN, Extent.SUM, Extent.VARYING})
