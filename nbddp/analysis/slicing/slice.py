"""Which statements the training needs: a backward slice over the cells, sensitive to the order of statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from nbddp.analysis.library import effect_of, makes, starred_names
from nbddp.analysis.slicing.aliases import Sharing, drawn_on
from nbddp.analysis.slicing.effects import displays_only, effects
from nbddp.analysis.slicing.function_effects import Definition, Summary, methods, reachable, summaries
from nbddp.analysis.slicing.gradients import WAITING, gives, may_learn, wants
from nbddp.analysis.slicing.method_effects import changes_unasked
from nbddp.analysis.slicing.names import Effects
from nbddp.analysis.slicing.scopes import root_name
from nbddp.analysis.syntax import BUILTINS, Program, Statement, bindings, imported_names, qualified, walk
from nbddp.sentence import NOTHING, Sentence, sentence


@dataclass(frozen=True, eq=False)
class Flow:
    """What each top-level statement touches, and which statements bind a name."""

    program: Program
    imports: Mapping[str, str]
    functions: Mapping[str, Summary]
    effects: tuple[Effects, ...]
    binders: Mapping[str, tuple[int, ...]] = field(repr=False)
    touched: tuple[frozenset[str], ...] = ()  # names whose content a statement may change, through any other name
    moved: tuple[frozenset[str], ...] = ()  # names of what can be gone through once, where a statement reads it

    def binder_before(self, name: str, index: int) -> int | None:
        """The last statement before `index` that binds the name."""
        before = [i for i in self.binders.get(name, ()) if i < index]
        return before[-1] if before else None

    def bound_by(self, name: str, index: int) -> ast.stmt | None:
        at = self.binder_before(name, index)
        return None if at is None else self.program.statements[at].node

    def when_called(self, index: int) -> tuple[set[str], set[str]]:
        """What functions that statement `index` may call read and change outside themselves, looked up at its time."""
        reads: set[str] = set()
        changes: set[str] = set()
        seen: set[str] = set()
        todo = set(self.effects[index].loads)
        while todo:
            name = todo.pop()
            at = None if name in seen else self.binder_before(name, index)
            seen.add(name)
            if at is None:
                continue
            own = name not in self.imports
            hooks = (i for i in self.hooked if own and i < index and name in self.effects[i].loads)
            for found in (self.effects[i] for i in (at, *hooks)):
                reads |= found.deferred
                changes |= found.deferred_mutates
                todo |= (found.deferred | found.loads) - seen
        return reads, changes

    @cached_property
    def hooked(self) -> tuple[int, ...]:
        """`layer.register_forward_hook(keep)`: from then on `keep` runs with every call of the model."""
        return tuple(s.index for s in self.program.statements if any(map(_adds_hook, walk(s.node))))

    def ambient(self, index: int) -> bool:
        """Does it change what no name shows: seeds, files, the environment?"""
        found = self.effects[index]
        changed = found.mutates | (self.touched[index] - self.moved[index] if self.touched else set())
        if found.ambient or any(self._is_of_a_file(name, index) for name in changed):
            return True
        seen, todo = set[str](), set(found.calls)
        while todo:
            name = todo.pop()
            seen.add(name)
            at = self.binder_before(name, index)
            if at is not None and isinstance(self.program.statements[at].node, Definition):
                if self.effects[at].ambient:  # the function of that name by then, not one that a later cell defines
                    return True
                if any(self._hands_on(read, index) for read in self.effects[at].deferred):
                    return True
                todo |= self.effects[at].calls - seen
            elif self._hands_on(name, index):
                return True
            elif at is not None and self._makes_callable(at):
                todo |= {".__call__"} - seen
            elif at is None and self._is_unread(name):
                return True
            elif any(self.functions[n].ambient for n in reachable(name, self.functions)):
                return True
        return False

    def _is_of_a_file(self, name: str, index: int) -> bool:
        """`f.close()`, `w.writerow(row)` where `w = csv.writer(f)`; of several, `[open(path) for path in paths]`."""
        node = self.bound_by(name, index)
        calls = [n for n in walk(node.value) if isinstance(n, ast.Call)] if isinstance(node, ast.Assign) else []
        named = [qualified(call.func, self.imports) for call in calls]
        opened = any(getattr(c.func, "attr", "") == "open" for c, known in zip(calls, named, strict=True) if not known)
        return opened or any(makes(known or "") in ("file", "writer") for known in named)

    def _hands_on(self, name: str, index: int) -> bool:
        """`seed(7)` where `seed = torch.manual_seed`; the functions of a list that one goes through."""
        at = self.binder_before(name, index)
        return at is not None and self.effects[at].hands_on

    def _makes_callable(self, at: int) -> bool:
        """`seed = Seeder()`, of a class of the notebook that has a `__call__`."""
        node = self.program.statements[at].node
        made = node.value if isinstance(node, ast.Assign) else None
        name = made.func.id if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else None
        found = self.bound_by(name, at) if name else None
        parts = found.body if isinstance(found, ast.ClassDef) else []
        return any(isinstance(part, Definition) and part.name == "__call__" for part in parts)

    def _is_unread(self, name: str) -> bool:
        """`seed_everything(0)` of `from helpers import *`: nothing that is read gives the name."""
        known = name.startswith(".") or name in self.functions or name in self.imports or name in BUILTINS
        return not known and any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in self.program.nodes)


def _adds_hook(node: ast.AST) -> bool:
    word = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return word.startswith("register_") and word.endswith("_hook")


def build_flow(program: Program) -> Flow:
    known = {name: name for name in program.needs} | starred_names(program.nodes)
    imports = known | imported_names(program.nodes)
    functions = summaries(program.nodes, imports)
    own = {name: s.changes for name, s in functions.items()}
    known = imports | dict.fromkeys(drawn_on(program.tree, imports), "matplotlib")
    last = {s.cell.number: s.node for s in program.statements}
    found = tuple(effects([s.node], known, own, shown=last[s.cell.number]) for s in program.statements)
    binders: dict[str, list[int]] = {}
    for i, e in enumerate(found):
        for name in e.binds | e.may_bind:
            binders.setdefault(name, []).append(i)
    flow = Flow(
        program, imports, functions | methods(program.nodes, imports), found, {n: tuple(v) for n, v in binders.items()}
    )
    flow = replace(flow, moved=tuple(_moved(flow, statement) for statement in program.statements))
    return replace(flow, touched=tuple(_touched(flow)))


def _moved(flow: Flow, statement: Statement) -> frozenset[str]:
    return frozenset(n for n in flow.effects[statement.index].reads if _moves_on(flow, n, statement))


def _touched(flow: Flow) -> Iterator[frozenset[str]]:
    sharing = Sharing(flow.imports)
    bound_by_functions = {n for node in flow.program.nodes if isinstance(node, ast.Global) for n in node.names}
    for statement in flow.program.statements:
        sharing.follow(statement.node)
        found = flow.effects[statement.index]
        same = {n for n in found.gradients if not may_learn(n, flow.bound_by(n, statement.index), flow.imports)}
        filled = {n for n in found.reads if _is_filled(flow, n, statement)} | flow.moved[statement.index]
        changed = sharing.of((found.mutates - same) | filled | flow.when_called(statement.index)[1])
        yield (changed - (sharing.plain() - bound_by_functions)) | ({WAITING} if gives(statement.node) else set())


def _is_filled(flow: Flow, name: str, statement: Statement) -> bool:
    """`ids = [words[w] for w in text]`, of a `defaultdict`, which has each word from then on."""
    node = flow.bound_by(name, statement.index)
    made = node.value if isinstance(node, ast.Assign) else None
    if not isinstance(made, ast.Call) or not (qualified(made.func, flow.imports) or "").endswith("defaultdict"):
        return False
    return any(isinstance(n, ast.Subscript) and root_name(n) == name for n in walk(statement.node))


def _moves_on(flow: Flow, name: str, statement: Statement) -> bool:
    """`first = list(zip(range(5), rows))`, of what can be gone through once: `rows = iter(table)`, `(f(x) for x in t)`.

    Or a thing of a class that changes when it is read: `with clock:`, `pairs[0]` where `__getitem__` counts or draws.
    """
    node = flow.bound_by(name, statement.index)
    made = node.value if isinstance(node, ast.Assign) else None
    if isinstance(made, ast.Call):
        called = flow.bound_by(made.func.id, statement.index) if isinstance(made.func, ast.Name) else None
        once = bool(effect_of(qualified(made.func, flow.imports) or "").once)
        return once or _goes_once(called) or changes_unasked(_with_bases(flow, made.func, statement.index))
    return isinstance(made, ast.GeneratorExp)


def _goes_once(made: ast.stmt | None) -> bool:
    """A generator of the notebook's."""
    return isinstance(made, Definition) and any(isinstance(n, ast.Yield | ast.YieldFrom) for n in walk(made))


