"""What each process would get from the machine's clock and its source of chance: seeds, and names of files and runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import Stream, effect_of, makes
from nbddp.analysis.reading import generators
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import Extent, spread
from nbddp.edits import Edit, replace, wrap

FRESH = ("torch.seed", "torch.random.seed")
SEEDED = ("seed", "rng", "random_state")
FOLDER, FILE = "tempfile.TemporaryDirectory", "tempfile.NamedTemporaryFile"
FOR_A_SAMPLE = ("__getitem__", "__getitems__", "__call__", "forward")  # of which each process has its own


def same_chance(plan: Plan, rule: str) -> Iterator[Edit]:
    """Streams without a seed get one that all ranks draw; what the clock says, and has to be alike, rank 0 says."""
    for node in plan.nodes():
        function = plan.program.function_of(node)
        if isinstance(node, ast.Call) and (function is None or function.name not in FOR_A_SAMPLE):
            yield from _seeded(plan, rule, node)
            yield from _drawn_by_rank_0(plan, rule, node)
        elif isinstance(node, ast.Assign):
            for text in _names(plan, node.value):
                yield from _from_rank_0(plan, rule, text)
            if isinstance(node.value, ast.Call) and _is_for_all(plan, node.value):
                yield from wrap(plan.program, rule, node.value, f"{plan.naming('lasting')}(", ")", ("lasting",))
        elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            call = node.context_expr
            if isinstance(call, ast.Call) and _name(plan, call) == FOLDER and _is_for_all(plan, call):
                part = plan.naming("folder_of_rank_0")
                yield from wrap(plan.program, rule, call, f"{part}(", ")", ("folder_of_rank_0",))
        elif isinstance(node, ast.Attribute) and node.attr == "name" and _is_temporary(plan, node):
            yield from _from_rank_0(plan, rule, node)


def _is_temporary(plan: Plan, node: ast.Attribute) -> bool:
    """`folder.name` of `folder = TemporaryDirectory()`, where all ranks come and nobody writes alone."""
    made = (n for n in plan.bindings.made_by(node.value) if isinstance(n, ast.Call))
    around = [*plan.program.ancestors(node)]
    apart = any(isinstance(a, ast.If | ast.For | ast.While) or a in plan.writing.guarded for a in around)
    here = plan.program.function_of(node)
    return any(_is_for_all(plan, c) and plan.program.function_of(c) is here for c in made) and not apart


def _is_for_all(plan: Plan, call: ast.Call) -> bool:
    """A temporary folder or file that all ranks come to make: none of a data set, or of what one rank does alone."""
    fact, around = plan.facts.calls.get(call), [*plan.program.ancestors(call)]
    apart = fact is None or fact.varying_control or fact.ever_in_forward or fact.loops & plan.dealt
    alone = plan.preparation.covers(plan, call) or any(a in plan.writing.guarded for a in around)
    inside = any(isinstance(a, ast.ClassDef) for a in around)
    return _name(plan, call) in (FOLDER, FILE) and not (apart or alone or inside)


def _seeded(plan: Plan, rule: str, call: ast.Call) -> Iterator[Edit]:
    name = qualified(call.func, plan.flow.imports) or ""
    given = [*call.args, *(k.value for k in call.keywords)]
    seed = f"{plan.naming('same_seed')}()"
    if isinstance(call.func, ast.Attribute) and isinstance(plan.program.parents.get(call), ast.Expr):
        own = call.func.attr == "seed" and not given and ast.unparse(call.func.value) in generators(plan)
        if name in FRESH or own:
            function = plan.program.source(call.func).removesuffix("seed") + "manual_seed"
            yield replace(plan.program, rule, call, f"{function}({seed})", ("same_seed",))
    if name == "random.SystemRandom":
        yield replace(plan.program, rule, call, f"{plan.program.source(call.func)[:-12]}Random({seed})", ("same_seed",))
    op = effect_of(name)
    if not op.seeds and not (op.generator and op.draws):
        return
    if all(map(_is_none, given)):
        yield replace(plan.program, rule, call, f"{plan.program.source(call.func)}({seed})", ("same_seed",))
    for value in given:
        if spread(plan.facts.value(value)) is Extent.REPEATED:
            yield from _from_rank_0(plan, rule, value)


def _drawn_by_rank_0(plan: Plan, rule: str, call: ast.Call) -> Iterator[Edit]:
    """`secrets.token_bytes(8)`, `lhs(2, 100)`: drawn from the machine, or from a stream of its own."""
    fact = plan.facts.calls.get(call)
    drawn = fact is not None and any(effect_of(name).draws is Stream.SYSTEM for name in fact.names)
    if not drawn or fact is None or any(k.arg in SEEDED and not _is_none(k.value) for k in call.keywords):
        return
    apart = fact.varying_control or fact.ever_in_forward or fact.loops & {f.node for f in plan.roles.batch_loops}
    around = (a for a in plan.program.ancestors(call) if isinstance(a, ast.Assign))
    if not apart and not any(part is call for a in around for text in _names(plan, a.value) for part in walk(text)):
        yield from _from_rank_0(plan, rule, call)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _names(plan: Plan, node: ast.expr) -> Iterator[ast.expr]:
    """Of `Log(f"runs/{datetime.now()}")` the text; a writer is made by rank 0 alone."""
    if not _names_something(plan, node) or any(a in plan.writing.guarded for a in plan.program.ancestors(node)):
        return
    if not isinstance(node, ast.Call) or _makes_text(plan, node):
        yield node
    elif not (plan.facts.value(node).of("writer") or makes(_name(plan, node)) == "tracker"):
        for part in (*node.args, *(k.value for k in node.keywords)):
            yield from _names(plan, part)


def _makes_text(plan: Plan, call: ast.Call) -> bool:
    """`datetime.now().strftime("%H")`, `str(time.time())`, `os.path.join("runs", f"{time.time()}")`."""
    name, word = _name(plan, call), _name(plan, call).rpartition(".")[2]
    return effect_of(name).clock or word.startswith((*TEXTS, "join", "Path")) or _names_something(plan, call.func)


def _names_something(plan: Plan, node: ast.expr) -> bool:
    """`stamp = datetime.now().strftime("%H%M")`, `run = f"run_{time.time()}"`: other ranks would look elsewhere."""
    clocks = [n for n in walk(node) if isinstance(n, ast.Call) and effect_of(_name(plan, n)).clock]
    facts = [plan.facts.calls[n] for n in clocks if n in plan.facts.calls]
    if not facts or any(f.loops or f.varying_control for f in facts):
        return False
    words = [_name(plan, n).rpartition(".")[2] for n in walk(node) if isinstance(n, ast.Call)]
    text = any(isinstance(n, ast.JoinedStr) for n in walk(node))
    return text or any(w.startswith(TEXTS) for w in words)


TEXTS = ("str", "format", "isoformat", "ctime", "uuid", "token")  # what makes a text of it


def _name(plan: Plan, call: ast.Call) -> str:
    return qualified(call.func, plan.flow.imports) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")


def _from_rank_0(plan: Plan, rule: str, node: ast.expr) -> Iterator[Edit]:
    if not plan.preparation.covers(plan, node):
        yield from wrap(plan.program, rule, node, f"{plan.naming('from_rank_0')}(", ")", ("from_rank_0",))
