"""What it does
    Wraps each trained model in DistributedDataParallel as soon as it is complete: created, moved, loaded, frozen, with
    its new head. The training calls `ddp_model`; everything else uses the model itself, which is evaluated and saved as
    before. It replaces `nn.DataParallel` in the notebook. Where a step may leave parameters of the model out, DDP is
    told to look for them; so it is where code of the model is in a file that is not read.

Why DDP needs it
    DDP averages the gradients of all ranks during `backward()`; without it each rank would train a different model.

Before
    model = nn.Linear(4, 1)
    ...
    for x, y in train_loader:
        loss = F.mse_loss(model(x), y)

After
    model = nn.Linear(4, 1)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    ...
    for x, y in train_loader:
        loss = F.mse_loss(ddp_model(x), y)

Declines
    Models that no optimizer trains. Models that are trained without a call of their forward(), that override `train`,
    or that no single variable holds before the training: their gradients are averaged before the step (rule
    `gradients`). Where it is not clear which calls train, the variable itself becomes the wrapped model. A cell that is
    marked `ddp-wrap` and defines `wrap(model, device)` is called in place of `DDP(model)`, but for such a variable.
    With `--shard` the rule `fully-shard` wraps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from nbddp.analysis import Plan
from nbddp.analysis.models import Home, ddp_name, module_of_ddp, of_data_parallel, synchronises, unused_parameters
from nbddp.analysis.reading import may_hold_batch_norm
from nbddp.analysis.splitting import may_turn
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.training import hook
from nbddp.analysis.values import Obj
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, has_comments, remove, replace, wrap
from nbddp.sentence import sentence

NAME = "wrap"
ABOUT = "  # the same parameters; their gradients are averaged over all processes"
BATCH_NORM = ("torch.nn.BatchNorm", "torch.nn.LazyBatchNorm", "torchvision.models.resnet", "torchvision.models.mobile",
              "torchvision.models.densenet", "torchvision.models.efficientnet", "torchvision.models.inception",
              "torchvision.models.regnet", "torchvision.models.shufflenet", "torchvision.models.googlenet")  # fmt: skip
USED = ("sync_batchnorm", "split_inside")
READS_CODE = ("torch.jit.script", "torch.jit.trace", "torch.onnx.export", "torch.export.export")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    yield from _data_parallel(plan)
    if plan.options.shard:
        return
    yield from _own(plan)
    yield from _by_shares(plan)
    done: set[tuple[ast.stmt, str]] = set()
    for model, home in plan.wrapping.homes.items():
        options = ", find_unused_parameters=True" if unused_parameters(plan, model) else ""
        if model in plan.wrapping.stands_for and _fits_in(plan, home):
            yield from _inline(plan, home, options)
        elif (home.ready, home.name) not in done:
            done.add((home.ready, home.name))
            yield _taken_over(plan, model, home, options, first=len(done) == 1)
    yield from _named(plan)
    for node in _read_as_code(plan):
        text = plan.program.source(node)
        yield replace(plan.program, NAME, node, f'getattr({text}, "module", {text})')


def _own(plan: Plan) -> Iterator[Diagnostic]:
    """What wraps in another way is no part of the script that passes for the model."""
    own = hook(plan.program, "wrap") is not None
    if not own and not plan.options.per_machine:
        return
    for home in [plan.wrapping.homes[m] for m in plan.wrapping.stands_for]:
        yield plan.program.diagnose(
            NAME, "error", home.ready,
            sentence("wrap() cannot be used for '%1': what it returns would have to pass for the model", home.name)
            if own else
            sentence("--per-machine cannot be used for '%1': DataParallel would have to pass for it", home.name),
            why=sentence("the training reads more of this variable than the result of a call"),
            help=sentence("call the model in the training loop, and read its attributes elsewhere"),
        )  # fmt: skip
    for model, reason in plan.wrapping.averaged.items():
        yield plan.program.diagnose(
            NAME, "warning", model.node or plan.training[0].node,
            sentence("this model is not wrapped, and its gradients are averaged before the step: %1", reason),
        )  # fmt: skip


def _by_shares(plan: Plan) -> Iterator[Diagnostic]:
    """Said once: it is what DDP does, but no number is that of one process then."""
    if synchronises(plan) or not any(may_hold_batch_norm(plan, m.obj) for m in plan.roles.models):
        return
    for call in (n for s in plan.kept for n in walk(s.node) if isinstance(n, ast.Call)):
        name = qualified(call.func, plan.flow.imports) or ""
        if name.startswith(BATCH_NORM):
            yield plan.program.diagnose(
                NAME, "note", call,
                sentence("BatchNorm takes the mean and the variance of each rank's own samples"),
                why=sentence("as DDP does, so that the numbers differ a little from those of one process; where a rank "
                             "gets a single sample, there is no variance, and the script stops")
                if plan.assumed.splits
                else sentence("as DDP does, so that the numbers differ a little from those of one process"),
                help=sentence("use --exact or, on GPUs, --sync-batchnorm: it takes those of the whole batch"),
            )  # fmt: skip
            return


def _taken_over(plan: Plan, model: Obj, home: Home, options: str, *, first: bool) -> Edit:
    """On a line of its own, behind the last that completes the model."""
    if model in plan.wrapping.stands_for:
        line = f"{home.name} = {_wrapped(plan, home, options)}"
        return after(plan.program, NAME, home.ready, line, ("DDP", *USED))
    name = ddp_name(plan, home)
    line = f"{name} = {_wrapped(plan, home, options)}{ABOUT if first else ''}"
    torch = ("torch", "import torch") if plan.options.per_machine else ()
    bound = () if plan.program.function_of(home.ready) else (f"binds {name}",)
    return after(plan.program, NAME, home.ready, line, (*_class(plan), *torch, *USED, *bound))


def _class(plan: Plan) -> tuple[str, ...]:
    """torch's own, where no model has to pass for another thing and none is evaluated by the call that trains it."""
    if hook(plan.program, "wrap"):
        return ()
    if plan.wrapping.stands_for or plan.wrapping.evaluates:
        return ("DDP",)
    return (f"from torch.nn.parallel import DistributedDataParallel as {plan.naming('DDP')}",)


