"""Data sets that are read one after another: whether every rank would read the same, so that they can be dealt out."""

from __future__ import annotations

import ast

from nbddp.analysis.library import effect_of
from nbddp.analysis.loaders.loader_calls import LoaderCall, dataset_value
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import Obj, Value
from nbddp.sentence import NOTHING, Sentence, sentence


def unfit_stream(plan: Reading, call: LoaderCall) -> Sentence:
    """Why the loader's stream cannot be dealt out; empty where it can, and where it is no stream."""
    for obj in dataset_value(plan, call).of("iterable dataset"):
        owner = plan.facts.classes.get(obj)
        if owner is None:
            return sentence("it reads an IterableDataset that is not defined in the notebook")
        if _draws_by_chance(plan, owner):
            return sentence(
                "it reads an IterableDataset that draws random numbers, so each rank would read different data"
            )
    return NOTHING


def is_stream(plan: Reading, loader: Obj) -> bool:
    """Does the loader read a stream, of which only some can say how long they are?"""
    return bool(plan.facts.fields.get((loader, "dataset"), Value()).of("iterable dataset"))


def _draws_by_chance(plan: Reading, node: ast.AST) -> bool:
    for inner in walk(node):
        if isinstance(inner, ast.Name | ast.Attribute):
            if effect_of(qualified(inner, plan.flow.imports) or "").draws:
                return True
    return False
