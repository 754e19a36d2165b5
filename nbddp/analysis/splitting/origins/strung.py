"""Samples of unlike lengths one behind the other: of such a tensor no part is that of some samples."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbddp.analysis.library import Samples, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import qualified

JOINING = ("torch.cat", "torch.concat", "torch.concatenate", "numpy.concatenate")


def strung(plan: Reading) -> frozenset[str]:
    """Names of what a loader's own `collate_fn` gives so: `return torch.cat(texts), offsets, labels`."""
    targets = [n for n in plan.nodes() if isinstance(n, ast.Tuple) and isinstance(n.ctx, ast.Store)]
    found = set[str]()
    for given in _collated(plan):
        made = [plan.bindings.made_by(part) for part in given.elts]
        places = [at for at, parts in enumerate(made) if any(_joins(plan, part) for part in parts)]
        alike = [target for target in targets if places and len(target.elts) == len(given.elts)]
        found |= {name.id for t in alike for at in places if isinstance(name := t.elts[at], ast.Name)}
    models = {plan.program.function_of(call) for call, fact in plan.facts.calls.items() if fact.in_forward} - {None}
    apart = [n for n in plan.nodes() if plan.program.function_of(n) not in models]  # whose names are others
    return frozenset(found | {*_packed(plan, apart)} | {*_of_a_list(plan, apart)})


def _of_a_list(plan: Reading, nodes: Iterable[ast.AST]) -> Iterator[str]:
    """`flat = torch.cat(texts[i : i + 10])`, where no loader gives the batch."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[given, *_]) as call):
                if qualified(call.func, plan.flow.imports) in JOINING and _lists_samples(plan, given):
                    yield name


def _lists_samples(plan: Reading, node: ast.expr) -> bool:
    """`texts[i : i + 10]`, `[texts[j] for j in chosen]`: a list of them as they are."""
    for made in plan.bindings.made_by(node):
        match made:
            case ast.Subscript(value=whole, slice=ast.Slice()) if plan.facts.value(whole).of("list"):
                return True
            case ast.ListComp(elt=ast.Subscript(value=whole)) if plan.facts.value(whole).of("list"):
                return True
    return False


def _packed(plan: Reading, nodes: Iterable[ast.AST]) -> Iterator[str]:
    """`targets = pack_padded_sequence(y, lengths)[0]`, and what a loader's own function has packed."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _packs(plan, value):
                yield name
            case ast.For(target=target, iter=loader):
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                for given in (n for o in plan.facts.value(loader).objs for n in plan.bindings.below(o.node)):
                    one = given.elts if isinstance(given, ast.Tuple) else [given]
                    pairs = zip(parts, one, strict=True) if len(parts) == len(one) else ()
                    yield from (p.id for p, made in pairs if isinstance(p, ast.Name) and _packs(plan, made))


def _packs(plan: Reading, node: ast.expr) -> bool:
    for made in plan.bindings.made_by(node):
        inner = made.value if isinstance(made, ast.Subscript | ast.Attribute) else made
        if any(isinstance(n, ast.Call) and entry_of(n, plan.flow.imports).packs for n in plan.bindings.made_by(inner)):
            return True
    return False


def _collated(plan: Reading) -> Iterator[ast.Tuple]:
    for loader in plan.assumed.alike:
        yield from (made for made in plan.bindings.below(loader.node) if isinstance(made, ast.Tuple))


def _joins(plan: Reading, node: ast.expr) -> bool:
    """`torch.cat(texts)`, and `texts.to(device)` of that."""
    waiting = [node]
    for one in waiting:
        if isinstance(one, ast.Call) and qualified(one.func, plan.flow.imports) in JOINING:
            return True
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            kept = entry_of(one).samples is Samples.KEEPS
            waiting += [made for made in plan.bindings.made_by(one.func.value) if kept and made not in waiting]
    return False
