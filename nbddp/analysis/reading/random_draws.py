"""Which statements seed a generator of random numbers, a library's or the notebook's own; which may draw from one."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping

from nbddp.analysis.library import Stream, effect_of, is_class, learns, makes
from nbddp.analysis.reading.loaders_named import DEPTH, begins, is_loader, makes_loader, values_of
from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.syntax import BUILTINS, handed, qualified, walk
from nbddp.analysis.values import ANYTHING, CallFact

TORCH, NUMPY, PYTHON = Stream.TORCH, Stream.NUMPY, Stream.PYTHON
ALL = frozenset({TORCH, NUMPY, PYTHON})
KNOWN = {"torch", "torchvision", "numpy", "sklearn", "pandas", "matplotlib", "tqdm", "PIL", *sys.stdlib_module_names}
FIXED = ("sklearn.datasets.load_", "sklearn.datasets.fetch_", "sklearn.preprocessing.", "sklearn.metrics.",
         "torch.nn.utils.clip_grad", "torch.nn.utils.rnn.")  # fmt: skip
GIVEN = ("generator", "random_state", "rng")
Source = Stream | str  # a generator of the notebook's own is known by its name
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
CALLED_IN_PASSING = ("sklearn.model_selection.train_test_split", "sklearn.datasets.make_")
SEEDING = ("manual_seed", "seed", "set_state", "setstate")
GOING_THROUGH = ("iter", "list", "tuple", "sorted", "sum", "dict", "set")
BUILDING = ("__init__", "__new__", "__post_init__")
AT_RANDOM = re.compile(r"^(torchvision\.transforms|albumentations)\.(.*\.)?(Random|ColorJitter|.*Aug)")
DROPPING = re.compile(
    r"ropout|\bnn\.Transformer|TransformerEncoderLayer|TransformerDecoderLayer|[Rr][Rr]e[Ll][Uu]|ractional_?[Mm]ax"
)
FEW = 16  # values that a name is followed back to
READING = ("initial_seed", "get_state", "getstate")


def seeds(plan: Reading, node: ast.stmt, definitions: Mapping[str, Definition]) -> frozenset[Source]:
    """What a call of this statement surely seeds, or one of the statements in the function that it calls."""
    if own_generator := seeded_generator(plan, node):
        return own_generator
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return frozenset()
    call = node.value
    name = qualified(call.func, plan.flow.imports) or ""
    if (stream := effect_of(name).seeds) and (call.args or call.keywords):
        return ALL if stream is Stream.ANY else frozenset({stream})
    own = definitions.get(getattr(call.func, "id", ""))
    found = [seeds(plan, s, {}) for s in own.body] if isinstance(own, ast.FunctionDef) else []
    return frozenset[Source]().union(*found)


def draws(plan: Reading, node: ast.AST, definitions: Mapping[str, Definition]) -> set[Source]:
    """From which generators it may draw, in what it calls of the notebook as well."""
    found = surely_draws(plan, node, definitions)
    for part in (p for n in _run_by(plan, node) for p in with_what_it_calls(n, definitions)):
        if isinstance(part, ast.Call):
            found |= _drawn_by(plan, part)
        elif isinstance(part, ast.For | ast.comprehension) and isinstance(part.iter, ast.Name | ast.Attribute):
            found.add(TORCH)  # a DataLoader draws a seed for its workers
        elif isinstance(part, ast.ClassDef) and any(is_layer(plan, base) for base in part.bases):
            found.add(TORCH)
    return found


def surely_draws(plan: Reading, node: ast.AST, definitions: Mapping[str, Definition]) -> set[Source]:
    """The same, of what is known: weights, samples, a batch of a loader."""
    found: set[Source] = set()
    for part in with_what_it_calls(node, definitions, built=True):
        if isinstance(part, ast.Call):
            name = qualified(part.func, plan.flow.imports) or ""
            layer = is_class(name) and learns(name) if name.startswith("torch.nn.") else makes(name) == "model"
            known = (
                layer
                or (effect_of(name).draws and not name.startswith("sklearn."))
                or name.startswith(CALLED_IN_PASSING)
            )
            known = known or (isinstance(part.func, ast.Attribute) and not name and bool(drawn_from(plan, part)))
            found |= _drawn_by(plan, part) if known else {TORCH} if _is_filled(plan, part) else set()
            found |= {TORCH} if not name and _changes_at_random(plan, part.func) else set()
            begun = part.args[0] if name in GOING_THROUGH and part.args else _next_of(part)
        else:
            begun = _gone_through(plan, part)
        if begun is not None and is_loader(plan, begun):
            found.add(TORCH)  # a seed for its workers, and an order
        for dataset in _looked_into(plan, part, begun, definitions):
            found |= drawn_for_items(plan, dataset, definitions)
    return found


def _changes_at_random(plan: Reading, func: ast.expr) -> bool:
    """`change(picture)`, of `changes = {"train": Compose([RandomCrop(8), …])}` and `change = changes["train"]`."""
    if not isinstance(func, ast.Name | ast.Subscript):
        return False
    made: list[ast.AST] = [func]
    for node in made:
        named = (n for n in walk(node) if isinstance(n, ast.Name))
        made += [v for n in named for v in values_of(plan, n) if v not in made][: FEW - len(made)]
    calls = (n for node in made for n in walk(node) if isinstance(n, ast.Call))
    return any(AT_RANDOM.search(qualified(call.func, plan.flow.imports) or "") for call in calls)


def _is_filled(plan: Reading, call: ast.Call) -> bool:
    """`prior.sample((64,))` of a distribution, `weights.normal_()`."""
    func = call.func
    if not isinstance(func, ast.Attribute) or effect_of(f".{func.attr}").draws is not TORCH:
        return False
    made = (n.func for n in values_of(plan, func.value) if isinstance(n, ast.Call))
    return func.attr.endswith("_") or any(effect_of(qualified(n, plan.flow.imports) or "").draws is TORCH for n in made)


def _looked_into(
    plan: Reading, part: ast.AST, begun: ast.expr | None, definitions: Mapping[str, Definition]
) -> Iterator[ast.expr]:
    """`dataset[0]`, `for x, y in dataset`; what a function does so with that is given it."""
    match part:
        case ast.Subscript(value=ast.Name() as base):
            yield base
        case ast.Call(func=ast.Name(id=name)) if isinstance(function := definitions.get(name), ast.FunctionDef):
            inner = [n.value if isinstance(n, ast.Subscript) else _gone_through(plan, n) for n in walk(function)]
            picked = {n.id for n in inner if isinstance(n, ast.Name)}
            yield from (given for parameter, given in handed(part, function) if parameter in picked)
    if begun is not None:
        yield from (begun, *_batched(plan, begun))


def _next_of(call: ast.Call) -> ast.expr | None:
    """`batches` of `next(batches)`."""
    by_name = isinstance(call.func, ast.Name) and call.func.id == "next"
    return call.args[0] if by_name and call.args and isinstance(call.args[0], ast.Name) else None


def _batched(plan: Reading, begun: ast.expr, depth: int = DEPTH) -> Iterator[ast.expr]:
    """The dataset of a loader, or of what goes through one."""
    for made in values_of(plan, begun) if depth else ():
        if isinstance(made, ast.Call) and made.args:
            first = made.args[0]
            yield from [first] if makes_loader(plan, made) else _batched(plan, first, depth - 1) if begins(made) else ()


def drawn_for_items(plan: Reading, node: ast.expr, definitions: Mapping[str, Definition]) -> set[Source]:
    """By the class of a dataset, or by what it is given to change its items."""
    final = plan.facts.final.get(node.id) if isinstance(node, ast.Name) else None
    kinds = ("dataset", "split", "instance")
    things = (final or ANYTHING).of(*kinds) | plan.facts.value(node).of(*kinds)
    made = [n for o in things for n in plan.bindings.made_of((o.owner or o).node)]
    names = {n.id for n in made if isinstance(n, ast.Name)} & definitions.keys()
    later = [s for name in names for s in definitions[name].body if getattr(s, "name", "") not in BUILDING]
    calls = [n for s in (*made, *later) for n in walk(s) if isinstance(n, ast.Call)]
    found = {TORCH for c in calls if AT_RANDOM.search(qualified(c.func, plan.flow.imports) or "")}
    inside = [n for s in later for n in walk(s) if isinstance(n, ast.Call)]
    return found.union(
        *(_drawn_by(plan, c) for c in inside if effect_of(qualified(c.func, plan.flow.imports) or "").draws)
    )


def _built(definition: Definition) -> list[ast.AST]:
    """Of a class, what is run where one of its things is made: `__getitem__` may draw, and is not."""
    later = {s for s in definition.body if isinstance(s, ast.FunctionDef) and s.name not in BUILDING}
    return [s for s in definition.body if s not in later] if isinstance(definition, ast.ClassDef) else [definition]


def _gone_through(plan: Reading, node: ast.AST) -> ast.expr | None:
    """`loader` of `for i, batch in enumerate(loader)`, whatever bar is around it."""
    begun = node.iter if isinstance(node, ast.For | ast.comprehension) else None
    while isinstance(begun, ast.Call) and begun.args and getattr(begun.func, "id", "") not in ("len", "range"):
        if makes_loader(plan, begun):
            break
        begun = begun.args[0]
    return begun


def may_drop(plan: Reading) -> bool:
    """Is there a layer of torch's that draws in training mode?"""
    return DROPPING.search(plan.program.text) is not None


