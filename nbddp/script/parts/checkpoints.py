"""A script's own checkpoints: which one it goes on from, when one is written, and where in an epoch that is."""

# mypy: ignore-errors
# ruff: noqa: B905

import itertools
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset

from nbddp.script.parts.evaluation import remade
from nbddp.script.parts.exchange import gathered, sending_device
from nbddp.script.parts.process import random_numbers_now, set_random_numbers


def find_checkpoint(file, resume):
    """What the training goes on from, if anything; the checkpoint of another one is kept under another name."""
    if resume not in (None, "auto") and not os.path.exists(resume):
        raise SystemExit(f"--resume {resume}: there is no such file")
    if os.path.exists(file) and (resume == "auto" or started_again(file)):
        resume = file
    elif resume == "auto":
        resume = None
    if resume is not None:
        print(f"continuing from {resume}", file=sys.stderr)
    if os.path.exists(file) and not (resume and os.path.samefile(file, resume)):
        os.replace(file, f"{file}.old")
        print(f"{file} was there: it is {file}.old now (--resume auto would continue from it)", file=sys.stderr)
    folder = os.path.dirname(os.path.abspath(file))
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise SystemExit(f"--checkpoint {file}: nothing can be written in {folder}")
    return resume


def started_again(file):
    """Whether SLURM or torchrun starts this training anew: after a fault, or because a machine has come or gone."""
    counts = (os.environ.get(name, "0") for name in ("TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"))
    if any(count not in ("", "0") for count in counts):
        return True
    name = os.environ.get("TORCHELASTIC_RUN_ID", "none")  # machines that come do not count as a restart
    found = torch.load(file, map_location="cpu", weights_only=False, mmap=True) if name != "none" else None
    return isinstance(found, dict) and found.get("run") == name


def interval(text):
    """`500` batches; `90s`, `10m`, `2h`; `3e`, epochs. The number, and what it counts: nothing, "s" or "e"."""
    seconds = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    number = float(text[:-1]) * seconds if seconds else int(text.removesuffix("e"))
    if not 0 < number < float("inf"):
        raise ValueError("it has to be more than nothing")
    return number, "s" if seconds else "e" * text.endswith("e")


class Checkpoints:
    """One after each epoch; within one as --checkpoint-every says, and where a signal asks the process to end."""

    def __init__(self):
        self.file = self.resume = None  # run sets these
        self.every, self.unit = 1, "e"  # epochs; or batches, or seconds, and then after each epoch as well
        self.epochs = 0  # so far
        self.batches = 0  # of this epoch, so far
        self.last = None  # how many it has
        self.order = None  # by which its sampler draws them, where it has such a number, and the sampler's seed
        self.stops = True  # within an epoch
        self.asked = 0  # the signal that has come
        self.ranks = None  # what each process had come to within the epoch, where the training goes on in its middle
        self.unlooked, self.look = 0, 1  # batches since the processes last compared, and how many it is to be
        self.unsaved, self.looked, self.written = 0, time.monotonic(), time.monotonic()

    def listen(self):
        """SIGTERM and SIGUSR1 announce the end: a checkpoint is written first, and the status is 128 + the signal's."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGUSR1):
                signal.signal(number, lambda number, _frame: setattr(self, "asked", number))

    def load(self, state):
        """What rank 0 goes on from, on all processes: other machines need not see its disk."""
        self.state, there = state, self.resume is not None and dist.get_rank() == 0
        found = [torch.load(self.resume, map_location="cpu", weights_only=False) if there else None]
        dist.broadcast_object_list(found, group=dist.new_group(backend="gloo"))
        saved = found[0]
        if saved is not None:
            if not isinstance(saved, dict) or "ranks" not in saved:
                raise SystemExit(f"{self.resume} is no checkpoint of this script")
            set_random_numbers(self.mine(saved["ranks"])["began"])
            self.ranks = saved["ranks"] if saved["batches"] else None
            self.batches, self.order = saved["batches"], saved["order"]
        self.began = random_numbers_now()
        return saved

    def mine(self, ranks):
        """This process's; where they were fewer, one of them."""
        return ranks[dist.get_rank() % len(ranks)]

    def save(self, so_far=None):
        """Rank 0 writes for all, to a new file first: a machine may fail meanwhile. `so_far` is this epoch's."""
        own = {"random": random_numbers_now(), "began": self.began, "so_far": so_far, "asked": self.asked}
        if so_far is None:
            own["began"], self.began, self.batches, self.order = own["random"], own["random"], 0, None
            self.epochs += 1
            if self.unit == "e" and self.epochs % self.every:
                return
        ranks = gathered(own)
        state = {**self.state(), "batches": self.batches, "order": self.order, "ranks": ranks}
        state["run"] = os.environ.get("TORCHELASTIC_RUN_ID")
        state["epoch"] += so_far is None
        if dist.get_rank() == 0:
            try:
                torch.save(state, f"{self.file}.part")
                os.replace(f"{self.file}.part", self.file)
            except (OSError, RuntimeError) as error:  # the disk is full, say: the training goes on
                print(f"{self.file} could not be written: {error}", file=sys.stderr)
        self.unsaved, self.written = 0, time.monotonic()
        if asked := max(each["asked"] for each in ranks):
            dist.barrier()
            dist.destroy_process_group()
            raise SystemExit(128 + asked)

    def due(self):
        """Whether all processes are to write one at this batch; about once a second they ask each other."""
        self.unsaved, self.unlooked = self.unsaved + 1, self.unlooked + 1
        if self.batches == self.last or not self.stops:
            return False  # the epoch's own follows
        if self.unit == "" and self.unsaved >= self.every:
            return True
        if self.unlooked < self.look:
            return False
        now = time.monotonic()
        late = self.unit == "s" and now - self.written >= self.every
        pace = int(self.unlooked / max(now - self.looked, 1e-3)) + 1
        told = torch.tensor([self.asked, late, pace], dtype=torch.float64, device=sending_device())
        dist.all_reduce(told, dist.ReduceOp.MAX)
        asked, late, self.look = (int(number) for number in told)
        self.unlooked, self.looked = 0, now
        return bool(asked or late)

    def so_far(self, name, value, how=None):
        """What it was at the checkpoint, in place of what an epoch begins with; `how` the processes' make up one."""
        if self.ranks is None:
            return value
        found = [each["so_far"][name] for each in self.ranks]
        if len(found) == dist.get_world_size():
            own = found[dist.get_rank()]
        elif how == "same":
            own = found[0]
        elif how == "mean" and isinstance(value, list):
            own = [sum(items) / len(items) for items in zip(*found)]
        elif how == "mean":
            own = sum(found) / len(found)
        elif how == "sum" and not isinstance(value, list):
            own = sum(found) * (dist.get_rank() == 0)
        else:
            raise SystemExit(f"{self.resume} stops within an epoch: '{name}' is that of {len(found)} processes")
        if isinstance(value, list):
            value[:] = own  # others may hold it
            return value
        return own.to(value.device) if isinstance(value, torch.Tensor) else own


