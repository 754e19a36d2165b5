"""One cell that trains in the kernel: what is there for it while it runs, and gone when it has ended."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.state import made_here
from nbddp.inkernel.edits import NAME, trained_methods
from nbddp.inkernel.functions import Watched
from nbddp.inkernel.live_objects import find
from nbddp.inkernel.order import Orders
from nbddp.inkernel.placing import device_names, place
from nbddp.inkernel.printed import overhear
from nbddp.inkernel.progress import Progress
from nbddp.rules import report
from nbddp.run.watching.errors import cut, words_of

MISSING = object()


@dataclass(frozen=True)
class Wanted:
    """What is to be done beside running the cell: all of it known before anything starts."""

    plan: Plan
    functions: Sequence[Watched] = ()
    device: str | None = None  # another than the notebook's
    devices: tuple[str, ...] | None = None  # those of nn.DataParallel; None: no nn.DataParallel

    @property
    def sums(self) -> list[str]:
        """Of the numbers of an epoch those that the cell divides."""
        return sorted({name for _, watch in report.watched(self.plan) for name in watch.sums})


class Training:
    """Begins with the cell's first statement and ends with the cell, however that ends."""

    def __init__(self, progress: Progress, namespace: dict[str, Any]) -> None:
        self.progress = progress
        self.namespace = namespace
        self._undo = ExitStack()

    def begin(self, wanted: Wanted) -> None:
        """The kernel's objects as the cell needs them."""
        from nbddp.inkernel.parallel import Models

        orders, models = Orders(), Models(wanted.devices or (), self._say)
        self._undo.callback(orders.undo)
        self._undo.callback(models.undo)
        self._place(wanted)
        self._bind(_words(self.progress, orders, models.add, wanted.device))
        for watched in wanted.functions:
            self._undo.callback(setattr, watched.function, "__code__", watched.function.__code__)
            watched.function.__code__ = watched.code
        order_live(wanted.plan, self.namespace, orders)
        if wanted.devices is not None:
            self._split_live(wanted.plan, models.add)
        self._undo.callback(overhear(self.progress.printed))

    def undo(self) -> None:
        """Everything as it was before."""
        self._undo.close()

    def end(self, error: BaseException | None) -> None:
        """Undo, and say how it ended."""
        self.undo()
        self.progress.catch_up()
        put = self.progress.put
        if error is None:
            put("end")
            put("exit", status=0)
            return
        if isinstance(error, KeyboardInterrupt):
            put("stopping", grade="now")
        else:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            put("error", type=type(error).__name__, message=words_of(error), text=cut(text))
        put("exit", status=1)

    def _say(self, message: str) -> None:
        self.progress.put("warning", rank=None, message=message)

    def _bind(self, words: object) -> None:
        before = self.namespace.get(NAME, MISSING)
        self.namespace[NAME] = words

        def undo() -> None:
            if before is MISSING:
                self.namespace.pop(NAME, None)
            else:
                self.namespace[NAME] = before

        self._undo.callback(undo)

    def _place(self, wanted: Wanted) -> None:
        if wanted.device is not None:
            names = device_names(wanted.plan, self.namespace)
            self._undo.callback(place(wanted.device, names, self.namespace, live_state(wanted.plan, self.namespace)))

    def _split_live(self, plan: Plan, add: Callable[..., None]) -> None:
        for model in plan.roles.models:
            live = None if made_here(plan, model.obj) else find(plan, self.namespace, model.obj)
            if live is not None:
                add(live, *trained_methods(plan, model))


def _words(progress: Progress, orders: Orders, parallel: Callable[..., None], device: str | None) -> SimpleNamespace:
    """What the edits of the cell name."""
    words = SimpleNamespace(
        report_step=progress.report_step,
        report_epoch=progress.report_epoch,
        epochs=progress.epochs,
        epoch_begins=progress.epoch_begins,
        epoch_done=progress.epoch_done,
        set_epoch=orders.set_epoch,
        sharded=orders.sharded,
        reshuffled=orders.reshuffled,
        parallel=parallel,
    )
    if device is not None:
        import torch

        words.rank_device = torch.device(device)
    return words


def order_live(plan: Plan, namespace: Mapping[str, Any], orders: Orders) -> None:
    """Loaders that are there already, in the order in which a script builds them."""
    for share in plan.sharding.shares.values():
        if share.how not in {"sampler", "built", "called", "phase"} or made_here(plan, share.obj):
            continue
        loader = find(plan, namespace, share.obj)
        if loader is None:
            continue
        if share.how != "sampler" or share.obj in plan.epochs.rebuilt:
            orders.sharded(loader)
        elif share.obj in plan.epochs.reshuffled:
            orders.reshuffled(loader, plan.epochs.seeds.get(share.obj, 0))
        else:
            orders.set_epoch(loader, 0, plan.epochs.seeds.get(share.obj, 0))


def live_state(plan: Plan, namespace: Mapping[str, Any]) -> list[Any]:
    """Models, then optimizers, which are there already."""
    objs = [m.obj for m in plan.roles.models] + list(plan.roles.optimizers)
    return _unique(find(plan, namespace, obj) for obj in objs if not made_here(plan, obj))


def _unique(things: Iterable[Any]) -> list[Any]:
    return list({id(thing): thing for thing in things if thing is not None}.values())
