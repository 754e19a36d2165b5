"""What it does
    Lets only rank 0 write files. Where a file is read later, the other ranks wait until it is complete.

Why DDP needs it
    N processes that write one file at the same time leave it broken.

Before
    torch.save(model.state_dict(), "best.pt")

After
    if rank == 0:
        torch.save(model.state_dict(), "best.pt")

Declines
    Code of modules that are not read: if such code gets a model, only rank 0 saves what it may save. Files
    that are opened for reading, and what one process on each machine prepares before the training (rule `download`). A
    statement in which all ranks have to work together runs on all of them, and only what the other ranks write is
    discarded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import reached
from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import loads, looks, opens_to_write, path_of
from nbddp.analysis.slicing import block_of
from nbddp.analysis.syntax import is_name, walk
from nbddp.analysis.values import CallFact, is_foreign
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, before, guard, within, wrap
from nbddp.sentence import sentence

NAME = "save"
Turns = ast.For | ast.AsyncFor | ast.While
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
WAITS = "  # nobody reads what rank 0 is still writing"
READ = "  # rank 0 takes away what all have read"
ANEW = "  # rank 0 writes anew what all have read"
REMOVES = {"os.remove", "os.unlink", "os.rename", "os.replace", "shutil.rmtree", "shutil.move", ".unlink", ".rename"}


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for call, form in {**plan.writing.forms, **plan.writing.once}.items():
        alone, part = f"{plan.rank(call)} == 0", "dist"
        if call in plan.writing.once:
            alone, part = f"{plan.naming('first_of_machine')}()", "first_of_machine"
        if form == "guard":
            yield from guard(plan.program, NAME, plan.program.statement_of(call), alone, (part,))
        elif form == "nowhere" and (path := path_of(call)) is not None:
            other = f" if {alone} else {plan.naming('os')}.devnull"
            yield from wrap(plan.program, NAME, path, "", other, ("os", part))
        else:
            other = f" if {alone} else {plan.naming('Silent')}())"
            yield from wrap(plan.program, NAME, call.func, "(", other, ("Silent", part))
    if plan.writing.forms:
        yield from _waits(plan)
    for statement in sorted(_left_to_modules(plan), key=lambda s: s.lineno):
        part = plan.naming("saved_by_rank_0")
        yield from within(plan.program, NAME, statement, f"{part}()", ("saved_by_rank_0",))


def _left_to_modules(plan: Plan) -> Iterator[ast.stmt]:
    """`early_stopping(loss, model)`, between epochs: all ranks have to come, for what it decides."""
    steps = {f.node for f in plan.roles.batch_loops}
    epochs = {f.node for f in plan.roles.epoch_loops}
    for call in plan.facts.calls.values():
        statement = plan.program.statement_of(call.node)
        alone = call.varying_control or call.ever_in_forward or call.loops & plan.dealt
        if alone or not (isinstance(statement, ast.Expr) and statement.value is call.node and _is_foreign(plan, call)):
            continue
        state = any(isinstance(n, ast.Attribute) and n.attr == "state_dict" for n in walk(call.node))
        model = any(v.of("model", "foreign") for v in call.args.values())
        if state or (model and call.loops & epochs and not call.loops & steps):
            yield statement


def _is_foreign(plan: Plan, call: CallFact) -> bool:
    func = call.node.func
    made = plan.facts.value(func).of("foreign") or any(o.kind == "foreign" for o in call.receivers)
    return bool(made) or any(map(is_foreign, call.names))


def _waits(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """Ranks that read a file back wait until rank 0 has written it."""
    first = min(call.lineno for call in plan.writing.forms)
    done: set[ast.stmt] = set()
    for call in sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset)):
        reads = loads(plan, call.node) or _looks(plan, call) or _opens_written(plan, call)
        if not reads or call.varying_control or call.ever_in_forward or call.loops & plan.dealt:
            continue
        statement = _with_its_file(plan, plan.program.statement_of(call.node))
        if (
            _is_alone(plan, call.node, frozenset())
            or plan.preparation.covers(plan, call.node)
            or _has_waited(plan, statement, done)
        ):
            continue
        if _comes_later(plan, call.node, first, frozenset()):
            if not done:
                yield plan.program.diagnose(
                    NAME, "note", call.node,
                    sentence("rank 0 writes this file, and every rank reads it"),
                    why=sentence("if the ranks run on several machines, these need a shared disk"),
                )  # fmt: skip
            done.add(statement)
            yield before(plan.program, NAME, statement, f"{plan.naming('dist')}.barrier(){WAITS}", ("dist",))
    yield from _before_it_is_gone(plan, done)


def _is_alone(plan: Plan, node: ast.AST, seen: frozenset[ast.AST]) -> bool:
    """In what rank 0 does alone, also by way of functions: nobody would come to wait with it."""
    if not plan.writing.guarded.isdisjoint(plan.program.ancestors(node)):
        return True
    function = plan.program.function_of(node)
    calls = plan.callers.get(function, []) if function is not None and function not in seen else []
    return any(_is_alone(plan, call, seen | {function}) for call in calls if function is not None)


def _before_it_is_gone(plan: Plan, read: set[ast.stmt]) -> Iterator[Edit]:
    """`os.remove(path)`, by rank 0, behind what all ranks have waited for to read it; in a loop, writing it anew."""
    for call in sorted(plan.writing.forms, key=plan.program.span):
        fact, statement = plan.facts.calls.get(call), plan.program.statement_of(call)
        names = (fact and fact.names) or {f".{getattr(call.func, 'attr', '')}"}
        block = block_of(plan.program.parents[statement], statement) or []
        before_it = {n for s in block[: block.index(statement)] for n in walk(s)}
        gone = names & REMOVES and read & {*block[: block.index(statement)]}
        if (gone or _reads_it(plan, call, read & before_it)) and statement not in read:
            line = f"{plan.naming('dist')}.barrier(){READ if gone else ANEW}"
            yield before(plan.program, NAME, statement, line, ("dist",))


def _reads_it(plan: Plan, write: ast.Call, read: set[ast.stmt]) -> bool:
    """In an earlier statement of the same turn, the file that this one writes."""
    fact, statement = plan.facts.calls.get(write), plan.program.statement_of(write)
    apart = fact is None or fact.varying_control or fact.ever_in_forward or fact.loops & plan.dealt
    if apart or _is_alone(plan, statement, frozenset()):
        return False
    turns = any(isinstance(a, Turns) for a in plan.program.ancestors(write))
    loading = (n for s in read for n in walk(s) if isinstance(n, ast.Call) and loads(plan, n))
    asked = {place for call in loading for given in _given(call) for place in _places(plan, given)}
    return turns and not asked.isdisjoint(place for given in _given(write) for place in _places(plan, given))


def _opens_written(plan: Plan, call: CallFact) -> bool:
    """`open("b.txt").read()` behind `shutil.move("a.txt", "b.txt")`; `os.path.getsize(path)`, `os.listdir(folder)`.

    Or one picture of a list after the other.
    """
    around = (a for a in plan.program.ancestors(call.node) if isinstance(a, ast.If | ast.While | ast.IfExp))
    sized = looks(plan, call.node) and not any(call.node in {*walk(a.test)} for a in around)
    reads, method = any(effect_of(name).opens for name in call.names), _method(call.node)
    path = path_of(call.node) if _opens(call.node) and not opens_to_write(plan, call.node) else None
    path = call.node.args[0] if (sized or reads) and call.node.args else path
    path = method.value if method and not call.names and effect_of(f".{method.attr}").opens else path
    if reads and isinstance(path, ast.Name) and _is_of_a_list(plan, path):
        return True
    written = {place for write in plan.writing.forms for given in _given(write) for place in _places(plan, given)}
    asked = _places(plan, path) if path is not None else set()
    inside = any(place.lstrip("f").startswith(f"{folder[:-1]}/") for folder in asked for place in written)
    return not asked.isdisjoint(written) or (sized and inside)


def _method(call: ast.Call) -> ast.Attribute | None:
    return call.func if isinstance(call.func, ast.Attribute) else None


def _given(write: ast.Call) -> Iterator[ast.expr]:
    """What may be the path: also `path` of `path.write_text(text)`."""
    yield from (*write.args, *(k.value for k in write.keywords))
    if (method := _method(write)) is not None:
        yield method.value


def _places(plan: Plan, path: ast.expr) -> set[str]:
    """In words, and in those that it comes from: `open(self.path, "w")` of `Log("log.txt")`."""
    return {ast.unparse(made) for made in (path, *plan.bindings.made_by(path))}


def _is_of_a_list(plan: Plan, path: ast.Name) -> bool:
    """`[Image.open(f) for f in files]`, in no method: of a dataset it would not be those that have been written."""
    around = [*plan.program.ancestors(path)]
    loops = [loop for a in around for loop in (a, *getattr(a, "generators", ()))]
    turns = any(is_name(loop.target, path.id) for loop in loops if isinstance(loop, ast.For | ast.comprehension))
    return turns and not any(isinstance(a, ast.ClassDef) for a in around)


def _looks(plan: Plan, call: CallFact) -> bool:
    """In a turn, all ranks decide together by what they find. What only leads to writing is rank 0's own."""
    around = plan.program.statement_of(call.node)
    only_writes = isinstance(around, ast.If) and not around.orelse and plan.writing.guarded.issuperset(around.body)
    return looks(plan, call.node) and not call.loops and not only_writes