def _with_bases(flow: Flow, named: ast.expr, index: int) -> Iterator[ast.ClassDef]:
    """Each from before the class that is built on it."""
    at = flow.binder_before(named.id, index) if isinstance(named, ast.Name) else None
    made = None if at is None else flow.program.statements[at].node
    if at is not None and isinstance(made, ast.ClassDef):
        yield made
        for base in made.bases:
            yield from _with_bases(flow, base, at)


@dataclass(frozen=True)
class Slice:
    """Indices of the statements kept; for the others, why they are left out."""

    kept: tuple[int, ...]
    dropped: Mapping[int, Sentence]
    display: frozenset[int]  # of the training cell, left out for they only show something


def backward_slice(
    flow: Flow, training: frozenset[int], anyway: frozenset[int] = frozenset(), replaced: frozenset[int] = frozenset()
) -> Slice:
    """Keep `training` and what it needs; walk from its end to the first statement.

    Statements are kept `anyway` for what a value handed over holds; of those `replaced` by one, no name shows the use.
    """
    last = max(training)
    live = _read_by(flow, anyway, last)
    kept: list[int] = []
    dropped: dict[int, Sentence] = {}
    display: set[int] = set()
    for statement in reversed(flow.program.statements):
        i, found = statement.index, flow.effects[statement.index]
        if i > last:
            dropped[i] = sentence("after the training")
            continue
        reason = NOTHING if i in anyway else _reason_to_drop(flow, statement, live, i in training)
        if not reason and i in replaced - anyway and not (found.may_bind | flow.touched[i]) & live:
            reason = sentence("its result comes from the snapshot")
        if reason:
            dropped[i] = reason
            if i in training:
                display.add(i)
            continue
        kept.append(i)
        live -= found.binds
        live |= {WAITING} if i not in training and wants(statement.node) else set()
        reads, _ = flow.when_called(i)
        live |= found.reads | reads
        if not isinstance(statement.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own = {name for name in found.binds if flow.binder_before(name, i) is None}  # `v = Words(lambda: len(v))`
            live |= found.deferred - own  # functions defined inside of a statement are called there, or handed on
    return Slice(tuple(reversed(kept)), dict(reversed(dropped.items())), frozenset(display))


def _read_by(flow: Flow, definitions: frozenset[int], before: int) -> set[str]:
    """What functions and methods read when they are called, by whomever."""
    live: set[str] = set()
    todo = {name for i in definitions for name in flow.effects[i].deferred}
    while todo:
        name = todo.pop()
        live.add(name)
        at = flow.binder_before(name, before)
        todo |= set() if at is None else flow.effects[at].deferred - live
    return live


def _reason_to_drop(flow: Flow, statement: Statement, live: set[str], trains: bool) -> Sentence:
    node, found = statement.node, flow.effects[statement.index]
    if isinstance(node, ast.Pass):
        return sentence("only a magic or a shell command, or nothing")
    shows = displays_only(node, found, flow.imports) and not flow.ambient(statement.index)
    if trains:
        bare = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call | ast.Await)
        drawn = (shows and (bare or _plots(node, flow))) or _draws(flow, statement, live)
        return sentence("only displays something") if drawn else NOTHING
    if statement.cell.mark in ("setup", "parameters", "rank0", "wrap", "connect"):
        return sentence("only displays something") if shows and statement.cell.mark == "parameters" else NOTHING
    if isinstance(node, ast.Import | ast.ImportFrom):
        star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        wanted = star or future or found.binds & live or bool(runs_when_imported(flow.program, node))
        return NOTHING if wanted else sentence("imported only for code that is left out")
    if (found.may_bind | flow.touched[statement.index]) & live:
        return NOTHING
    if flow.ambient(statement.index):
        return NOTHING
    return sentence("only displays something") if shows else sentence("not needed for the training")


