"""From which expressions a name, a parameter or a field may have been made: asked by all who follow a value back."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nbddp.analysis.slicing import Function, all_arguments, defaults, local_names
from nbddp.analysis.syntax import Program, assigned, handed, names_in, walk
from nbddp.analysis.values import Facts

Scope = ast.AST | None  # a function, or what holds the loops of a comprehension; None for the cells
Places = tuple[int | None, ...]  # in what is taken apart, from the outermost inwards; None for any of its parts
LOOPS = ast.For | ast.AsyncFor | ast.comprehension
FAR = 400  # nodes: what is made of more than that is not followed to its end


@dataclass(frozen=True, eq=False)
class Binding:
    """One thing that a name, a parameter or a field may be."""

    target: ast.AST
    by: ast.AST  # an assignment, a loop, a call; the function whose default it is
    value: ast.expr | None  # None where it is not seen what a call gives
    places: Places = ()  # of which it is a part

    @property
    def whole(self) -> ast.expr | None:
        """The value, where it is no part of it."""
        return None if self.places else self.value

    @property
    def given(self) -> ast.AST | None:
        """The value, or the loop that gives one in each turn."""
        return self.by if isinstance(self.by, LOOPS) else self.value


@dataclass(frozen=True, eq=False)
class Bindings:
    """Of all code that is kept, found once."""

    program: Program
    facts: Facts
    names: Mapping[tuple[Scope, str], Sequence[Binding]]
    fields: Mapping[str, Sequence[Binding]]  # and items
    origins: dict[ast.expr, Sequence[ast.expr]] = field(default_factory=dict)  # once they are asked for

    def of(self, node: ast.expr) -> Sequence[Binding]:
        """Of a name; of a field or an item by its text alone, whatever the object is called."""
        if isinstance(node, ast.Name):
            return self.names.get((scope_of(self.program, node, node.id), node.id), ())
        return self.fields.get(field_of(node), ())

    def single(self, name: ast.Name) -> ast.expr | None:
        """What it is assigned, where it never is anything else; a parameter would be what its caller cuts."""
        found = self.of(name)
        return found[0].whole if len(found) == 1 and isinstance(found[0].by, ast.Assign) else None

    def given(self, name: ast.Name) -> list[ast.AST | None]:
        return [one.given for one in self.of(name)]

    def below(self, node: ast.AST) -> Iterator[ast.expr]:
        """What a name is given, or a call gives back; perhaps they are parts of it."""
        if isinstance(node, ast.Name):
            yield from (one.value for one in self.of(node) if one.value is not None)
        else:
            yield from (value for value, _ in self.returned(node))

    def returned(self, call: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        """By the functions of the notebook that it calls; is it what one turn gives, of a generator or a loader?"""
        fact = self.facts.calls.get(call) if isinstance(call, ast.Call) else None
        if fact is not None:
            collating = [self.facts.value(k.value) for k in fact.node.keywords if k.arg == "collate_fn"]
            for body in fact.bodies:
                yield from self._returned_by(body)
            for function in (f.node for value in collating for f in value.of("function", "method")):
                yield from ((value, True) for value, _ in self._returned_by(function))

    def _returned_by(self, body: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        if isinstance(body, ast.Lambda):
            yield body.body, False
            return
        for node in walk(body):
            if isinstance(node, ast.Return | ast.Yield) and node.value and self.program.function_of(node) is body:
                yield node.value, isinstance(node, ast.Yield)

    def made_by(self, node: ast.expr) -> Sequence[ast.expr]:
        """The expressions that a value comes from unchanged."""
        if node not in self.origins:
            self.origins[node] = tuple(self._origins(node, (), {}, set()))
        return self.origins[node]

    def _origins(
        self, node: ast.expr, places: Places, around: dict[ast.AST, None], seen: set[tuple[ast.AST, Places]]
    ) -> Iterator[ast.expr]:
        """Of the part of it at these places, each once."""
        if node in around or (node, places) in seen or len(around) > FAR:
            return
        seen.add((node, places))
        below = [*self._unchanged(node, places)]
        if not below and not isinstance(node, ast.Name):
            yield node
        around[node] = None
        for value, at in below:
            yield from self._origins(value, at, around, seen)
        del around[node]

    def _unchanged(self, node: ast.expr, places: Places) -> Iterator[tuple[ast.expr, Places]]:
        if isinstance(node, ast.Name):
            yield from ((one.value, one.places + places) for one in self.of(node) if one.value is not None)
        elif isinstance(node, ast.Tuple | ast.List) and places:
            yield from ((part, places[1:]) for part in _picked(node, places[0]))
        else:
            for value, turn in self.returned(node):
                yield value, places[1:] if turn and places[:1] == (None,) else places

    def made_of(self, node: ast.AST, *, through_calls: bool = True) -> Iterator[ast.AST]:
        """Everything that an expression is made of, in whatever number of steps, the nearest first."""
        seen, waiting = {node}, [node]
        for part in waiting:
            yield part
            read = isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
            given = self.below(part) if read or (through_calls and isinstance(part, ast.Call)) else ()
            below = [*ast.iter_child_nodes(part), *given]
            waiting += (new := [n for n in dict.fromkeys(below) if n not in seen][: FAR - len(waiting)])
            seen.update(new)


def find_bindings(
    program: Program, nodes: Iterable[ast.AST], facts: Facts, callers: Mapping[ast.AST, Sequence[ast.Call]]
) -> Bindings:
    names, fields = defaultdict[tuple[Scope, str], list[Binding]](list), defaultdict[str, list[Binding]](list)
    for node in nodes:
        for one in (*_set_by(node), *(_handed_to(node, callers) if isinstance(node, Function) else ())):
            match one.target:
                case ast.Name(id=name):
                    names[scope_of(program, one.target, name), name].append(one)
                case ast.arg(arg=name):
                    names[node, name].append(one)
                case ast.Attribute() | ast.Subscript():
                    fields[field_of(one.target)].append(one)
    return Bindings(program, facts, names, fields)


def scope_of(program: Program, node: ast.AST, name: str) -> Scope:
    """The function or the comprehension whose own a name is there."""
    below = [node]
    for around in program.ancestors(node):
        if isinstance(around, Function):
            inside = isinstance(below[-1], ast.stmt) or below[-1] is around.body
            if inside and name in local_names(around):
                return around
        elif loops := getattr(around, "generators", ()):
            if loops[0].iter not in below and any(name in names_in(loop.target) for loop in loops):
                return around
        below.append(around)
    return None


def field_of(node: ast.expr) -> str:
    """`batch.tokens` is the `self.tokens` of a method."""
    return f".{node.attr}" if isinstance(node, ast.Attribute) else ast.unparse(node)


def _set_by(node: ast.AST) -> Iterator[Binding]:
    turn: Places = (None,) if isinstance(node, LOOPS) else ()
    for target, value in assigned(node):
        for part, places in _parts(target, turn):
            given, rest = value, places
            while rest and rest[0] is not None and len(found := _picked(given, rest[0])) == 1:
                given, rest = found[0], rest[1:]
            yield Binding(part, node, given, rest)


def _parts(target: ast.expr, places: Places) -> Iterator[tuple[ast.expr, Places]]:
    """`a`, `b` and `c` of `a, (b, *c)`; from the starred one on it is not known which."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, places
        return
    for at, part in enumerate(target.elts):
        known = not any(isinstance(e, ast.Starred) for e in target.elts[: at + 1])
        yield from _parts(part.value if isinstance(part, ast.Starred) else part, (*places, at if known else None))


