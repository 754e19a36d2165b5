"""Find the statements that train: a backward pass and a step, here or in what is called; in a loop, if any are."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from nbddp.analysis.library import find_uses
from nbddp.analysis.slicing import Flow
from nbddp.analysis.syntax import Statement, bindings, is_name, walk
from nbddp.analysis.training.call_targets import Definition, Meanings
from nbddp.analysis.training.manual_steps import gradients_kept, gradients_taken, steps_by_hand
from nbddp.analysis.training.unreadable_training import trains_elsewhere

FRAMEWORKS = {
    "lightning": "Lightning",
    "pytorch_lightning": "Lightning",
    "fastai": "fastai",
    "transformers.Trainer": "the Hugging Face Trainer",
    "accelerate": "Accelerate",
    "catalyst": "Catalyst",
    "ignite": "Ignite",
    "d2l": "d2l",
    "ray": "Ray",
    "opacus": "Opacus",
    "aitoolbox": "aitoolbox",
    "skorch": "skorch",
}

ANY = 99  # arguments: how many is not known


@dataclass(frozen=True)
class Trainer:
    """What makes code train: it calls backward, it steps, in a loop."""

    backward: bool = False
    step: bool = False
    loop: bool = False

    def __or__(self, other: Trainer) -> Trainer:
        return Trainer(self.backward or other.backward, self.step or other.step, self.loop or other.loop)

    @property
    def complete(self) -> bool:
        return self.backward and self.step and self.loop


def _own_part(
    nodes: list[ast.AST], fits: frozenset[ast.AST], by_hand: frozenset[ast.AST], meanings: Meanings
) -> tuple[Trainer, set[str], set[tuple[str, int]]]:
    """What the code itself does, the functions that it calls by name, the methods and how many things they get."""
    found, calls, methods = Trainer(), set[str](), set[tuple[str, int]]()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.For | ast.While | ast.AsyncFor):
            found |= Trainer(loop=True)
        if node in fits:
            found |= Trainer(True, True, True)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            methods.add((node.func.attr, _given(node)))
            backward = node.func.attr in ("backward", "grad") and not isinstance(node.func.value, ast.Constant)
            found |= Trainer(backward=backward, step=node.func.attr in ("step", "minimize"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.add(node.func.id)
        if isinstance(node, ast.Call) and not meanings.makes_function(node):  # `optimizer.step(closure)`
            calls |= {a.id for a in node.args if isinstance(a, ast.Name)}
            if ast.unparse(node.func).endswith("step"):  # `self.optimizer.step(self.closure)`
                methods |= {(a.attr, ANY) for a in node.args if isinstance(a, ast.Attribute)}
        if node in by_hand:
            found |= Trainer(step=True)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return found, calls, methods


def _given(call: ast.Call) -> int:
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    return ANY if starred else len(call.args) + len(call.keywords)


def _takes(method: Definition, given: int) -> bool:
    """`self.model.train()` is no call of the notebook's own `train(self, n_epochs)`."""
    needed = len(method.args.args) - len(method.args.defaults)
    return given >= needed - (method.args.args[:1] != [])


class Finder:
    """Answers whether statements train; follows calls by name and by method name."""

    def __init__(self, flow: Flow, by_hand: frozenset[ast.AST]) -> None:
        self.flow = flow
        self.by_hand = by_hand
        self.functions: dict[str, list[Definition]] = {}
        self.methods: dict[str, list[Definition]] = {}
        called: dict[str, list[Definition]] = {}
        uses = find_uses(flow.program.nodes, flow.imports)
        self.fits = frozenset(c for use in uses for c in use.trained if c.func.attr != "backward")  # type: ignore[attr-defined]
        for node in flow.program.nodes:
            if isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                        name = node.name if part.name == "__init__" else part.name
                        (self.functions if part.name == "__init__" else self.methods).setdefault(name, []).append(part)
                        if part.name == "__call__":
                            called.setdefault(node.name, []).append(part)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if not isinstance(flow.program.parents.get(node), ast.ClassDef):
                    self.functions.setdefault(node.name, []).append(node)
        self.meanings = Meanings(self.functions, self.methods, called)
        self.meanings.learn(flow.program.nodes)

    def does(self, statement: Statement) -> Trainer:
        node = statement.node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            return Trainer()
        return self._closure([node], statement.index)

    def _closure(self, nodes: list[ast.AST], index: int) -> Trainer:
        found, seen = Trainer(), set()
        todo: list[list[ast.AST]] = [nodes]
        while todo:
            part, calls, methods = _own_part(todo.pop(), self.fits, self.by_hand, self.meanings)
            found |= part
            functions = (d for n in calls for d in self._functions(n, index) or self.meanings.of(n))
            bound = (d for n, given in methods for d in self._methods(n) if _takes(d, given))
            for definition in (*functions, *bound):
                if definition not in seen:
                    seen.add(definition)
                    todo.append([definition.body] if isinstance(definition, ast.Lambda) else list(definition.body))
        return found

    def _functions(self, name: str, index: int) -> Iterable[Definition]:
        """Those of that name; of several the one that it stands for by then, and none where it is something else."""
        found, by = self.functions.get(name, []), self.flow.bound_by(name, index)
        if isinstance(by, ast.Assign | ast.AnnAssign) and not any(is_name(n, name) for n in walk(by.value or by)):
            return []
        return [d for d in found if d is by] or found

    def _methods(self, name: str) -> Iterable[Definition]:
        return self.methods.get(name) or self.meanings.of(f".{name}")


def training_statements(flow: Flow) -> tuple[Statement, ...]:
    """What makes other things of gradients, or calls `torch.autograd.grad`, in a loop trains where nothing else does.

    Then a step outside of loops.
    """
    by_hand = steps_by_hand(flow.program)
    sure = Finder(flow, by_hand - gradients_taken(flow.program))
    surest = Finder(flow, by_hand - gradients_taken(flow.program) - gradients_kept(flow.program))
    found = _trained_by(surest) or _trained_by(sure) or _trained_by(Finder(flow, by_hand))
    return found or (() if framework(flow) or trains_elsewhere(flow) else _taking_one_step(sure))


def _trained_by(finder: Finder) -> tuple[Statement, ...]:
    return tuple(s for s in _of_training_cells(finder.flow) if finder.does(s).complete)


def _taking_one_step(finder: Finder) -> tuple[Statement, ...]:
    """Statements of cells that go back and step, be it in two statements."""
    done = {s: finder.does(s) for s in _of_training_cells(finder.flow)}
    back = {s.cell.number for s, does in done.items() if does.backward}
    step = {s.cell.number for s, does in done.items() if does.step}
    return tuple(s for s, does in done.items() if s.cell.number in back & step and (does.backward or does.step))


def _of_training_cells(flow: Flow) -> list[Statement]:
    return [s for s in flow.program.statements if s.cell.mark in (None, "train")]


def framework(flow: Flow) -> str | None:
    """The training framework that the notebook imports, by its name for people."""
    imports = (n for n in flow.program.nodes if isinstance(n, ast.Import | ast.ImportFrom))
    for target in (t for node in imports for _, t in bindings(node)):
        for root, name in FRAMEWORKS.items():
            if target == root or target.startswith(root + "."):
                return name
    return None
