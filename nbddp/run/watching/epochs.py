"""Loops over epochs: where each begins from, and what happens at the end of each epoch."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nbddp.run.watching.batches import Batches, Values
from nbddp.run.watching.carried import NOTHING, changed, comparable, in_place_of, put_back, remembered
from nbddp.run.watching.checkpoints import carried_in, names_in, read_checkpoint, save_checkpoint
from nbddp.run.watching.gradients import any_rank, compare_after_first_step, same_on_all_ranks
from nbddp.run.watching.pausing import pause
from nbddp.run.watching.plain_values import bare, plain
from nbddp.run.watching.progress import Progress
from nbddp.run.watching.random_numbers import set_random_state
from nbddp.run.watching.settings import Settings
from nbddp.run.watching.sharded import load_fitting, load_state

State = Mapping[str, Any]  # models, optimizers and schedulers by the names that the loop has for them


class Epochs:
    """The training loops of one process, in the order in which it comes to them."""

    def __init__(self, settings: Settings, progress: Progress) -> None:
        self.settings, self.progress = settings, progress
        self.batches = Batches(settings, progress, self._left_before)
        self.loop = 0  # the number of the one that runs, from 1
        self.state: State = {}
        self.stop = self.pause = False
        self._begun: set[str] = set()  # names whose state has been loaded
        self._things: Mapping[str, Any] = {}
        self._things_at_first: dict[str, dict[str, bytes]] = {}
        self._left: Mapping[str, Any] | None = None  # what cells before have left, once it has been read
        self._hooks_off: Callable[[], None] = lambda: None

    def carry(self, values: Mapping[str, Any], things: Mapping[str, Any]) -> list[Any]:
        """What the loop that follows is to begin with, in place of what it would."""
        saved = carried_in(self._source(), self.loop + 1)
        self._things = things
        if self.settings.checkpoint:
            self._things_at_first = {name: comparable(remembered(thing)) for name, thing in things.items()}
        for name in things.keys() & saved.keys():
            put_back(things[name], saved[name])
        return [in_place_of(value, saved[name]) if name in saved else value for name, value in values.items()]

    def unbound(self, name: str) -> Any:
        """The value of a name without one, if the loop that follows is to begin with one."""
        return carried_in(self._source(), self.loop + 1).get(name, NOTHING)

    def has_left(self, name: str) -> bool:
        """Does the run begin behind what leaves it, with what the notebook has by that name?"""
        return name in self._names()

    def left(self, name: str, value: Any) -> Any:
        """The same, in place of what the skipped training has left here."""
        content = self._names()[name]
        if "state" in content:
            load_fitting(bare(value), content["state"])
        elif "attributes" in content:
            put_back(value, content["attributes"])
        if "value" not in content:
            return value
        return in_place_of(value, content["value"])

    def _names(self) -> Mapping[str, Any]:
        if self._left is None:
            saved = self._source()
            self._left = names_in(saved)
        return self._left

    def _left_before(self) -> dict[str, Any]:
        """For a checkpoint: who goes on from it skips what has left these."""
        return {"names": plain(self._names())} if self._names() else {}

    def over(self, epochs: Iterable[Any], state: State, carried: Values | None = None) -> Iterator[Any]:
        """Go through the epochs that are left to do. Where one can be left in its middle, `carried` tells of it."""
        done, total = self.load_states(state, carried), operator.length_hint(epochs) or None
        for number, epoch in enumerate(() if done is None else epochs):
            if self.stop:
                return
            if number >= done:  # type: ignore[operator]
                self.progress.epoch_begins(number, total)
                yield epoch

    def counted(self, epochs: Iterable[Any]) -> Iterator[Any]:
        """The same for a framework that saves its states itself."""
        total = operator.length_hint(epochs) or None
        for number, epoch in enumerate(epochs):
            self.progress.epoch_begins(number, total)
            yield epoch
            if self.stop_asked():
                return

    def before(self, state: State, carried: Values | None = None) -> int:
        """How many epochs are done already; for a loop that counts them itself."""
        done = self.load_states(state, carried)
        if done is None:
            source = self.settings.resume or "the notebook's state"
            raise SystemExit(f"{source} is of a later loop of this training, which this loop cannot skip to")
        return done

    def ends(self, values: Mapping[str, Any], carried: Mapping[str, Any], *, left: bool = False) -> bool:
        """An epoch is over: compare, report and save; true when the training is asked to end here."""
        if values:
            self.progress.metrics(values)
        self._hooks_off()
        same_on_all_ranks(self.state)
        self.stop = self.stop_asked()
        self.pause = not self.stop and self._is_there(self.settings.pause)
        done = self.progress.epoch + 1
        if self.settings.checkpoint and (self.stop or self.pause or left or done % self.settings.epochs_between == 0):
            place = {"loop": self.loop, "epochs_done": done, "left": left, "steps": self.progress.taken()}
            place |= self._left_before()
            carried = {**carried, **{n: changed(t, self._things_at_first[n]) for n, t in self._things.items()}}
            if save_checkpoint(self.settings.checkpoint, place, self.state, carried):
                self.progress.reports.report("checkpoint", epoch=done - 1, path=self.settings.checkpoint)
            if self.pause and not (left or done == self.progress.epochs):  # else it is over as soon
                pause(self.progress.reports)
        self.batches.epoch_ends()
        return self.stop

    def stop_asked(self) -> bool:
        """Whether the file is there by which one asks for an end; rank 0 looks for all."""
        return self._is_there(self.settings.stop)

    def _is_there(self, path: str | None) -> bool:
        return path is not None and any_rank(self.progress.reports.rank == 0 and Path(path).exists())

    def load_states(self, state: State, carried: Values | None = None) -> int | None:
        """Starts from what a checkpoint or the notebook has come to; returns how many epochs are done, None for all."""
        state, saved = {name: bare(thing) for name, thing in state.items()}, self._source()
        self.loop, self.state, self.stop = self.loop + 1, state, False
        self._hooks_off()
        self._hooks_off = compare_after_first_step(state)
        done = self._loaded(state, saved)
        self.batches.begin(self.loop, state, carried, saved if saved.get("loop") == self.loop else {})
        return done

    def _loaded(self, state: State, saved: Mapping[str, Any]) -> int | None:
        if self.settings.pause and self.settings.resume:
            self.progress.before = int(saved.get("steps", 0))
        if self.loop < saved.get("loop", 0):  # it is of a later one of the training loops
            self._say_skipped()
            return None
        if self.loop > saved.get("loop", self.loop):  # of an earlier one; this has models of its own
            own = saved.get("later", {}).get(self.loop, {})
            for name in state.keys() & own.keys():
                load_state(state[name], own[name])
            return 0
        if self.settings.resume and (missing := state.keys() - saved["states"].keys()):
            raise SystemExit(f"{self.settings.resume} has nothing for {', '.join(sorted(missing))}")
        for name in (state.keys() & saved["states"].keys()) - self._begun:  # a second loop goes on from the first
            load_state(state[name], saved["states"][name])
        self._begun |= state.keys()
        if self.progress.reports.rank < len(saved.get("random", ())):
            set_random_state(saved["random"][self.progress.reports.rank])
        return None if saved.get("left") else int(saved.get("epochs_done", 0))

    def _source(self) -> dict[str, Any]:
        """Where a job is started again, both: from its own checkpoint, and what later loops begin from."""
        resumed = read_checkpoint(self.settings.resume or self.settings.start)
        if self.settings.resume and self.settings.start:
            return {"later": read_checkpoint(self.settings.start).get("later", {}), **resumed}
        return resumed

    def _say_skipped(self) -> None:
        if self.progress.reports.rank == 0:
            known = "complete in the checkpoint" if self.settings.resume else "already done in the notebook"
            print(f"training {self.loop} is {known} and is skipped; its numbers are not reported again")