def is_dropping(plan: Reading, call: ast.Call) -> bool:
    """`nn.Dropout(0.1)`, `nn.TransformerEncoderLayer(8, 2)`, `nn.LSTM(4, 4, 2, dropout=p)`."""
    given = next((k.value for k in call.keywords if k.arg in ("dropout", "dropout_p")), None)
    if isinstance(given, ast.Constant):
        return bool(given.value)
    return given is not None or _drops(qualified(call.func, plan.flow.imports) or "")


def drops_asleep(plan: Reading, fact: CallFact) -> bool:
    """In evaluation mode too: `nn.Dropout(0.2)(x)`, which is made where it is called, `F.dropout(x)`."""
    layers = (o.node for o in plan.facts.with_parts(fact.called) if _drops(o.name))
    made = (plan.facts.calls.get(node) for node in layers if isinstance(node, ast.Call))
    if any(m is not None and m.loops & fact.innermost for m in made):
        return True
    asked = fact.args.get(2) or fact.args.get("training") or fact.args.get("train")
    return any("dropout" in name for name in fact.names) and (asked is None or asked.const is True)


def _drops(name: str) -> bool:
    return DROPPING.search(name) is not None


def with_what_it_calls(
    node: ast.AST, definitions: Mapping[str, Definition], *, built: bool = False
) -> Iterator[ast.AST]:
    waiting, seen, asked = [node], set[str](), set[ast.AST]()
    while waiting:
        for part in walk(waiting.pop()):
            yield part
            match part:
                case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                    asked.update(walk(kinds))
            if isinstance(part, ast.Name) and part.id in definitions and part.id not in seen and part not in asked:
                seen.add(part.id)
                waiting += _built(definitions[part.id]) if built else [definitions[part.id]]


