"""What calling a function of the notebook does to its arguments and to the world."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nbddp.analysis.slicing.aliases import shared_inside
from nbddp.analysis.slicing.effects import Changes, Walk, effects
from nbddp.analysis.slicing.method_effects import changed_by_calls, changing_methods
from nbddp.analysis.slicing.scopes import all_arguments, bound_names, defaults, root_name
from nbddp.analysis.syntax import walk

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Summary:
    """A function or class by name; a class stands for all its methods."""

    changes: Changes
    ambient: bool
    calls: frozenset[str]


@dataclass(frozen=True)
class _Asked(Mapping[str, Changes]):
    """What is known of functions, and of which it was asked: only these may change an answer."""

    known: Mapping[str, Changes]
    names: set[str] = field(default_factory=set)

    def __getitem__(self, name: str) -> Changes:
        self.names.add(name)
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def definitions(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, Definition]]:
    """Functions by name; a class's `__init__` under the name of the class."""
    for node in nodes:
        if isinstance(node, Definition):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, Definition) and part.name == "__init__":
                    yield node.name, part


def _parameters(node: Definition, is_method: bool) -> tuple[str, ...]:
    names = tuple(a.arg for a in all_arguments(node.args))
    return names[1:] if is_method else names


def _summary(node: Definition, imports: Mapping[str, str], known: Mapping[str, Changes]) -> Summary:
    visitor = Walk(imports, known)
    visitor.nodes = [*node.body]
    visitor.local.append(bound_names(node.body) - {a.arg for a in all_arguments(node.args)})
    for statement in node.body:
        visitor.visit(statement)
    out = visitor.out
    is_method = node.name == "__init__"
    names = _parameters(node, is_method)
    rebound = bound_names(node.body)  # `img = img / 2` leaves the caller's alone
    touched = (out.mutates | out.deferred_mutates) & set(names)  # also by a function in it: `def step(): …`
    changed = {n for n in touched if n not in rebound or _changed_in_place(node, n)}
    mutated = effects(node.body, imports, known).mutates & rebound - set(names)
    parts = {n for n in mutated if _changed_in_place(node, n)}  # `for p in model.parameters(): p.requires_grad = False`
    changed |= (shared_inside(node.body, imports, parts) & set(names)) - rebound if parts else set()
    changes = Changes(names, frozenset(changed), defaults=tuple(_defaults(node.args)))
    return Summary(changes, out.ambient, frozenset(out.calls))


def _defaults(given: ast.arguments) -> Iterator[tuple[str, str]]:
    """`def train(epochs, net=model)`."""
    for argument, default in defaults(given):
        root = root_name(default) if isinstance(default, ast.Name | ast.Attribute | ast.Subscript) else None
        if root is not None:
            yield argument.arg, root


def _changed_in_place(node: Definition, name: str) -> bool:
    """Of a name that is changed: not only bound anew? `m.weight.normal_()`, `nn.init.zeros_(m.bias)`, `fill(m)`."""
    for part in walk(node):
        if isinstance(part, ast.Call):
            changes = isinstance(part.func, ast.Attribute) and part.func.attr != "backward"  # which changes gradients
            called = [part.func.value] if changes and isinstance(part.func, ast.Attribute) else []
            if any(root_name(at) == name for at in (*called, *_given_in_place(part))):
                return True
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store):
            if root_name(part.value) == name:
                return True
    return False


def _given_in_place(call: ast.Call) -> Iterator[ast.expr]:
    """Arguments that may be changed: parts of things, what goes to `f_`, `shuffle` or to a function by name."""
    word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    changes = isinstance(call.func, ast.Name) or word.endswith("_") or word == "shuffle"
    for given in (*call.args, *(k.value for k in call.keywords)):
        if changes or not isinstance(given, ast.Name):
            yield given


def summaries(nodes: Sequence[ast.AST], imports: Mapping[str, str]) -> dict[str, Summary]:
    """A fixed point: what a function changes follows from what the functions that it calls change."""
    found: dict[str, Summary] = {}
    defined = tuple(definitions(nodes))
    known: dict[str, Changes] = {name: Changes() for name, _ in defined}
    known |= {n.name: Changes() for n in nodes if isinstance(n, ast.ClassDef)}
    known |= {f".{name}": Changes() for name in changing_methods(nodes)}
    known |= {f"{name}()": Changes() for name in changed_by_calls(nodes)}
    asked: dict[ast.AST, tuple[Summary, frozenset[str]]] = {}
    news: set[str] = set()
    for _ in range(4):
        found = {}
        for name, node in defined:
            if node not in asked or asked[node][1] & news:
                answers = _Asked(known)
                asked[node] = _summary(node, imports, answers), frozenset(answers.names)
            new = asked[node][0]
            if name in found:  # two functions of one name: what either does
                old = found[name]
                changed = new.changes.changed | old.changes.changed
                both = replace(new.changes, changed=changed)
                new = Summary(both, new.ambient or old.ambient, new.calls | old.calls)
            found[name] = new
        fresh = known | {name: s.changes for name, s in found.items()}
        news = {name for name in fresh if fresh[name] != known.get(name)}
        if not news:
            break
        known = fresh
    for name in known.keys() - found.keys():
        found[name] = Summary(Changes(), False, frozenset())
    return found


def methods(nodes: Sequence[ast.AST], imports: Mapping[str, str]) -> dict[str, Summary]:
    """What calling `.make()` does to the world, where classes of the notebook have such a method."""
    found: dict[str, Summary] = {}
    for part in (p for node in nodes if isinstance(node, ast.ClassDef) for p in node.body):
        if isinstance(part, Definition):
            new, old = (
                _summary(part, imports, {"self": Changes()}),
                found.get(f".{part.name}", Summary(Changes(), False, frozenset())),
            )
            found[f".{part.name}"] = Summary(Changes(), new.ambient or old.ambient, new.calls | old.calls)
    return found


def reachable(name: str, found: Mapping[str, Summary]) -> set[str]:
    """The functions that a call of `name` may run, by name."""
    seen, todo = set(), [name]
    while todo:
        one = todo.pop()
        if one not in seen and one in found:
            seen.add(one)
            todo.extend(found[one].calls)
    return seen
