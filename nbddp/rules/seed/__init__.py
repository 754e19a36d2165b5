"""What it does
    Lets each rank draw its own random numbers during the training. What is created before it, or between two trainings
    or two passes over the data, uses the same random numbers on all ranks; a generator without a seed gets one that is
    the same on all ranks, and what the clock gives for a seed or for the name of a file is rank 0's.

Why DDP needs it
    Data and weights must be the same on all ranks. Dropout and noise must not be, or N ranks use the same mask N times.

Before
    for epoch in range(epochs):

After
    own_random_numbers()
    for epoch in range(epochs):

Declines
    A training that draws no random numbers: nothing would change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import Stream, effect_of
from nbddp.analysis.reading import Definition, draws_left_out, seeds
from nbddp.analysis.splitting import by_longest, drawn_elsewhere, draws_by_share, draws_for_all
from nbddp.analysis.syntax import qualified, walk
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before
from nbddp.rules.seed.chance import same_chance
from nbddp.rules.seed.draws_between_passes import draws_between
from nbddp.rules.seed.draws_for_models import drawn_for_models, draws_for_models, in_forward
from nbddp.rules.seed.draws_of_data import FOR_DATA, draws_of_data, same_data, shared_with_data, unlike_often
from nbddp.rules.seed.exact_draws import for_the_whole_batch, in_whole_batches
from nbddp.rules.seed.numpy_noise import FROM_NUMPY, noise_of_numpy, same_noise, shared_with_numpy
from nbddp.rules.seed.seeded_by_files import seeded_by_files
from nbddp.rules.seed.split_batches import alike, drawn_beside_steps, own_streams
from nbddp.sentence import sentence

NAME = "seed"
WORDS = (
    "dropout",
    "augment",
    "jitter",
    "mixup",
    "cutmix",
    "gumbel",
    "rrelu",
    "fractional_max_pool",
    "fractionalmaxpool",
)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    found = sorted((f.node for f in plan.roles.epoch_loops or plan.roles.batch_loops), key=_line)
    loops = [n for n in found if isinstance(n, LOOPS)]
    outermost = [n for n in loops if not any(a in loops for a in plan.program.ancestors(n))]
    for statement in draws_left_out(plan):
        yield plan.program.diagnose(
            NAME, "note", statement.node,
            sentence("the script leaves this out, although it draws random numbers after the seed"),
            why=sentence("what is drawn later, such as the first weights, differs from the notebook's"),
            help=sentence('tag the cell with "ddp-setup" to keep it, or seed again before the model is built'),
        )  # fmt: skip
    yield from seeded_by_files(plan, NAME)
    yield from same_chance(plan, NAME)
    yield from unlike_often(plan)
    if plan.assumed.splits or plan.assumed.joined:
        yield from in_whole_batches(plan, NAME) if plan.assumed.joined else ()
        if plan.assumed.joined or not (_draws_by_share(plan) or (plan.options.exact and by_longest(plan))):
            return  # all ranks draw the same to the end, as one process does; models for whole batches
        if plan.options.exact and not drawn_elsewhere(plan):
            yield from for_the_whole_batch(plan, NAME)
            return
        yield from alike(plan, NAME)
        yield from own_streams(plan, NAME)
        yield from _named(plan)
    elif not _draws(plan) and not noise_of_numpy(plan) and not draws_of_data(plan):
        return
    elif not plan.assumed.splits:
        yield from same_noise(plan)
        yield from same_data(plan)
    alike_now = {n for s in drawn_beside_steps(plan) for n in walk(s)} if plan.assumed.splits else set[ast.AST]()
    yield from drawn_for_models(plan, NAME, alike_now)
    if draws_between(plan) and not plan.assumed.splits:
        yield from _around_batches(plan)
    else:
        yield from _anew(plan) if plan.assumed.splits else ()
        for loop in outermost:
            yield _own(plan, loop)
            if loop is not outermost[-1] or _goes_on(plan, loop, set()):
                yield from _shared(plan, loop)
    for call in plan.facts.calls.values():
        training = call.loops & {f.node for f in plan.roles.batch_loops + plan.roles.epoch_loops}
        if training and any(effect_of(name).seeds for name in call.names):
            yield plan.program.diagnose(
                NAME, "warning", call.node,
                sentence("seeding inside of the training makes all ranks draw the same random numbers again"),
                help=sentence("seed once, before the training"),
            )  # fmt: skip


def _draws_by_share(plan: Plan) -> bool:
    """May a step draw for each of the samples: dropout, noise like the batch, a library's model?

    Whatever may draw does, but for what is seen to draw as much on all ranks: else they would come apart, and draw
    unlike batches.
    """
    calls = plan.facts.calls.values()
    for_all = {n for f in calls if draws_for_all(plan, f) for n in walk(f.node.func)}
    for_all |= {n for s in draws_for_models(plan) for n in walk(s)}
    random = (n for n in plan.nodes() if n not in for_all and (_is_random(plan, n) or _is_layer(plan, n)))
    return any(random) or any(draws_by_share(plan, f) for f in calls if f.node not in for_all) or _is_foreign(plan)


def _named(plan: Plan) -> Iterator[Diagnostic]:
    if plan.options.exact:
        yield plan.program.diagnose(
            NAME, "note", plan.assumed.splits[0].step,
            sentence("dropout or noise is drawn for each sample here, and each rank draws its own"),
            why=sentence("with --exact too, the numbers therefore differ from those of one process"),
        )  # fmt: skip


def _is_foreign(plan: Plan) -> bool:
    return any(m.obj not in plan.facts.classes and not m.obj.name.startswith("torch.nn.") for m in plan.roles.models)


def _around_batches(plan: Plan) -> Iterator[Edit]:
    """Own numbers for the batches alone: what an epoch draws before or behind them is the same on all ranks."""
    batches = {f.node for f in plan.roles.batch_loops}
    for fact in plan.roles.batch_loops:
        if isinstance(fact.node, LOOPS) and not fact.parents & batches:
            yield _own(plan, fact.node)
            yield from _shared(plan, fact.node)
    for fact in plan.roles.evaluation_loops:  # a rank that evaluates more batches than another draws more, too
        if isinstance(fact.node, LOOPS) and not fact.parents & batches and not _without_dropout(plan):
            yield from _shared(plan, fact.node)


def _anew(plan: Plan) -> Iterator[Edit]:
    """Seeded behind a training, or again and again: what all ranks draw alike goes on from there."""
    first = min(s.index for s in plan.training)
    for node in plan.nodes():
        if isinstance(node, ast.Expr | ast.Assign) and Stream.TORCH in seeds(plan, node, {}):
            if _statement_index(plan, node) > first or _is_run_behind(plan, node, first, frozenset()):
                line = f"{plan.naming('alike')}.clear()  # seeded anew"
                yield after(plan.program, NAME, node, line, ("same_random_numbers",))


def _statement_index(plan: Plan, node: ast.AST) -> int:
    """None that runs where it is defined."""
    found = plan.top_level(node)
    return -1 if found is None or plan.program.function_of(node) is not None else found.index


def _is_run_behind(plan: Plan, node: ast.AST, first: int, seen: frozenset[ast.AST]) -> bool:
    """In a loop that trains, or in a function that is called there, or behind a training."""
    function = plan.program.function_of(node)
    if function is None:
        index = _statement_index(plan, node)
        looped = any(isinstance(n, ast.For | ast.AsyncFor | ast.While) for n in plan.program.ancestors(node))
        return index > first or (index in plan.trains and looped)
    calls = plan.callers.get(function, []) if function not in seen else []
    return any(_is_run_behind(plan, call, first, seen | {function}) for call in calls)


def _own(plan: Plan, loop: ast.stmt) -> Edit:
    numpy = (FROM_NUMPY,) if noise_of_numpy(plan) and not shared_with_numpy(plan) else ()
    numpy = (FOR_DATA,) if draws_of_data(plan) and not shared_with_data(plan) else numpy
    line = f"{plan.naming('own_random_numbers')}()"
    return before(plan.program, NAME, loop, line, ("own_random_numbers", *numpy))


def _without_dropout(plan: Plan) -> bool:
    return any(isinstance(c.node.func, ast.Attribute) and c.node.func.attr == "eval" for c in plan.facts.calls.values())


def _goes_on(plan: Plan, node: ast.AST, seen: set[ast.AST]) -> bool:
    """Does the code around run it again, and build something between?"""
    function = plan.program.function_of(node)
    for around in plan.program.ancestors(node):
        if around is function:
            break
        if isinstance(around, ast.For | ast.AsyncFor | ast.While):
            return True
    if function is None or function in seen:
        return function is not None
    calls = plan.callers.get(function, [])
    return len(calls) != 1 or _goes_on(plan, calls[0], seen | {function})


def _shared(plan: Plan, loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[Edit]:
    line = f"{plan.naming('shared_random_numbers')}()"
    yield after(plan.program, NAME, loop, line, ("shared_random_numbers",))
    for node in walk(loop):
        if isinstance(node, ast.Return) and plan.program.function_of(node) is plan.program.function_of(loop):
            yield before(plan.program, NAME, node, line, ("shared_random_numbers",))


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _draws(plan: Plan) -> bool:
    """May the training draw random numbers: dropout, noise, augmentation, a library's model?"""
    training = [s.node for s in plan.training]
    defined = [s.node for s in plan.kept if isinstance(s.node, ast.FunctionDef | ast.ClassDef)]
    for_models = {n for s in (*draws_for_models(plan), *in_forward(plan)) for n in walk(s)}
    if any(_is_random(plan, n) for part in (*training, *defined) for n in walk(part) if n not in for_models):
        return True
    if any(_is_layer(plan, n) for n in plan.nodes()):
        return True
    return _is_foreign(plan)