def _run_by(plan: Reading, node: ast.AST) -> list[ast.AST]:
    """It, and the methods of the notebook's objects that it runs, in whatever it calls: `loader.get_batch("train")`."""
    found = [node]
    for one in found:
        facts = (plan.facts.calls[n] for n in walk(one) if isinstance(n, ast.Call) and n in plan.facts.calls)
        found += {body for fact in facts for body in fact.bodies} - {*found}
    return found


def is_layer(plan: Reading, base: ast.expr) -> bool:
    return (qualified(base, plan.flow.imports) or "").startswith("torch.nn.")


def _drawn_by(plan: Reading, call: ast.Call) -> set[Source]:
    name = qualified(call.func, plan.flow.imports)
    if own := drawn_from(plan, call):
        return {*own}
    if any(k.arg in GIVEN and not (isinstance(k.value, ast.Constant) and k.value.value is None) for k in call.keywords):
        return set()  # from a stream of its own
    if name is None or name.partition(".")[0] in BUILTINS:
        drawn = effect_of(f".{call.func.attr}").draws if isinstance(call.func, ast.Attribute) else None
        return {*ALL} if drawn in (TORCH, Stream.ANY) else set()
    return _drawn_by_library(name, bool(call.args or call.keywords))


def _drawn_by_library(name: str, arguments: bool) -> set[Source]:
    op = effect_of(name)
    if op.seeds or (op.generator and op.draws):
        return set() if arguments else {Stream.PYTHON}  # from which the script takes a seed for it
    if name.startswith(FIXED):
        return set()
    if name.partition(".")[0] not in KNOWN:
        return {*ALL}
    if name.startswith("torch.nn.") or makes(name) == "model":
        return {TORCH}  # the first weights; `functional` has dropout
    return {op.draws} if op.draws in ALL else set()


# generators of the notebook's own, each a stream of numbers by its name -----------------
def seeded_generator(plan: Reading, node: ast.stmt) -> frozenset[str]:
    """The one that this statement makes, or sets back to a beginning: what follows is the same each time."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _makes(plan, value):
            return frozenset({name})
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=verb))) if verb in SEEDING:
            return frozenset({name}) & generators(plan)
    return frozenset()


def drawn_from(plan: Reading, call: ast.Call) -> set[str]:
    """`rng.normal(0, 1)`, `torch.randn(3, generator=g)`."""
    own = generators(plan)
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id in own:
        return set() if call.func.attr in SEEDING + READING else {call.func.value.id}
    given = [*call.args, *(k.value for k in call.keywords)]
    return {g.id for g in given if isinstance(g, ast.Name)} & own


def generators(plan: Reading) -> frozenset[str]:
    """Looked for once: that is asked of each call."""
    if generators not in plan.once:
        plan.once[generators] = frozenset(_made(plan))
    found: frozenset[str] = plan.once[generators]
    return found


def _made(plan: Reading) -> Iterator[str]:
    assigned = [s.node for s in plan.program.statements if isinstance(s.node, ast.Assign)]
    made = [n.targets[0] for n in assigned if _makes(plan, n.value)]
    yield from (t.id for t in made if isinstance(t, ast.Name))


def _makes(plan: Reading, value: ast.expr) -> bool:
    """With a seed, which torch's have anyway; also `torch.Generator().manual_seed(0)`."""
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr in SEEDING:
        return _makes(plan, value.func.value)
    name = qualified(value.func, plan.flow.imports)
    return name == "torch.Generator" or (bool(effect_of(name or "").generator) and bool(value.args or value.keywords))
