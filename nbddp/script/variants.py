"""Which of its variants a part is copied in: a shorter one, where what the notebook does needs no more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from nbddp.analysis import Plan
from nbddp.analysis.agreement import KINDS
from nbddp.analysis.loaders import LoaderCall, dataset_value, loader_call
from nbddp.edits import Edit
from nbddp.rules.seed.draws_of_data import FOR_DATA
from nbddp.rules.seed.numpy_noise import FROM_NUMPY
from nbddp.script.in_order import draws_in_order
from nbddp.script.names_of_torch import has_names_of_torch

# What the short DDP passes on as the model would, or what DDP and the model do alike.
PLAIN = frozenset(
    """
    parameters train eval state_dict load_state_dict to cuda cpu zero_grad training double float half requires_grad_
    """.split()
)


def requests(plan: Plan, edits: Sequence[Edit], wanted: Iterable[str]) -> list[str]:
    """The names of parts, with the variant to copy."""
    names = {name.partition("__")[0] for name in wanted}
    found = []
    for name in sorted(names):
        if name == "sum_over_ranks" and (kind := _widest(edits)) != "anything":
            found.append(f"{name}:{kind}")
        elif name == "mean_over_ranks" and _only_lists(edits):
            found.append("mean_over_ranks:lists")
        elif name in ("share_of", "gather_in_order") and _only_in_order(plan):
            plain = name == "share_of" and _nothing_but_batches(plan)
            found.append(f"{name}:{'plain' if plain else 'in_order'}")
        elif name in ("sharded", "sum_over_shares", "is_share") and _only_plain_shares(plan, edits):
            bare = name == "sharded" and all(map(_says_no_more, _shared(plan)))
            found.append(f"{name}:{'bare' if bare else 'plain'}")
        elif name == "own_random_numbers":
            kinds = {FROM_NUMPY: "numpy", FOR_DATA: "data"}
            kind = next((k for use, k in kinds.items() if any(use in e.uses for e in edits)), "")
            found.append(f"{name}:{kind}" if kind else name)
        elif name == "sync_batchnorm" and plan.options.exact:
            found.append(f"sync_batchnorm:{'joined' if plan.assumed.joined else 'exact'}")
        elif name == "my_part" and (kind := _part_of_batches(plan, edits)):
            found.append(f"my_part:{kind}")
        elif name == "DDP" and not plan.wrapping.stands_for:
            found += ["DDP:both"] if plan.wrapping.evaluates else []  # else it is torch's own class
        elif name == "DDP" and _needs_little(plan):
            found += ["DDP:plain.state_dict", "DDP:plain.load_state_dict"]
        elif name == "DDP":
            found += ["DDP", "DDP.__len__", "DDP.__getitem__", "DDP.__iter__"]  # of a Sequential, say
            found += ["DDP.__dir__", "DDP.__getattribute__"] if has_names_of_torch(plan) else []
        else:
            found.append(name)
    return found


def _part_of_batches(plan: Plan, edits: Sequence[Edit]) -> str:
    drawn = any("drawn_for_all" in e.uses for e in edits)
    return "exact" if drawn else "dim" if any(split.dim for split in plan.assumed.splits) else ""


def _widest(edits: Sequence[Edit]) -> str:
    """Of all that is added up; parts that add up themselves may be given anything."""
    uses = {use for edit in edits for use in edit.uses}
    if any("sum_over_ranks" in e.uses and not any(u.startswith("adds ") for u in e.uses) for e in edits):
        return "anything"
    kinds = [kind for kind in KINDS if f"adds {kind}" in uses]
    return kinds[-1] if kinds else "anything"


def _only_lists(edits: Sequence[Edit]) -> bool:
    """Is every mean that of a list of numbers?"""
    return all("lists of numbers" in e.uses for e in edits if "mean_over_ranks" in e.uses)


def _only_in_order(plan: Plan) -> bool:
    """Do all evaluation loaders draw their batches in the order of the data, and none a share?"""
    loaders = (obj for fact in plan.roles.evaluation_loops for obj in fact.loaders - plan.by_sample)
    return all(draws_in_order(plan, obj) for obj in loaders)


def _only_plain_shares(plan: Plan, edits: Sequence[Edit]) -> bool:
    """Do all loaders of the training draw single samples, in order or shuffled, a share of each batch?"""
    unsplit = any("split=False" in e.text for e in edits if e.rule == "sampler")
    own = any(s.how == "own sampler" for s in plan.sharding.shares.values())
    return not unsplit and not own and all(c is not None and _is_plain(plan, c) for c in _shared(plan))


def _shared(plan: Plan) -> list[LoaderCall | None]:
    """The loaders that get no sampler where they are built."""
    return [s.call for s in plan.sharding.shares.values() if s.how != "sampler"]


def _is_plain(plan: Plan, call: LoaderCall) -> bool:
    """A DataLoader of a data set with a length, without a sampler of its own, also where **kwargs say how it loads."""
    own = {"sampler", "batch_sampler"}
    holders = [plan.facts.value(k.value).of("dict") for k in call.node.keywords if k.arg is None]
    keys = {field for (owner, field) in plan.facts.fields for held in holders if owner in held}
    hidden = not all(held and all(isinstance(o.node, ast.Dict | ast.Call) for o in held) for held in holders)
    given = any(call.gives(name) for name in own) or any(f"['{name}']" in keys for name in own)
    stream = dataset_value(plan, call).of("iterable dataset")
    whole = "batch_size" in call.arguments and not call.gives("batch_size")
    known = call.obj not in plan.facts.classes and call.obj.name.endswith(".DataLoader") and len(call.node.args) <= 3
    return known and not (hidden or given or stream or whole)


def _nothing_but_batches(plan: Plan) -> bool:
    """Is the size of its batches all that is said of how an evaluation loader loads?"""
    loaders = (o for f in plan.roles.evaluation_loops for o in f.loaders - plan.by_sample)
    return all(_says_no_more(loader_call(plan, o)) for o in loaders)


def _says_no_more(call: LoaderCall | None) -> bool:
    known = {"dataset", "batch_size", "shuffle", "drop_last"}
    if call is None or not call.obj.name.startswith("torch.utils.data."):  # of a library: it may put together otherwise
        return False
    return call.arguments.keys() <= known and len(call.keywords) == len(call.node.keywords)


def _needs_little(plan: Plan) -> bool:
    """Is each model that DDP wraps only called, moved, switched, stepped and saved by its state?"""
    wrapped = plan.wrapping.stands_for
    if has_names_of_torch(plan):
        return False
    for node, value in plan.facts.values.items():
        if not isinstance(node, ast.Name | ast.Attribute) or not value.objs & wrapped:
            continue
        if node in plan.program.parents and not _in_class(plan, node) and not _used_plainly(plan, node):
            return False
    return True


def _in_class(plan: Plan, node: ast.AST) -> bool:
    """In its own methods a model is itself, not its wrapper."""
    return any(isinstance(a, ast.ClassDef) for a in plan.program.ancestors(node))


def _used_plainly(plan: Plan, node: ast.expr) -> bool:
    parent = plan.program.parents[node]
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return True
    match parent:
        case ast.Call(func=func) if func is node:
            return True
        case ast.Attribute(attr=attr, ctx=ast.Load()):
            return attr in PLAIN
        case ast.Call() | ast.keyword():
            call = parent if isinstance(parent, ast.Call) else plan.program.parents[parent]
            fact = plan.facts.calls.get(call) if isinstance(call, ast.Call) else None
            own = {o.kind for o in (fact.called | fact.made)} if fact else set()
            return bool(own) and own <= {"function"}
        case ast.Return() | ast.Assign():
            return True
    return False