def _picked(node: ast.expr, place: int | None) -> Sequence[ast.expr]:
    """Of a tuple that is written out, what stands at a place."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    if any(isinstance(part, ast.Starred) for part in parts):
        return ()
    return parts if place is None else parts[place : place + 1]


def _handed_to(function: Function, callers: Mapping[ast.AST, Sequence[ast.Call]]) -> Iterator[Binding]:
    """The parameters, with what each call gives them, or what they are where it gives them nothing."""
    arguments = function.args
    otherwise = dict(defaults(arguments))
    calls = callers.get(function, ())
    for parameter in all_arguments(arguments):
        yield from (_handed_by(call, function, parameter, otherwise.get(parameter)) for call in calls)
        if not calls:
            yield Binding(parameter, function, None)


def _handed_by(call: ast.Call, function: Function, parameter: ast.arg, default: ast.expr | None) -> Binding:
    name, spread = parameter.arg, next((a for a in call.args if isinstance(a, ast.Starred)), None)
    if (given := dict(handed(call, function)).get(name)) is not None:
        return Binding(parameter, call, given)
    if spread is not None:  # `train(*get_batch())`: from there on its parts
        plain = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")]
        at = plain.index(name) - call.args.index(spread) if name in plain else -1
        return Binding(parameter, call, spread.value, (at,)) if at >= 0 else Binding(parameter, call, None)
    shown = default is not None and all(k.arg for k in call.keywords)
    return Binding(parameter, function, default) if shown else Binding(parameter, call, None)
