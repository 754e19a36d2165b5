"""What is done once before the training, on the disk or over the network, and how the ranks take turns at it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis.agreement import called, reached
from nbddp.analysis.library import effect_of, entry_of, makes
from nbddp.analysis.loaders import ShardedReading, wants_a_name
from nbddp.analysis.models import gathers
from nbddp.analysis.reading import Reading, fetches, loads, looks, makes_folders, opens_to_write, unpacks, writes
from nbddp.analysis.slicing import effects, read_after
from nbddp.analysis.syntax import qualified, walk

Definition = ast.FunctionDef | ast.AsyncFunctionDef
NoPreparation = Definition | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Return | ast.Global | ast.Nonlocal
Inner = ast.If | ast.With | ast.Try
Turns = ast.For | ast.AsyncFor | ast.While
OF_THE_PROCESS = ("chdir", "environ", "putenv", "manual_seed", "seed", "set_start_method", "login")


@dataclass(frozen=True, eq=False)
class Preparation:
    first: frozenset[ast.stmt]  # every rank does it, one on each machine before the others
    alone: frozenset[ast.stmt]  # one rank on each machine does it, the others wait
    moved: frozenset[ast.stmt]  # of the first, those of which all that fetches becomes a statement of its own
    told: frozenset[ast.Assign]  # rank 0 does it, and tells the others what came of it
    looked: frozenset[ast.stmt]  # before which all have to have looked at what there is

    def covers(self, plan: Reading, node: ast.AST) -> bool:
        """Is the node a part of such a statement, or of a function that only such statements call?"""
        return _covered(plan, self.first | self.alone | self.told, node)

    def repeats(self, plan: Reading, node: ast.AST) -> bool:
        """Does every rank do it, some after the one that went first, though what that one made is there by then?"""
        around = (a for a in plan.program.ancestors(node) if isinstance(a, ast.If))
        looking = (a for a in around if any(looks(plan, n) for n in walk(a.test)))
        missing = any(node in {n for s in (a.body if _negates(a.test) else a.orelse) for n in walk(s)} for a in looking)
        return self.covers(plan, node) and not missing and not _covered(plan, self.alone | self.told, node)


def _negates(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def find_preparation(plan: ShardedReading) -> Preparation:
    first: set[ast.stmt] = set()
    alone: set[ast.stmt] = set()
    for statement in _prepared(plan, [s.node for s in plan.kept], set()):
        (alone if _leaves_nothing_behind(plan, statement) else first).add(statement)
    later = {s for s in first | alone if _is_done_later_too(plan, s, frozenset(first | alone))}
    first, alone = first - later, alone - later
    told = frozenset(s for s in first if isinstance(s, ast.Assign) and _names_what_is_new(plan, s))
    first -= told
    return Preparation(
        frozenset(first),
        frozenset(alone),
        frozenset(_moved(plan, first)),
        told,
        frozenset(_behind_a_look(plan, first | alone | told)),
    )


def _names_what_is_new(plan: Reading, statement: ast.Assign) -> bool:
    """`run = new_run()`, which makes the first folder that is not there yet: the others would find it.

    Or counts the runs in a file.
    """
    inside = [*reached(plan, [statement])]
    named = isinstance(statement.value, ast.Call) and all(isinstance(t, ast.Name) for t in statement.targets)
    others = any(
        loads(plan, n) or fetches(plan, n) or unpacks(plan, n) or _changes_the_process(plan, n) for n in inside
    )
    made = any(makes_folders(plan, n) or opens_to_write(plan, n) or _writes_text(n) for n in inside)
    new = made and any(looks(plan, n) for n in inside)
    return named and new and not others and not plan.facts.value(statement.value).objs


def _writes_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "write_text"


def _behind_a_look(plan: Reading, prepared: set[ast.stmt]) -> Iterator[ast.stmt]:
    """`while os.path.exists(path): …`, `os.makedirs(path)`: of the statements that all run, one may still look."""
    seen = False
    for statement in (s.node for s in plan.kept):
        if statement in prepared and seen:
            yield statement
        if statement in prepared:
            seen = False
        elif not isinstance(statement, NoPreparation):
            seen = seen or any(looks(plan, n) or _reads(plan, n) for n in reached(plan, [statement]))


def _reads(plan: Reading, node: ast.AST) -> bool:
    """A file, all of it or the first that is asked of it."""
    name = qualified(node.func, plan.flow.imports) or "" if isinstance(node, ast.Call) else ""
    method = f".{node.func.attr}" if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    opens = makes(name) == "file" and not opens_to_write(plan, node)
    return loads(plan, node) or opens or bool(effect_of(name).opens or effect_of(method).opens)


def _is_done_later_too(plan: Reading, statement: ast.stmt, prepared: frozenset[ast.stmt]) -> bool:
    """Does it call a function that reads files, and that is called elsewhere: there the ranks wait for rank 0 in it?"""
    inside = list(reached(plan, [statement]))
    if any(fetches(plan, node) or unpacks(plan, node) for node in inside):
        return False
    shared = {plan.program.function_of(n) for n in inside if loads(plan, n) or looks(plan, n)}
    calls = [call for function in shared if function is not None for call in plan.callers.get(function, ())]
    return not all(_covered(plan, prepared, call) for call in calls)


def _moved(plan: ShardedReading, first: set[ast.stmt]) -> Iterator[ast.stmt]:
    """`DataLoader(MNIST(download=True), ...)`: the data set gets a name before, for the sampler."""
    for share in plan.sharding.shares.values():
        dataset = share.call.arguments.get("dataset") if share.call and share.how == "sampler" else None
        if share.call is None or share.call.statement not in first or not wants_a_name(dataset):
            continue
        own = set(walk(dataset)) if dataset is not None else set()
        if all(n in own for n in walk(share.call.statement) if _prepares(plan, n)):
            yield share.call.statement


def _covered(plan: Reading, prepared: frozenset[ast.stmt], node: ast.AST) -> bool:
    seen: set[ast.AST] = set()
    todo = [node]
    while todo:
        place = todo.pop()
        if any(a in prepared for a in plan.program.ancestors(place)):
            continue
        function = plan.program.function_of(place)
        if function is None or function not in plan.callers:
            return False
        todo += plan.callers[function] if function not in seen else []
        seen.add(function)
    return True


def _prepared(plan: Reading, block: list[ast.stmt], seen: set[ast.AST], *, once: bool = True) -> Iterator[ast.stmt]:
    """Statements that run one after another on every rank, up to the last training.

    Where the ranks meet inside of one, as they do when DDP takes a model over, the ranks cannot take turns at all of
    it: then what it is made of is looked at. What a function that is called more than once saves is no preparation.
    """
    training = [not isinstance(s, NoPreparation) and _trains(plan, s) for s in block]
    for at, (statement, trains) in enumerate(zip(block, training, strict=True)):
        if isinstance(statement, NoPreparation):
            continue
        if not trains and not any(_prepares(plan, n, once=once) for n in reached(plan, [statement])):
            continue
        if not trains and not _meets(plan, statement):
            yield statement
            continue
        for inner in _parts(plan, statement):
            yield from _prepared(plan, inner, seen, once=once)
        for function in _functions(plan, statement):
            if function not in seen:
                seen.add(function)
                alone = once and len(plan.callers.get(function, ())) == 1 and not isinstance(statement, Turns)
                yield from _prepared(plan, function.body, seen, once=alone)
        if trains:  # what comes behind the training is no preparation; between two, what is fetched is
            once = False
            if not any(training[at + 1 :]):
                return


def _parts(plan: Reading, statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement whose parts run once at most."""
    if isinstance(statement, ast.Try):
        return [statement.body]
    if isinstance(statement, ast.If):
        return [statement.body, statement.orelse]
    return [statement.body] if isinstance(statement, ast.With) else []


