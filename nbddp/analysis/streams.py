"""Data sets that are read one after another: whether every rank would read the same, so that they can be dealt out."""

from __future__ import annotations

import ast

from nbddp.analysis.domain import Obj, Value
from nbddp.analysis.imports import qualified
from nbddp.analysis.library import is_random
from nbddp.analysis.loader_calls import LoaderCall, dataset_value
from nbddp.analysis.plan import Plan
from nbddp.sentence import NOTHING, Sentence, sentence

CHANCE = ("random", "numpy.random", "secrets", "uuid")


def unfit_stream(plan: Plan, call: LoaderCall) -> Sentence:
    """Why the loader's stream cannot be dealt out; empty where it can, and where it is no stream."""
    for obj in dataset_value(plan, call).of("iterable dataset"):
        owner = plan.facts.classes.get(obj)
        if owner is None:
            return sentence("it reads a stream that is not defined in the notebook")
        if _draws_by_chance(plan, owner):
            return sentence("it reads a stream in which chance has a part, and every rank would read another one")
    return NOTHING


def is_stream(plan: Plan, loader: Obj) -> bool:
    """Does the loader read a stream, of which only some can say how long they are?"""
    return bool(plan.facts.fields.get((loader, "dataset"), Value()).of("iterable dataset"))


def _draws_by_chance(plan: Plan, node: ast.AST) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name | ast.Attribute):
            name = qualified(inner, plan.flow.imports) or ""
            if is_random(name) or name.split(".")[0] in CHANCE or name.startswith("numpy.random"):
                return True
    return False