def runs_when_imported(program: Program, node: ast.AST) -> Sequence[Path]:
    """`import settings`, files beside the notebook of which nothing is read: for what they do, as to seed."""
    folder, read = program.notebook.folder, (n for n in program.nodes if isinstance(n, ast.Name))
    if folder is None or not isinstance(node, ast.Import):
        return ()
    if not {name for name, _ in bindings(node)}.isdisjoint(n.id for n in read):
        return ()
    paths = [folder.joinpath(*alias.name.split(".")) for alias in node.names]
    files = (file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py"))
    return [file for file in files if file.is_file()]


def _plots(node: ast.stmt, flow: Flow) -> bool:
    """A drawing at the end of the training cell: nothing of the training reads it, and a script has no page."""
    if isinstance(node, ast.For | ast.While):
        return False
    names = {n.id for n in walk(node) if isinstance(n, ast.Name)}
    return any(n in flow.imports and effect_of(flow.imports[n]).display for n in names)


def _draws(flow: Flow, statement: Statement, live: set[str]) -> bool:
    """`fig, ax = plt.subplots()`, `ax.plot(losses)`: on figures that nothing else looks at."""
    found, node, i = flow.effects[statement.index], statement.node, statement.index
    changed = found.may_bind | found.mutates | flow.touched[i]
    on = root_name(node.value.func) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    changed |= {on} if on else set()
    drawn = isinstance(node, ast.Expr | ast.Assign) and bool(changed) and not flow.ambient(i)
    return drawn and all(name not in live and _is_figure(flow, name, i) for name in changed)


def _is_figure(flow: Flow, name: str, index: int) -> bool:
    node = flow.bound_by(name, index + 1)
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _plots(node, flow)
