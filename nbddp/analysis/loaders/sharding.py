"""Which loaders are shared out among the ranks, in which way, and which loops run over shares."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from nbddp.analysis.loaders.loader_calls import LoaderCall, dataset_value, loader_call
from nbddp.analysis.loaders.shared_builder import can_be_asked
from nbddp.analysis.loaders.streams import unfit_stream
from nbddp.analysis.reading import Reading, trained_on
from nbddp.analysis.values import Loop, LoopFact, Obj, batch_at, loads_apart
from nbddp.sentence import NOTHING, Sentence, sentence

TRAINING = re.compile(r"(^|[^a-z])(train|trn|tr|training)([^a-z]|$)", re.IGNORECASE)
EVALUATION = re.compile(
    r"(^|[^a-z])(val|valid|validation|test|tst|eval|evaluation|dev|holdout)([^a-z]|$)", re.IGNORECASE
)

# A DistributedSampler as its argument; its own sampler or batch sampler shared out; the loader made anew where it is
# built, where the function that builds it is called, where that function is told to, or behind the dictionary that
# holds it; no loader at all, but a batch that is split where it has been drawn.
How = Literal["sampler", "own sampler", "own batches", "built", "called", "asked", "phase", "split", "unfit"]


@dataclass(frozen=True)
class Phase:
    """A loader in a dictionary by phase: `loaders["train"]`."""

    place: str  # loaders["train"]
    statement: ast.stmt  # that fills the dictionary


@dataclass(frozen=True, eq=False)
class Share:
    """How one training loader is shared out."""

    obj: Obj
    how: How
    call: LoaderCall | None = None
    phase: Phase | None = None
    reason: Sentence = NOTHING  # where it is unfit


@dataclass(frozen=True, eq=False)
class Sharding:
    shares: Mapping[Obj, Share]
    mixed: frozenset[Loop]  # loops over a shared loader in one turn and over a whole one in another
    # Loops of which it is not clear on what they train; and those of them that are taken to train on all of it.
    unclear: Mapping[Loop, frozenset[Obj]] = field(default_factory=dict)
    on_all: frozenset[Loop] = frozenset()

    @property
    def loaders(self) -> frozenset[Obj]:
        return frozenset(self.shares)


@dataclass(frozen=True, eq=False)
class ShardedReading(Reading):
    """A reading with its loaders decided on: what further decisions about loaders and files start from."""

    @cached_property
    def sharding(self) -> Sharding:
        return find_sharding(self)


def find_sharding(plan: Reading) -> Sharding:
    sharded: set[Obj] = set()
    mixed: set[Loop] = set(plan.assumed.mixed)
    unclear: dict[Loop, frozenset[Obj]] = {}
    on_all: set[Loop] = set()
    for fact in plan.roles.batch_loops:
        trained = (trained_on(fact) or set(fact.perhaps)) - plan.assumed.unshared
        by_phases = trained & fact.next_of & fact.watched  # `if step == 0: it = iter(loader)`
        drawn = {o for o in trained if o == batch_at(o.node)}
        if len(trained - drawn) > 1 and (trained & fact.perhaps or by_phases):
            named = _named_for_training(plan, fact, trained)
            if not named:
                unclear[fact.node] = frozenset(trained)
            elif named != trained:
                mixed.add(fact.node)
            elif any(not _is_named(plan, fact, o, TRAINING) for o in trained):
                unclear[fact.node] = frozenset(trained)
                on_all.add(fact.node)
            trained = named or trained
        sharded |= trained
    shares = {obj: _share(plan, obj, sharded) for obj in sorted(sharded, key=_place)}
    return Sharding(shares, frozenset(mixed), unclear, frozenset(on_all))


def _place(obj: Obj) -> tuple[int, int, str]:
    return getattr(obj.node, "lineno", 0), getattr(obj.node, "col_offset", 0), obj.owner.name if obj.owner else ""


def _named_for_training(plan: Reading, fact: LoopFact, loaders: set[Obj]) -> set[Obj]:
    """Of several loaders that one loop runs over, those on which it trains, by their names; none where that is open."""
    training = {o for o in loaders if _is_named(plan, fact, o, TRAINING)}
    evaluation = {o for o in loaders - training if _is_named(plan, fact, o, EVALUATION)}
    if not evaluation:
        return loaders
    return training if training | evaluation == loaders else set()


def _is_named(plan: Reading, fact: LoopFact, obj: Obj, kind: re.Pattern[str]) -> bool:
    return any(kind.search(name) for name in loader_names(plan, fact, obj))


def loader_names(plan: Reading, fact: LoopFact, obj: Obj) -> set[str]:
    names = {n for n, v in fact.names.items() if v.of("loader") == {obj}}
    for other in plan.roles.epoch_loops:
        names |= {n for n, v in other.names.items() if v.of("loader") == {obj}}
    names |= {n for n, v in plan.facts.final.items() if v.of("loader") == {obj}}
    keys = {field[2:-2] for (owner, field), v in plan.facts.fields.items()
            if owner.kind == "dict" and field.startswith("['") and obj in v.objs}  # fmt: skip
    return names | keys


# in which way ----------------------------------------------------------------------
def _share(plan: Reading, obj: Obj, sharded: set[Obj]) -> Share:
    if obj == batch_at(obj.node):
        return Share(obj, "split")
    if obj.owner is not None and obj.owner.kind == "foreign":
        return _foreign(plan, obj, obj.owner)
    call = loader_call(plan, obj)
    if call is None or _iterates_itself(plan, obj):
        return Share(obj, "unfit", call, reason=sentence("it is a custom loader"))
    if reason := unfit_stream(plan, call):
        return Share(obj, "unfit", call, reason=reason)
    if loads_apart(plan.facts, obj):
        reason = sentence("what it loads is chosen by what each rank has found in its own samples")
        return Share(obj, "unfit", call, reason=reason)
    others = [o for o in _built_alike(plan, obj) if o not in sharded]
    if others:
        return _apart_from(plan, obj, call, others)
    return Share(obj, _how(plan, call), call)


def _foreign(plan: Reading, obj: Obj, made: Obj) -> Share:
    """Shared out where it gets its name, by what it turns out to be there."""
    call = loader_call(plan, made)
    written = replace(call, obj=obj, arguments={n: k.value for n, k in call.keywords.items()}) if call else None
    place = Phase(plan.program.source(obj.node), plan.program.statement_of(obj.node))
    return Share(obj, "phase", written, place)


def _iterates_itself(plan: Reading, obj: Obj) -> bool:
    owner = plan.facts.classes.get(obj)
    return owner is not None and any(isinstance(p, ast.FunctionDef) and p.name == "__iter__" for p in owner.body)


def _built_alike(plan: Reading, obj: Obj) -> Iterator[Obj]:
    """Loaders that the same call builds at other times: in a function called twice, in a comprehension."""
    seen = {o for f in plan.facts.loops.values() for o in f.loaders | f.next_of}
    yield from (o for o in seen if o.node is obj.node and o != obj)


def _apart_from(plan: Reading, obj: Obj, call: LoaderCall, others: list[Obj]) -> Share:
    """One call builds loaders for training and others: only the former is shared out, after it was built."""
    if obj.owner is not None and obj.owner.kind == "turn":
        place = _in_dictionary(plan, obj)
        if place is not None:
            return Share(obj, "phase", call, place)
    elif isinstance(obj.site, ast.Call) and all(o.site is not obj.site for o in others):
        if plan.facts.value(obj.site).objs == {obj}:
            return Share(obj, "called", call)
        if can_be_asked(plan, obj, call):
            return Share(obj, "asked", call)
    also = sentence("the same call also creates the DataLoaders for evaluation")
    return Share(obj, "unfit", call, reason=also)


def _in_dictionary(plan: Reading, obj: Obj) -> Phase | None:
    """`{x: DataLoader(…) for x in ["train", "val"]}`, assigned to a variable."""
    statement = plan.program.statement_of(obj.node)
    inside = any(isinstance(a, ast.DictComp) for a in plan.program.ancestors(obj.node))
    if not inside or not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.DictComp):
        return None
    target = statement.targets[0]
    assert obj.owner is not None
    if not isinstance(target, ast.Name | ast.Attribute) or statement.value.key is not _turn_variable(statement.value):
        return None
    key = obj.owner.name.replace("'", '"') if '"' not in obj.owner.name else obj.owner.name
    return Phase(f"{plan.program.source(target)}[{key}]", statement)


def _turn_variable(node: ast.DictComp) -> ast.expr | None:
    """The key, where it is the variable of the only loop, or the key of `sets.items()`."""
    target = node.generators[0].target
    target = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    same = isinstance(target, ast.Name) and isinstance(node.key, ast.Name) and node.key.id == target.id
    return node.key if same and len(node.generators) == 1 else None


def _how(plan: Reading, call: LoaderCall) -> How:
    if (
        call.obj in plan.facts.classes
        or not call.plain
        or len(call.node.args) > 3
        or call.obj.name.endswith("ListLoader")
    ):
        return "built"
    if dataset_value(plan, call).of("iterable dataset"):
        return "built"
    if call.gives("batch_sampler"):
        return "own batches" if plan.facts.value(call.arguments["batch_sampler"]).objs else "built"
    if call.gives("sampler"):
        return "own sampler" if _is_sampler(plan, call) else "built"
    dataset = call.arguments.get("dataset")
    return "sampler" if stands_twice(dataset) or can_be_named(plan, call) else "built"


def can_be_named(plan: Reading, call: LoaderCall) -> bool:
    """Can what it loads get a line of its own before it? It is what the statement computes first, on one line."""
    dataset = call.arguments.get("dataset")
    first = [*call.node.args, *(k.value for k in call.node.keywords)][:1]
    return call.name is not None and wants_a_name(dataset) and [dataset] == first and "\n" not in _text(plan, dataset)


def _text(plan: Reading, node: ast.expr | None) -> str:
    return plan.program.source(node) if node is not None else ""


def _is_sampler(plan: Reading, call: LoaderCall) -> bool:
    """Surely one, and not None on some path as in `sampler=sampler, shuffle=sampler is None`."""
    value = plan.facts.value(call.arguments["sampler"])
    return bool(value.objs) and value.const is None and not call.gives("shuffle")


def wants_a_name(node: ast.expr | None) -> bool:
    """`TensorDataset(x, y)`: built in the call; with a name it need not be built twice."""
    return node is not None and not stands_twice(node) and not isinstance(node, ast.Starred)


def stands_twice(node: ast.expr | None) -> bool:
    """May the expression stand twice: a name, an attribute, an item?"""
    match node:
        case ast.Attribute(value=value) | ast.Subscript(value=value, slice=ast.Name() | ast.Constant()):
            return stands_twice(value)
    return isinstance(node, ast.Name)
