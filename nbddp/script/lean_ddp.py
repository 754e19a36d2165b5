"""Which wrapper a script needs: the short one where each use of the model can be seen and is one that it can answer.

A model is out of sight once it goes anywhere but into the script's own functions: a container, an attribute, a library.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from nbddp.script.model_names import SELF, ModelNames

UNLIKE = frozenset(  # attributes of DDP that are not those of the model, and methods that answer otherwise
    "named_parameters named_buffers named_modules named_children children modules apply get_submodule get_parameter "
    "get_buffer add_module register_module register_buffer register_parameter module device dim logger reducer join "
    "no_sync process_group gather scatter output_device device_ids device_type static_graph modules_buffers".split()
)
OWN = UNLIKE | SELF | {"parameters", "buffers", "state_dict", "load_state_dict", "zero_grad"}
HARMLESS = frozenset({"print", "id", "isinstance", "callable", "type"})
ITERATING = frozenset({"list", "tuple", "enumerate", "iter", "zip", "sum", "any", "all", "sorted", "map", "filter"})
SAVING = (("resumable", "state_dict"), ("epoch_done", "state_dict"), ("deliver", "state_dict"))
LOADING = (("resumable", "load_state_dict"), ("load_states", "load_state_dict"))


def ddp_requests(tree: ast.Module, parts: Mapping[str, str]) -> list[str]:
    """Requests for the wrapper; `parts` has the name in this script of each part."""
    known = ModelNames(tree, parts["DDP"])
    safe = {*parts.values(), *HARMLESS}
    if not _overrides(known) and all(_is_in_sight(model, known, safe) for model in known.models):
        return ["DDP:plain", *(f"DDP:plain.{method}" for method in sorted(_states(known, parts)))]
    return ["DDP", *sorted({f"DDP.{method}" for model in known.models for method in _as_sequence(model, known)})]


def _states(known: ModelNames, parts: Mapping[str, str]) -> set[str]:
    """Which of `state_dict` and `load_state_dict` something calls."""
    named = {node.id for node in known.nodes if isinstance(node, ast.Name)}
    called = {node.attr for node in known.nodes if isinstance(node, ast.Attribute)}
    called |= {method for part, method in (*SAVING, *LOADING) if parts[part] in named}
    return called & {"state_dict", "load_state_dict"}


def _overrides(known: ModelNames) -> bool:
    """Whether a class of the script has a method of its own where the wrapper has one, too."""
    methods = {
        n.name for n in known.nodes if isinstance(n, ast.FunctionDef) and isinstance(known.around[n], ast.ClassDef)
    }
    return bool(methods & OWN)


def _is_in_sight(model: ast.expr, known: ModelNames, safe: set[str]) -> bool:
    node = known.around[model]
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and node.attr not in UNLIKE
    if isinstance(node, ast.Compare):
        return not any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
    if isinstance(node, ast.Return):
        return bool(known.maker(model))
    if isinstance(node, ast.Expr) or (isinstance(node, ast.Call) and node.func is model):
        return True
    while isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.keyword):  # what a part is given
        node = known.around[node]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in safe:
        return True
    return known.parameters(model) is not None


def _as_sequence(model: ast.expr, known: ModelNames) -> Iterator[str]:
    node = known.around[model]
    if isinstance(node, ast.Subscript) and node.value is model:
        yield "__getitem__"
    elif isinstance(node, ast.For | ast.comprehension | ast.Starred):
        yield "__iter__"
    elif isinstance(node, ast.Compare):
        yield from ["__contains__"] if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops) else []
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield from ["__len__"] if node.func.id == "len" else ["__iter__"] if node.func.id in ITERATING else []