def _has_waited(plan: Plan, statement: ast.stmt, done: set[ast.stmt]) -> bool:
    """At it, or at one before it, since when nothing was written."""
    inner: ast.AST = statement
    for around in [statement, *plan.program.ancestors(statement)]:
        if around in done:
            return True
        block = block_of(around, inner)
        for earlier in reversed(block[: block.index(inner)] if block else ()):  # type: ignore[arg-type]
            if _writes(plan, earlier):
                return False
            if earlier in done:
                return True
        if isinstance(around, Function) or (isinstance(around, Turns) and _writes(plan, around)):
            return False
        inner = around
    return False


def _writes(plan: Plan, node: ast.AST) -> bool:
    return any(n in plan.writing.forms for n in reached(plan, [node]))


def _with_its_file(plan: Plan, statement: ast.stmt) -> ast.stmt:
    """`with open(…) as f:` around it: the file is there once it can be opened."""
    around = next((a for a in plan.program.ancestors(statement) if isinstance(a, ast.stmt)), None)
    items = around.items if isinstance(around, ast.With) else []
    opens = any(isinstance(i.context_expr, ast.Call) and _opens(i.context_expr) for i in items)
    return around if around is not None and opens else statement


def _opens(call: ast.Call) -> bool:
    return (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")) == "open"


def _comes_later(plan: Plan, node: ast.AST, line: int, seen: frozenset[ast.AST]) -> bool:
    """Does it run behind the line, as far as is known? In a function where one of its calls does."""
    function = plan.program.function_of(node)
    if function is None or node in seen:
        loops = [a for a in plan.program.ancestors(node) if isinstance(a, ast.For | ast.While)]
        again = any((loop.end_lineno or 0) >= line for loop in loops)  # also where it is written at the end of a turn
        return function is None and (again or plan.program.statement_of(node).lineno > line)
    calls = plan.callers.get(function, [])
    return not calls or any(_comes_later(plan, c, line, seen | {node}) for c in calls)
