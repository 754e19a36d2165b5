"""Which statements seed a generator of random numbers, and which may draw from one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping

from nbddp.analysis.library import learns
from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.syntax import BUILTINS, qualified

TORCH, NUMPY, PYTHON = "torch", "numpy", "random"
ALL = frozenset({TORCH, NUMPY, PYTHON})
SEEDS = {
    "torch.manual_seed": {TORCH},
    "torch.random.manual_seed": {TORCH},
    "numpy.random.seed": {NUMPY},
    "random.seed": {PYTHON},
    "lightning.seed_everything": ALL,
    "pytorch_lightning.seed_everything": ALL,
    "transformers.set_seed": ALL,
}
DRAWS_TORCH = (
    "torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial", "torch.poisson", "torch.distributions.",
    "torch.nn.", "torch.utils.data.random_split", "torch.hub.", "torchvision.models.",
)  # fmt: skip
KNOWN = {"torch", "torchvision", "numpy", "sklearn", "pandas", "matplotlib", "tqdm", "PIL", *sys.stdlib_module_names}
FIXED = ("sklearn.datasets.load_", "sklearn.datasets.fetch_", "sklearn.preprocessing.", "sklearn.metrics.",
         "torch.nn.utils.clip_grad", "torch.nn.utils.rnn.")  # fmt: skip
OWN_STREAMS = ("numpy.random.default_rng", "numpy.random.Generator", "numpy.random.RandomState", "random.Random")
METHODS = frozenset("sample shuffle normal_ uniform_ random_ bernoulli_ exponential_ cauchy_ log_normal_".split())
GIVEN = ("generator", "random_state", "rng")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
CALLED_IN_PASSING = ("sklearn.model_selection.train_test_split",)


def seeds(plan: Reading, node: ast.stmt, definitions: Mapping[str, Definition]) -> frozenset[str]:
    """What a call of this statement surely seeds, or one of the statements in the function that it calls."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return frozenset()
    call = node.value
    name = qualified(call.func, plan.flow.imports) or ""
    if name in SEEDS and (call.args or call.keywords):
        return frozenset(SEEDS[name])
    own = definitions.get(getattr(call.func, "id", ""))
    found = [seeds(plan, s, {}) for s in own.body] if isinstance(own, ast.FunctionDef) else []
    return frozenset().union(*found)


def draws(plan: Reading, node: ast.AST, definitions: Mapping[str, Definition]) -> set[str]:
    """From which generators it may draw, in what it calls of the notebook as well."""
    found: set[str] = set()
    for part in with_what_it_calls(node, definitions):
        if isinstance(part, ast.Call):
            found |= _drawn_by(plan, part)
        elif isinstance(part, ast.For | ast.comprehension) and isinstance(part.iter, ast.Name | ast.Attribute):
            found.add(TORCH)  # a DataLoader draws a seed for its workers
        elif isinstance(part, ast.ClassDef) and any(_is_layer(plan, base) for base in part.bases):
            found.add(TORCH)
    return found


def surely_draws(plan: Reading, node: ast.AST, definitions: Mapping[str, Definition]) -> set[str]:
    """The same, of what is known: weights, samples, a batch of a loader."""
    found: set[str] = set()
    for part in with_what_it_calls(node, definitions):
        if isinstance(part, ast.Call):
            name = qualified(part.func, plan.flow.imports) or ""
            known = name.startswith((*DRAWS_TORCH, "numpy.random.", "random.")) or name in CALLED_IN_PASSING
            layer = not name.startswith("torch.nn.") or (name.rpartition(".")[2][:1].isupper() and learns(name))
            found |= _drawn_by(plan, part) if known and layer else set()
            begun = part.args[0] if name == "iter" and part.args else None
        else:
            begun = part.iter if isinstance(part, ast.For | ast.comprehension) else None
        if isinstance(begun, ast.Name) and begun.id in plan.facts.final and plan.facts.final[begun.id].of("loader"):
            found.add(TORCH)  # a seed for its workers, and an order
    return found


def with_what_it_calls(node: ast.AST, definitions: Mapping[str, Definition]) -> Iterator[ast.AST]:
    waiting, seen = [node], set[str]()
    while waiting:
        for part in ast.walk(waiting.pop()):
            yield part
            if isinstance(part, ast.Name) and part.id in definitions and part.id not in seen:
                seen.add(part.id)
                waiting.append(definitions[part.id])


def _is_layer(plan: Reading, base: ast.expr) -> bool:
    return (qualified(base, plan.flow.imports) or "").startswith("torch.nn.")


def _drawn_by(plan: Reading, call: ast.Call) -> set[str]:
    name = qualified(call.func, plan.flow.imports)
    if any(k.arg in GIVEN and not (isinstance(k.value, ast.Constant) and k.value.value is None) for k in call.keywords):
        return set()  # from a stream of its own
    if name is None or name.partition(".")[0] in BUILTINS:
        drawn = isinstance(call.func, ast.Attribute) and call.func.attr in METHODS
        return set(ALL) if drawn else set()
    return _drawn_by_library(name, bool(call.args or call.keywords))


def _drawn_by_library(name: str, arguments: bool) -> set[str]:
    if name in (*OWN_STREAMS, *SEEDS):
        return set() if arguments else {PYTHON}  # from which the script takes a seed for it
    if name.startswith(FIXED):
        return set()
    if name.partition(".")[0] not in KNOWN:
        return set(ALL)
    if name.startswith(DRAWS_TORCH):
        return {TORCH}
    if name.startswith(("numpy.random.", "sklearn.")):
        return {NUMPY}
    return {PYTHON} if name.startswith("random.") else set()
