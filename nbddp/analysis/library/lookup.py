"""What is known of a name: `torch.randn`, `len`; of a method by its name behind a dot: `.sum`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from nbddp.analysis.library import methods, numpy, others, python, torch
from nbddp.analysis.library.ops import Effect, Op, Samples, indexed, said_of
from nbddp.analysis.syntax import qualified

ENTRIES = indexed(torch.OPS, numpy.OPS, python.OPS, others.OPS)
BUILTINS = indexed(python.BUILTINS)
METHODS = indexed(methods.METHODS)
NO_IMPORTS: Mapping[str, str] = {}
NOTHING = Op(Effect.UNKNOWN, Samples.EACH)
# Their functions do to samples what methods of the same name do.
OF_TENSORS = ("torch", "numpy", "einops", "torchvision")
# Modules that compute and learn nothing.
PLAIN = ("ReLU", "GELU", "SiLU", "ELU", "Dropout", "Pool", "Softmax", "Softplus", "Sigmoid", "Tanh", "Flatten", "Loss",
         "Identity", "Upsample", "Unfold", "Fold", "Pad", "Distance", "Similarity", "Shuffle", "Rearrange",
         "Reduce")  # fmt: skip


def entry_of(node: ast.AST, imports: Mapping[str, str] = NO_IMPORTS) -> Op:
    """Of what is called, or looked up: a function by its whole name, a method or a field by its last word."""
    named = node.func if isinstance(node, ast.Call) else node
    if not isinstance(named, ast.Attribute | ast.Name):
        return NOTHING
    return effect_of(qualified(named, imports) or (f".{named.attr}" if isinstance(named, ast.Attribute) else ""))


@functools.lru_cache(maxsize=8192)
def effect_of(name: str) -> Op:
    """The entry; what nobody says of a function may change anything, and takes each sample for itself."""
    around, dot, word = name.rpartition(".")
    if dot and not around:
        return said_of(NOTHING, METHODS.get(word, Op()))
    own = BUILTINS.get(name) or functools.reduce(said_of, _inherited(name), Op())
    op = said_of(NOTHING, _named(name, around, own, METHODS.get(word, Op())))
    return replace(op, fresh=not is_class(name) and bool(op.reads if op.fresh is None else op.fresh))


def _inherited(name: str) -> Iterator[Op]:
    """What is said of the modules around, the outermost first, and of the name itself."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        yield replace(ENTRIES.get(".".join(parts[:end]), Op()), samples=None, gives=None)
    for key in (f"{name.partition('_')[0]}_*", name):  # `torch.set_*`
        yield ENTRIES.get(key, Op())


def _named(name: str, around: str, op: Op, method: Op) -> Op:
    """What the name itself tells: `torch.add_`, `pandas.DataFrame.to_csv`, `numpy.std`."""
    constant = around.rpartition(".")[2].isupper()
    if around in (*BUILTINS, "numpy.ndarray") or (is_class(around) and not constant):
        op = said_of(op, replace(method, samples=None))
    if name.startswith(tuple(f"{root}." for root in OF_TENSORS)):
        fresh = bool(method.fresh) if method.effect else None
        alike = replace(method, effect=None, fresh=fresh, draws=None, display=None, bar=None)
        op = said_of(alike, op)
    if op.effect is None and method.ambient:
        op = said_of(op, Op(Effect.WORLD))
    changes = name.endswith("_") or (name.startswith("numpy.") and name.endswith(".at"))  # `numpy.add.at`
    return said_of(op, Op(Effect.CHANGES)) if changes and not op.ambient else op


def is_class(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper()


def makes(name: str) -> str:
    """The kind of thing that comes of a call; nothing where it is a value, or not known."""
    op, word = effect_of(name), name.rpartition(".")[2]
    if name.endswith((".DataLoader", ".DataListLoader")):
        return "loader"
    if word.startswith("get_") and "schedule" in word:
        return "scheduler"
    if name.startswith("torch.nn.") and word.removesuffix("2d").endswith("Loss"):
        return "loss"
    if name.startswith("torch.utils.data.") and word.endswith("Sampler"):
        return "sampler"
    if name.startswith("torchvision.models.") and ("Weights" in name or word == "DEFAULT"):
        return ""
    return op.makes or (op.classes if is_class(name) else "") or ("model" if _is_transformer(name, word) else "")


def _is_transformer(name: str, word: str) -> bool:
    if not name.startswith("transformers."):
        return False
    if word == "from_pretrained":
        return any(part in name for part in ("Model", "For", "LMHead")) and "Tokenizer" not in name
    return word.endswith("Model") or "For" in word


def filled(name: str, *, sized: bool) -> str:
    """`torch.FloatTensor(n, 8)` has that size, `torch.FloatTensor(rows)` those numbers."""
    typed = name.startswith("torch.") and name.count(".") == 1 and name.endswith("Tensor")
    return ("torch.zeros" if sized else "torch.tensor") if typed else name


def learns(name: str) -> bool:
    """May a module of a library have parameters?"""
    word = name.rpartition(".")[2]
    plain = any(part in word for part in PLAIN) and word not in ("PReLU", "AdaptiveLogSoftmaxWithLoss")
    return not (name.startswith(("torch.nn.", "einops.layers.")) and plain)
