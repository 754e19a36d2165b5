"""What the cell has built in its processes, as objects of this kernel."""

from __future__ import annotations

import json
import marshal
import pickle
from collections.abc import Mapping
from functools import reduce
from types import FunctionType, SimpleNamespace
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.values import ANYTHING
from nbddp.magics.handover.definitions import defines
from nbddp.magics.handover.restoring import bare
from nbddp.magics.handover.start_state import KINDS, built_anew
from nbddp.run.folder.folder import RunFolder
from nbddp.run.watching.objects import MAIN, function_of, of_kernel


def write_names(folder: RunFolder, plan: Plan, namespace: Mapping[str, Any]) -> None:
    """Those that what comes back can mean by them; what the cell builds or computes anew, it does not find here."""
    cell = [s for s in plan.program.statements if s.cell.number == plan.training_cell]
    bound = {n for s in cell if not defines(s.node) for n in plan.flow.effects[s.index].may_bind}
    defined = {n for s in cell if defines(s.node) for n in plan.flow.effects[s.index].may_bind}
    computed = {n for n in bound if not plan.facts.final.get(n, ANYTHING).of("instance", *KINDS)}
    names = {n for n in namespace if n.isidentifier() and not n.startswith("_")} - computed | defined
    folder.kernel.write_text(json.dumps(sorted(names - built_anew(plan))), encoding="utf-8")


def read_objects(folder: RunFolder, namespace: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """By their names; or why they could not be made here."""
    if not folder.objects.exists():
        return {}, ""
    import torch

    place = None if torch.cuda.is_available() else "cpu"
    module = SimpleNamespace(Unpickler=_unpickler(namespace), load=pickle.load, __name__="pickle")
    try:
        return torch.load(folder.objects, place, pickle_module=module, weights_only=False), ""
    except Exception as error:  # noqa: BLE001 -- making objects runs the code of the user's own classes
        return {}, f"it could not be made here: {type(error).__name__}: {error}"


def _unpickler(namespace: Mapping[str, Any]) -> type[pickle.Unpickler]:
    def function(code: bytes, name: str, defaults: Any, cells: Any) -> FunctionType:
        return FunctionType(marshal.loads(code), namespace, name, defaults, cells)  # type: ignore[arg-type]

    def found(name: str, *path: str) -> Any:
        return reduce(getattr, path, bare(namespace[name]))

    own = {of_kernel.__name__: found, function_of.__name__: function}

    class Unpickler(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if module == of_kernel.__module__ and name in own:
                return own[name]
            if module in MAIN:  # the cells are this kernel's own
                first, *rest = name.split(".")
                return reduce(getattr, rest, namespace[first])
            return super().find_class(module, name)

    return Unpickler
