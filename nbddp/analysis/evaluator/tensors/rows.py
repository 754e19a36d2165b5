"""Whether the rows of a tensor are the samples, inside of a model; and what has its dimensions in the same places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from nbddp.analysis.library import Samples, Shape, effect_of, entry_of
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.syntax import Program, place_of
from nbddp.analysis.values import STATES, TURNED, Extent, Machine, Obj, goes_along_sequences, spread

STAY = (Samples.KEEPS, Samples.EACH, Samples.ALONG, Samples.WEIGHS, Samples.MOVES, Samples.ORDERS)


def rows_are_samples(m: Machine, node: ast.expr) -> bool:
    """In a forward: what it was given, and what layers and operators make of that row by row."""
    return (not goes_along_sequences(m) and are_rows(m, node)) or _are_as_many(m, node)


def _are_as_many(m: Machine, node: ast.AST | None) -> bool:
    """`torch.zeros(x.shape[0], 9)`, `h[-1]`, wherever time stands; also by a name that is nothing else, or cut."""
    match node:
        case ast.Name(id=name):
            sources = _sources_of(m.program).get((m.program.function_of(node), name), [])
            before = [value for place, value in sources if place < place_of(node)]
            return len(before) == 1 and _are_as_many(m, before[0])
        case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None)):
            return _are_as_many(m, value)
        case ast.Subscript(value=value) if any(o.name == STATES for o in m.facts.value(value).of(TURNED)):
            return not m.facts.value(node).of(TURNED)  # `h[-1]`
        case ast.Call(args=args):
            fact = m.facts.calls.get(node)
            ops = [effect_of(name) for name in fact.names] if fact is not None and fact.names else [entry_of(node)]
            sizes = [args[op.size] for op in ops if op.size is not None and len(args) > op.size]
            firsts = [size for given in sizes for size in getattr(given, "elts", [given])[:1]]
            return bool(firsts) and all(m.facts.value(size).size for size in firsts)
    return False


def are_rows(m: Machine, node: ast.AST | None, seen: frozenset[str] = frozenset()) -> bool:
    if isinstance(node, ast.Name):
        function = m.program.function_of(node)
        given = [a.arg for a in all_arguments(function.args)] if function and function.name == "forward" else []
        found = _sources_of(m.program).get((function, node.id), [])
        again = any(isinstance(a, ast.For | ast.While) for a in m.program.ancestors(node))
        sources = [value for place, value in found if again or place < place_of(node)]
        known = node.id in given or bool(sources)
        later = (s for s in sources if node.id not in seen)
        return known and all(s is not None and are_rows(m, s, seen | {node.id}) for s in later)
    beside = [*same_places(m, node), *_flattened(m, node), *_still_rows(m, node)] if node is not None else []
    same = [n for n in beside if spread(m.facts.value(n)) is Extent.SAMPLES]
    return bool(same) and all(are_rows(m, one, seen) for one in same)


def _flattened(m: Machine, node: ast.AST) -> list[ast.expr]:
    """`torch.flatten(x, 1)`, `x.view(x.size(0), -1)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=word), args=args):
            given = [*([] if m.facts.value(node.func).objs else [value]), *args]
            first = given[1] if len(given) > 1 else None
            shape = effect_of(f".{word}").shape
            flat = shape is Shape.FLAT and isinstance(first, ast.Constant) and first.value == 1
            sized = shape is Shape.ANEW and first is not None and m.facts.value(first).size
            return given[:1] if flat or sized else []
    return []


def _still_rows(m: Machine, node: ast.AST) -> list[ast.expr]:
    """`x.mean(1)`, `x.max(1)[0]`, `x[:, -1]`, `x.unsqueeze(1)`, `torch.cat((x, y), 1)`: another dimension changes."""
    match node:
        case ast.Subscript(value=value, slice=ast.Slice() | ast.Tuple(elts=[ast.Slice(), *_])):
            return [value]
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=0 | 1)) if entry_of(call).over:
            return _still_rows(m, call)
        case ast.Call(args=[first, *_], func=func) if any(
            effect_of(o.name).sequence for o in m.facts.value(func).of("model", "submodule")
        ):
            return [first]
        case ast.Call() if entry_of(node).over or (entry_of(node).shape is Shape.ONES and not _names_first(node)):
            return _on(m, node)
        case ast.Call(args=[ast.Tuple(elts=parts) | ast.List(elts=parts), *along]):
            named = bool(along or node.keywords) and not _names_first(node)
            stacked = ast.unparse(node.func).endswith("stack") and not named
            return parts if entry_of(node).samples is Samples.JOINS and not stacked else []
    return []


def _names_first(call: ast.Call) -> bool:
    """`x.unsqueeze(0)`, `torch.squeeze(x, dim=0)`."""
    given = (*call.args, *(k.value for k in call.keywords))
    return any(isinstance(g, ast.Constant) and g.value == 0 for g in given)


def _on(m: Machine, call: ast.Call) -> list[ast.expr]:
    """What a method is called on, or a function of a library is given first."""
    of = call.func.value if isinstance(call.func, ast.Attribute) and not m.facts.value(call.func).objs else None
    return [of] if of is not None else call.args[:1]


def same_places(m: Machine, node: ast.AST) -> list[ast.expr]:
    """What has its dimensions in the same places; of several the one with the most."""
    match node:
        case ast.BinOp(left=left, right=right) if not isinstance(node.op, ast.MatMult):
            return [side for side in (left, right) if not m.facts.value(side).number]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Call(func=func, args=args):
            layers = m.facts.value(func).of("model", "submodule")
            if layers and args:
                kept = all(effect_of(name).as_many for o in layers for name in _layers(m, o))
                return args[:1] if kept else []
            on = [func.value] if isinstance(func, ast.Attribute) and not m.facts.value(func).objs else args[:1]
            word = func.attr if isinstance(func, ast.Attribute) else ""
            op = effect_of(f".{word}")
            same = op.shape is Shape.SAME or (op.shape is None and op.samples in STAY and op.fresh and not op.product)
            return on if same and word not in ("item", "tolist") else []
    return []


def _layers(m: Machine, layer: Obj) -> Iterator[str]:
    """Its name; of an `nn.Sequential` those of its parts."""
    held = m.get(layer, "[]") if layer.name == "torch.nn.Sequential" else None
    for inner in held.of("model") if held is not None else ():
        yield from _layers(m, inner)
    if held is None:
        yield layer.name


def _value(program: Program, target: ast.AST) -> ast.expr | None:
    around = program.parents.get(target)
    return around.value if isinstance(around, ast.Assign) else None


@lru_cache(maxsize=4)
def _sources_of(
    program: Program,
) -> Mapping[tuple[ast.AST | None, str], Sequence[tuple[tuple[int, int], ast.expr | None]]]:
    """Where names of functions are set, and to what; None for what is not followed."""
    found = defaultdict[tuple[ast.AST | None, str], list[tuple[tuple[int, int], ast.expr | None]]](list)
    for node in (n for n in program.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)):
        around = program.parents.get(node)
        if isinstance(around, ast.Tuple) and around.elts[0] is node and isinstance(_value(program, around), ast.Call):
            around = program.parents[around]  # `out, state = self.rnn(x)`
        value = around.value if isinstance(around, ast.Assign | ast.AugAssign) else None
        found[program.function_of(node), node.id].append((place_of(node), value))
    return found