checkpoints = Checkpoints()


class RestOf:
    """An epoch's batches, counted; of one that was begun before the checkpoint, those that it did not come to."""

    def __init__(self, loader):
        self.loader = loader

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        try:
            checkpoints.last = len(self.loader)
        except TypeError:
            checkpoints.last = None  # a stream
        self.as_before(getattr(self.loader, "sampler", None))
        batches = self.after(checkpoints.batches)
        if checkpoints.ranks is not None:
            set_random_numbers(checkpoints.mine(checkpoints.ranks)["random"])
            checkpoints.ranks = None
        for batch in batches:
            checkpoints.batches += 1
            yield batch

    def as_before(self, sampler):
        """In the same order; one that a generator of its own has drawn is not known again."""
        drawn = (sampler, getattr(sampler, "whole", None), getattr(self.loader, "batch_sampler", None))
        checkpoints.stops = all(getattr(each, "generator", None) is None for each in drawn)
        if hasattr(sampler, "epoch") and hasattr(sampler, "seed"):
            if checkpoints.batches and checkpoints.order is not None:
                sampler.epoch, sampler.seed = checkpoints.order
            checkpoints.order = sampler.epoch, sampler.seed

    def after(self, done):
        """Without loading what is left out, where there are indices."""
        own, drawn = self.loader, getattr(self.loader, "batch_sampler", None)
        if done and isinstance(own, DataLoader) and drawn is not None and not isinstance(own.dataset, IterableDataset):
            return iter(remade(own, own.dataset, batch_sampler=After(drawn, done)))
        batches = iter(own)
        for _ in range(done):
            next(batches, None)
        return batches


class After:
    """The batches that a batch sampler draws after the first ones."""

    def __init__(self, batches, done):
        self.batches, self.done = batches, done

    def __iter__(self):
        return itertools.islice(iter(self.batches), self.done, None)

    def __len__(self):
        return len(self.batches) - self.done


def join_all(processes):
    """Wait for them; a signal that asks for the end is theirs, and so is the status."""

    def pass_on(number, _frame):
        for process in processes.processes:
            if process.is_alive():
                os.kill(process.pid, number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGUSR1, pass_on)
    try:
        while not processes.join():
            pass
    except torch.multiprocessing.ProcessExitedException as error:
        if error.exit_code in (128 + signal.SIGTERM, 128 + signal.SIGUSR1):
            raise SystemExit(error.exit_code) from None
        raise