def _is_layer(plan: Plan, node: ast.AST) -> bool:
    """Part of a model or of a transformation of the data that draws whenever it is gone through."""
    word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    draws = word.startswith("Random") and not word.endswith(("Sampler", "State"))
    return draws or any(w in word.lower() for w in WORDS)


def _is_random(plan: Plan, node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg in WORDS
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    word = node.attr if isinstance(node, ast.Attribute) else node.id
    name = qualified(node, plan.flow.imports) or ""
    parent = plan.program.parents.get(node)
    if isinstance(parent, ast.Call) and any(k.arg == "generator" for k in parent.keywords):
        return False  # a stream of its own
    if word.startswith("Random") or any(w in word.lower() for w in WORDS) or name.startswith("torch.nn.Transformer"):
        return True
    in_place = word.endswith("_") and effect_of(f".{word}").draws
    if name.startswith("torch.nn.init.") or not (in_place or (effect_of(name).noise and effect_of(name).draws)):
        return False
    return not _builds(plan, node, plan.program.function_of(node), frozenset())  # else all ranks draw alike


def _builds(plan: Plan, node: ast.AST, function: Definition | None, seen: frozenset[ast.AST]) -> bool:
    """Before the training, in `__init__` or in what only such code calls: `self.reset_parameters()`."""
    if function is None:
        return plan.top_level(node) not in plan.training
    if function.name == "forward" or function.name.startswith("__") or function in seen:  # run without being named
        return function.name == "__init__"
    named = [n for n in plan.nodes() if function.name in (getattr(n, "id", ""), getattr(n, "attr", ""))]
    calls = [plan.program.parents.get(n) for n in named]
    if not calls or any(not isinstance(c, ast.Call) or c.func is not n for c, n in zip(calls, named, strict=True)):
        return False  # it may be called where that is not seen
    seen |= {function}
    return all(c is not None and _builds(plan, c, plan.program.function_of(c), seen) for c in calls)