def _named(plan: Plan) -> Iterator[Edit]:
    """What trains gets DDP; a function that is handed it asks it for the model, wherever that is meant."""
    places = {p: text for names in plan.wrapping.names.values() for p, text in names.places.items()}
    for place, text in sorted(places.items(), key=lambda item: plan.program.span(item[0])):
        yield replace(plan.program, NAME, place, text)
    bare = {node for names in plan.wrapping.names.values() for node in names.bare}
    for node in sorted(bare, key=plan.program.span):
        yield from wrap(plan.program, NAME, node, "", module_of_ddp(plan))


def _read_as_code(plan: Plan) -> Iterator[ast.expr]:
    """The model of `torch.jit.script(model)`, `writer.add_graph(model, x)`: what DDP does cannot be traced or read."""
    for call in plan.facts.calls.values():
        func = call.node.func
        graph = isinstance(func, ast.Attribute) and func.attr == "add_graph"
        if not (call.names & {*READS_CODE} or (graph and any(o.kind == "writer" for o in call.receivers))):
            continue
        for node in [*call.node.args, *(k.value for k in call.node.keywords)]:
            homes = [plan.wrapping.homes[o] for o in plan.wrapping.stands_for & plan.facts.value(node).objs]
            if isinstance(node, ast.Name | ast.Attribute) and any(_is_behind(plan, call.node, h) for h in homes):
                yield node


def _is_behind(plan: Plan, call: ast.Call, home: Home) -> bool:
    """Is the model wrapped by then?"""
    function = plan.program.function_of
    return function(call) is not function(home.ready) or call.lineno > (home.ready.end_lineno or home.ready.lineno)


def _fits_in(plan: Plan, home: Home) -> bool:
    """Around the expression; not around one of several lines, nor where the ranks take turns."""
    if home.inline is None or home.ready in plan.preparation.first:
        return False
    return "\n" not in plan.program.source(home.inline)


def _inline(plan: Plan, home: Home, options: str) -> Iterator[Edit]:
    assert home.inline is not None
    sync = _sync(plan)
    to = "" if home.moved or not plan.uses_gpu else f".to({_device(plan, home)})"
    before, behind = _around(plan, home)
    close = f"{to}{')' if sync else ''}{options}){behind}"
    opened = f"{before}{plan.naming('DDP')}({sync}"
    yield from wrap(plan.program, NAME, home.inline, opened, close, ("DDP", *USED))


