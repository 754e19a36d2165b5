"""Samples of unlike lengths one behind the other: of such a tensor no part is that of some samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.origins.made_by import made_by, returned
from nbddp.analysis.syntax import qualified

JOINING = ("torch.cat", "torch.concat", "torch.concatenate", "numpy.concatenate")


def strung(plan: Reading) -> frozenset[str]:
    """Names of what a loader's own `collate_fn` gives so: `return torch.cat(texts), offsets, labels`."""
    targets = [n for n in plan.nodes() if isinstance(n, ast.Tuple) and isinstance(n.ctx, ast.Store)]
    found = set[str]()
    for given in _collated(plan):
        places = [at for at, part in enumerate(given.elts) if any(_joins(plan, made) for made in made_by(plan, part))]
        alike = [target for target in targets if places and len(target.elts) == len(given.elts)]
        found |= {name.id for t in alike for at in places if isinstance(name := t.elts[at], ast.Name)}
    return frozenset(found)


def _collated(plan: Reading) -> Iterator[ast.Tuple]:
    for loader in plan.assumed.alike:
        made = returned(plan, loader.node) if isinstance(loader.node, ast.Call) else ()
        yield from (value for value in made if isinstance(value, ast.Tuple))


def _joins(plan: Reading, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and qualified(node.func, plan.flow.imports) in JOINING
