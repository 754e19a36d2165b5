"""Graphs join samples to each other, by name, by a library or in a sparse tensor, so that no part is one alone."""

from __future__ import annotations

import ast
import re

from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import Region, is_split, region_at, run_by
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import Obj, Split, is_read

OF_SPARSE = ("indices", "_indices", "_values", "coalesce", "crow_indices", "col_indices")
GRAPH = re.compile(r"(^|_)(adj|adjacency|edge_index|edges?|laplacian)(_|$)", re.IGNORECASE)


def edges_of(plan: Reading, split: Split) -> str | None:
    """`model(x, adj)`: what names the edges, or the function of a library that works on them."""
    for node in plan.nodes():
        name = qualified(node, plan.flow.imports) if isinstance(node, ast.Attribute | ast.Name) else None
        if name is not None and effect_of(name).graph:
            return name
    own = _items_of_samples(plan, split)
    for statement in region_at(plan, split.at).rest:
        for call in walk(statement):
            for given in call.args if isinstance(call, ast.Call) else ():
                word = given.attr if isinstance(given, ast.Attribute) else getattr(given, "id", "")
                # not of a batch of that name
                alone = getattr(call, "args", []) == [given] and plan.program.source(given) == split.total
                if (
                    GRAPH.search(word)
                    and plan.program.source(given) not in own
                    and not (alone and _is_read(plan, call))
                ):
                    return plan.program.source(given)
    return None


def _items_of_samples(plan: Reading, split: Split) -> frozenset[str]:
    """`for adj, x, y in loader`, where torch puts samples together: each of them has a graph of its own."""
    for loop in plan.program.ancestors(split.at):
        if isinstance(loop, ast.For):
            loaders = {o for n in walk(loop.iter) for o in plan.facts.value(n).of("loader")}
            if loaders and all(_puts_together(plan, loader) for loader in loaders):
                return frozenset(n.id for n in walk(loop.target) if isinstance(n, ast.Name))
    return frozenset()


def _puts_together(plan: Reading, loader: Obj) -> bool:
    """As torch does, sample by sample: not by a function of its own, nor as a library for graphs."""
    torchs = loader.name.startswith("torch.utils.data.")
    return torchs and plan.facts.fields.get((loader, "collate_fn")) is None


def _is_read(plan: Reading, call: ast.AST) -> bool:
    """Is it seen what the model does that is called?"""
    fact = plan.facts.calls.get(call) if isinstance(call, ast.Call) else None
    return fact is None or all(is_read(plan.facts, o) for o in fact.called)


def is_of_a_graph(plan: Reading) -> bool:
    """Inside of models: by a library, or given to code that is not read."""
    calls = plan.facts.calls.values()
    given = (f for f in calls if any(GRAPH.search(getattr(a, "id", "")) for a in f.node.args))
    by_library = any(effect_of(name).graph for f in calls for name in f.names)
    return by_library or any(not _is_read(plan, f.node) for f in given)


def read_from_sparse(region: Region) -> ast.Call | None:
    """`ratings.indices()`, `ratings.coalesce()`, of what is split."""
    calls = (n for s in region.rest for n in run_by(region.plan, s) if isinstance(n, ast.Call) and not n.args)
    methods = (c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in OF_SPARSE)
    return next((c for c in methods if isinstance(c.func, ast.Attribute) and is_split(region.plan, c.func.value)), None)
