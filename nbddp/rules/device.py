"""What it does
    Uses the rank's own device where the notebook chooses one, and removes fixed indices from device names elsewhere:
    each process has made its own GPU the current one, so "cuda" means that GPU. `torch.load` loads onto it, too; with
    `--shard`, states of models and optimizers onto the CPU.
    Where one line names it for all, `train` gets the device by that name, and the line goes.

Why DDP needs it
    With "cuda:0" on every rank, all processes would use the first GPU, and NCCL refuses to run.

Before
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

After
    def train(rank, world_size, device):

Declines
    A device that the notebook sets to the CPU; strings that only look like a device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.loaders import loader_call, shuffles
from nbddp.analysis.models import chosen, indexed_name, loaded_states, numbers
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import Obj
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, append_argument, remove, replace
from nbddp.sentence import sentence

NAME = "device"
CURRENT = ("torch.cuda.set_device", "torch.cuda.device")
DEFAULTS = ("torch.set_default_device", "torch.set_default_tensor_type")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    done: set[ast.AST] = set()
    for statement in plan.kept:
        node = statement.node
        value = node.value if isinstance(node, ast.Assign) else None
        if value is not None and (written := chosen(plan, value)):
            done.update(walk(value))
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == plan.naming("rank_device"):
                yield remove(plan.program, NAME, node)
                continue
            # a string stays one: `torch.autocast(device)` takes no torch.device, and "cuda" means this rank's GPU
            kind = ".type" if written == "string" else ""
            yield replace(plan.program, NAME, value, plan.naming("rank_device") + kind, ("rank_device",))
    yield from _onto_the_cpu(plan, done)
    for inner in plan.nodes():
        if isinstance(inner, ast.expr) and inner not in done:
            yield from _elsewhere(plan, inner, done)
    yield from _loaded(plan, done)
    yield from _several(plan)
    yield from _left_behind(plan)


def _loaded(plan: Plan, done: set[ast.AST]) -> Iterator[Edit]:
    """`torch.load(path)`: what lay on the first GPU when it was saved comes to the GPU of each process."""
    for call in plan.calls("torch.load") if plan.uses_gpu else ():
        plain = len(call.node.args) == 1 and not any(k.arg in ("map_location", None) for k in call.node.keywords)
        if plain and call.node not in done:
            state = _goes_into_a_state(plan, call.node) and plan.program.function_of(call.node) is None
            place = plan.naming("rank_device") if state else '{"cuda:0": "cuda"}'
            uses = ("rank_device",) if state else ()
            yield append_argument(plan.program, NAME, call.node, f"map_location={place}", uses)


def _onto_the_cpu(plan: Plan, done: set[ast.AST]) -> Iterator[Edit]:
    """The state of a sharded model: no GPU may have room for it."""
    for call in loaded_states(plan) if plan.uses_gpu else ():
        given = [k.value for k in call.node.keywords if k.arg == "map_location"] or call.node.args[1:2]
        done.update(walk(given[0] if given else call.node))
        if not given:
            yield append_argument(plan.program, NAME, call.node, 'map_location="cpu"', ())
        elif ast.unparse(given[0]) not in ("'cpu'", "torch.device('cpu')"):
            yield replace(plan.program, NAME, given[0], '"cpu"')


def _goes_into_a_state(plan: Plan, call: ast.Call) -> bool:
    """`model.load_state_dict(torch.load(path))`, which copies it to where the model is."""
    parent = plan.program.parents.get(call)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr == "load_state_dict"
    )


def _elsewhere(plan: Plan, node: ast.expr, done: set[ast.AST]) -> Iterator[Edit | Diagnostic]:
    """What stays a choice of the notebook's own goes without an index: "cuda" is the GPU of this process."""
    if isinstance(node, ast.Call) and (name := qualified(node.func, plan.flow.imports)):
        if name in CURRENT and node.args:
            done.update(walk(node))
            yield from _current(plan, node)
            return
        yield from _default_device(plan, node, name)
    yield from _device_map(plan, node, done)
    for number in numbers(plan, node):
        done.update(walk(number))
        yield from _without_number(plan, node, number)
    if (kind := indexed_name(node)) and not _is_prose(plan, node):
        done.update(walk(node))
        yield replace(plan.program, NAME, node, f'"{kind}"')
    if isinstance(node, ast.Constant) and node.value == "CUDA_VISIBLE_DEVICES":
        yield plan.program.diagnose(
            NAME, "warning", node,
            sentence("the notebook limits which GPUs are visible, and so how many processes can run"),
            help=sentence("remove the line, or choose the GPUs when you start the script"),
        )  # fmt: skip


def _current(plan: Plan, node: ast.Call) -> Iterator[Edit]:
    """`torch.cuda.set_device(0)`: the launcher has done that, for each process its own."""
    parent = plan.program.parents.get(node)
    if isinstance(parent, ast.Expr):
        comment = "  # each process has a GPU of its own" if _ends_line(plan, node) else ""
        yield replace(plan.program, NAME, node, f"pass{comment}")
    else:
        torch = plan.program.source(node.func).rpartition(".")[0]
        yield replace(plan.program, NAME, node.args[0], f"{torch}.current_device()")


def _ends_line(plan: Plan, node: ast.Call) -> bool:
    end = plan.program.span(node)[1]
    return plan.program.text[end : end + 1] == "\n"