def _sync(plan: Plan) -> str:
    return f"{plan.naming('sync_batchnorm')}(" if synchronises(plan) else ""


def _wrapped(plan: Plan, home: Home, options: str) -> str:
    model = home.name if home.moved or not plan.uses_gpu else f"{home.name}.to({_device(plan, home)})"
    if sync := _sync(plan):
        model = f"{sync}{model})"
    before, behind = _around(plan, home)
    if hook(plan.program, "wrap"):
        return f"{before}wrap({model}, {_device(plan, home)}){behind}"
    if plan.options.per_machine:
        model = f"{plan.naming('torch')}.nn.DataParallel({model})"
    return f"{before}{plan.naming('DDP')}({model}{options}){behind}"


def _around(plan: Plan, home: Home) -> tuple[str, str]:
    """What splits the batches that the model is given, where the step has them whole."""
    opened = home in (plan.wrapping.homes.get(model) for model in plan.assumed.opened)
    turns = ", turns=True" if may_turn(plan) else ""
    return (f"{plan.naming('split_inside')}(", f"{turns})") if plan.assumed.joined and not opened else ("", "")


def _device(plan: Plan, home: Home) -> str:
    inside = plan.program.function_of(home.built) is not None
    return '"cuda" if torch.cuda.is_available() else "cpu"' if inside else plan.naming("rank_device")


def _data_parallel(plan: Plan) -> Iterator[Edit]:
    """`nn.DataParallel(model)` becomes `model`; a statement that does only this goes."""
    calls = [c.node for c in plan.calls("torch.nn.DataParallel") if c.node.args]
    inline = {home.inline for model, home in plan.wrapping.homes.items() if model in plan.wrapping.stands_for}
    gone: list[ast.stmt] = []
    for call in calls:
        statement, outer = plan.program.statement_of(call), _with_choice(plan, call)
        if _does_nothing_else(plan, statement, call) and outer not in inline:
            gone.append(statement)
        else:
            yield from _replaced_by(plan, outer, call.args[0])
    branches = (plan.program.parents[s] for s in gone)
    whole = [b for b in dict.fromkeys(branches) if isinstance(b, ast.If) and _only_for_this(plan, b, gone)]
    kept = (s for s in gone if plan.program.parents[s] not in whole)
    for statement in [*whole, *kept]:
        yield remove(plan.program, NAME, statement, gone[: gone.index(statement)] if statement in gone else ())
    for node in plan.nodes() if calls else ():
        if isinstance(node, ast.Attribute) and (model := of_data_parallel(plan, node)):
            if not any(a in (*gone, *whole) for a in plan.program.ancestors(node)):
                yield from _replaced_by(plan, node, model)


def _replaced_by(plan: Plan, node: ast.expr, part: ast.expr) -> Iterator[Edit]:
    start, end = plan.program.span(node)
    first, last = plan.program.span(part)
    if start < first:
        yield Edit(NAME, start, first, "")
    yield Edit(NAME, last, end, "")


def _does_nothing_else(plan: Plan, statement: ast.stmt, call: ast.Call) -> bool:
    """`model = nn.DataParallel(model)`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    if statement.value is not _with_choice(plan, call):
        return False
    return plan.program.source(statement.targets[0]) == plan.program.source(call.args[0])


def _with_choice(plan: Plan, call: ast.Call) -> ast.expr:
    """`nn.DataParallel(model) if torch.cuda.device_count() > 1 else model`."""
    parent = plan.program.parents[call]
    if isinstance(parent, ast.IfExp) and parent.body is call:
        return parent if plan.program.source(parent.orelse) == plan.program.source(call.args[0]) else call
    return call


def _only_for_this(plan: Plan, branch: ast.If, gone: Sequence[ast.stmt]) -> bool:
    """`if torch.cuda.device_count() > 1:`, with perhaps a word about it."""
    shows = all(s in gone or plan.is_print(s) for s in branch.body)
    known = ("torch.cuda.", "len", "isinstance", "hasattr")
    calls = [qualified(n.func, plan.flow.imports) or "" for n in walk(branch.test) if isinstance(n, ast.Call)]
    pure = all(name.startswith(known) for name in calls)
    return shows and pure and not branch.orelse and not has_comments(plan.program, branch)