def _functions(plan: Reading, statement: ast.stmt) -> list[Definition]:
    """Those of the notebook that the statement itself calls."""
    own: list[ast.AST] = [statement]
    if isinstance(statement, Inner):  # what its blocks call is found there
        own = [i.context_expr for i in statement.items] if isinstance(statement, ast.With) else []
        own += [statement.test] if isinstance(statement, ast.If) else []
    elif isinstance(statement, Turns) and _trains(plan, statement):  # what its turns call is no preparation
        own = [statement.test if isinstance(statement, ast.While) else statement.iter]
    calls = [n for part in own for n in walk(part) if isinstance(n, ast.Call)]
    return [f for c in calls for f in sorted(called(plan, c), key=plan.program.span) if isinstance(f, Definition)]


def _trains(plan: Reading, statement: ast.stmt) -> bool:
    trains: set[ast.AST] = {f.node for f in (*plan.roles.batch_loops, *plan.roles.epoch_loops)}
    trains |= plan.facts.backward
    trains |= {*plan.framework.made, *plan.framework.trained} if plan.framework else set()
    return any(n in trains for n in reached(plan, [statement]))


def _meets(plan: Reading, statement: ast.stmt) -> bool:
    """Do all ranks have to be there at once: where DDP takes a model over or is called, or data are read?"""
    built = {m.obj.node for m in plan.roles.models}
    run = {c for m in plan.roles.models for c in m.forward_calls}  # with gradients: DDP sends its buffers around
    simple = isinstance(statement, ast.Assign | ast.Expr)
    own = set(walk(statement)) if simple else set()
    for node in reached(plan, [statement]):
        if (node in built and node not in own) or gathers(plan, node) or node in run:
            return True
        if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.comprehension):
            fact = plan.facts.loops.get(node)
            if fact is not None and fact.loaders:
                return True
        if isinstance(node, ast.Call) and (called_fact := plan.facts.calls.get(node)) and "next" in called_fact.names:
            return True
    return False