def _without_number(plan: Plan, call: ast.expr, number: ast.expr) -> Iterator[Edit]:
    """`.cuda(0)` becomes `.cuda()`; elsewhere "cuda" takes the number's place."""
    assert isinstance(call, ast.Call)
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "cuda"):
        yield replace(plan.program, NAME, number, '"cuda"')
        return
    start, end = plan.program.span(number)
    rest = [plan.program.span(k)[0] for k in call.keywords if k.value is not number] if number in call.args else []
    if number in call.args and rest:
        yield Edit(NAME, start, min(rest), "")
    elif number in call.args:
        yield Edit(NAME, start, end, "")
    else:
        yield replace(plan.program, NAME, number, "None")


def _device_map(plan: Plan, node: ast.expr, done: set[ast.AST]) -> Iterator[Edit | Diagnostic]:
    """`device_map="auto"` spreads a model over all GPUs that a process sees; `{"": 0}` names the first."""
    places = [k.value for k in node.keywords if k.arg == "device_map"] if isinstance(node, ast.Call) else []
    places += [node] if isinstance(node, ast.Dict) and _is_device_map(node) else []
    for place in (p for p in places if isinstance(p, ast.Dict | ast.Constant) and getattr(p, "value", "") is not None):
        done.update(walk(place))
        inside = plan.program.function_of(place) is not None
        device = '"cuda"' if inside else plan.naming("rank_device")
        yield replace(plan.program, NAME, place, f'{{"": {device}}}', () if inside else ("rank_device",))


def _is_device_map(node: ast.Dict) -> bool:
    return len(node.keys) == 1 and isinstance(node.keys[0], ast.Constant) and node.keys[0].value == ""


def _may_draw(plan: Plan, loader: Obj) -> bool:
    """Not one that is known to go through its data in order."""
    call = loader_call(plan, loader)
    return call is None or not call.plain or call.gives("sampler") or call.gives("batch_sampler") or shuffles(call)


def _default_device(plan: Plan, node: ast.Call, name: str) -> Iterator[Diagnostic]:
    loaders = plan.roles.training_loaders | plan.roles.evaluation_loaders
    sampled = any(loader.name != "split" and _may_draw(plan, loader) for loader in loaders)  # no batch from elsewhere
    if name not in DEFAULTS or not sampled or not any(_is_gpu(plan, a) for a in node.args):
        return
    yield plan.program.diagnose(
        NAME, "error", node,
        sentence("samplers fail while the GPU is the default device: torch then expects their random numbers on the "
                 "GPU"),
        help=sentence("do not set a default device, and move model and batches with .to(device)"),
    )  # fmt: skip


def _is_gpu(plan: Plan, node: ast.expr) -> bool:
    parts = [n for n in walk(node) if isinstance(n, ast.expr)]
    named = any(chosen(plan, p) or (isinstance(p, ast.Constant) and "cuda" in str(p.value)) for p in parts)
    return (
        named
        or "device" in {o.kind for o in plan.facts.value(node).objs}
        or any(isinstance(p, ast.Attribute) and p.attr == "cuda" for p in parts)
    )


def _is_prose(plan: Plan, node: ast.expr) -> bool:
    """Part of what is printed."""
    parent = plan.program.parents.get(node)
    return isinstance(parent, ast.JoinedStr | ast.Expr) or (
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "print"
    )


def _several(plan: Plan) -> Iterator[Diagnostic]:
    """A model that is spread over GPUs by hand comes together on one."""
    places: dict[str, ast.expr] = {}
    for node in plan.nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and indexed_name(node):
            places.setdefault(node.value, node)
    if len(places) > 1:
        yield plan.program.diagnose(
            NAME, "warning", list(places.values())[1],
            sentence("the notebook uses %1 GPUs, but each process of the script has only one, which must hold "
                     "everything",
                     len(places)),
            help=sentence("if that is too much for one GPU, run the notebook's own code in one process"),
        )  # fmt: skip


def _left_behind(plan: Plan) -> Iterator[Diagnostic]:
    """A training before which nothing is moved: its model comes to the GPU of each process, and no batch does."""
    own = plan.uses_gpu and plan.framework is None  # which moves them itself
    unmoved = {o: home for o, home in plan.wrapping.homes.items() if not home.moved} if own else {}
    for model in plan.roles.models:
        ends = [end for call in model.forward_calls for end in _run_at(plan, call, frozenset())]
        before = [s.node for s in plan.kept if ends and plan.program.span(s.node)[0] <= min(ends)]
        if model.obj in unmoved and ends and not any(_moves(plan, n) for s in before for n in walk(s)):
            yield plan.program.diagnose(
                NAME, "warning", unmoved[model.obj].built,
                sentence("nothing is moved to a GPU before this model has been trained, as a later cell does it: on a "
                         "machine with GPUs its batches stay on the CPU, and the script stops"),
                help=sentence("move the model and its batches with .to(device)"),
            )  # fmt: skip


def _run_at(plan: Plan, node: ast.AST, seen: frozenset[ast.AST]) -> Iterator[int]:
    """Where statements of the cells begin that run it."""
    function = plan.program.function_of(node)
    if function is None:
        yield plan.program.span(node)[0]
    elif function not in seen:
        for call in plan.callers.get(function, ()):
            yield from _run_at(plan, call, seen | {function})


def _moves(plan: Plan, node: ast.AST) -> bool:
    """Or gives what may move: a device, or the whole matter to a library."""
    if not isinstance(node, ast.Call):
        return False
    name = qualified(node.func, plan.flow.imports) or ""
    attr = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    given = [*node.args, *(k.value for k in node.keywords)]
    named = any(k.arg == "device" for k in node.keywords)
    handed = not name.startswith("torch.device") and any(_is_gpu(plan, a) for a in given)
    return attr in ("to", "cuda", "prepare") or named or handed or name in DEFAULTS