def _prepares(plan: Reading, node: ast.AST, *, once: bool = True) -> bool:
    """Does it fetch, unpack or write, so that several processes would get into each other's way?"""
    if fetches(plan, node) or makes_folders(plan, node) or unpacks(plan, node) or (once and writes(plan, node)):
        return True
    if not once or not opens_to_write(plan, node):
        return False
    return isinstance(plan.program.statement_of(node), ast.With)  # else it stays open: a log, as rule `save` keeps it


def _leaves_nothing_behind(plan: Reading, statement: ast.stmt) -> bool:
    """Is all that it does on the disk, so that one rank can do it for the others?"""
    own = {name: s.changes for name, s in plan.flow.functions.items()}
    found = effects([statement], plan.flow.imports, own)
    top = next((s for s in plan.kept if s.node is statement), None)
    changed = found.may_bind | found.mutates | (plan.flow.when_called(top.index)[1] if top else set())
    if isinstance(statement, ast.Expr) and writes(plan, statement.value):  # frame.to_csv() leaves the frame as it is
        changed = set()
    kept = {s.node for s in plan.kept}
    if any(read_after(plan.program, plan.flow.imports, statement, name, kept) for name in changed):
        return False
    function = plan.program.function_of(statement)
    outer = [n for n in walk(function or statement) if isinstance(n, ast.Global | ast.Nonlocal)]
    if any(name in changed for declared in outer for name in declared.names):
        return False
    return not any(_changes_the_process(plan, n) for n in reached(plan, [statement]))


def _changes_the_process(plan: Reading, node: ast.AST) -> bool:
    """Where it is, what its objects hold, the random numbers that it will draw: that each rank has to do for itself."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return True
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
        return True
    if not isinstance(node, ast.Attribute | ast.Name):
        return False
    name = qualified(node, plan.flow.imports) or ""
    word = node.attr if isinstance(node, ast.Attribute) else node.id
    return bool(entry_of(node, plan.flow.imports).draws) or name.startswith("sys.path") or word in OF_THE_PROCESS
