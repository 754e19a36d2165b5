"""Train `model` (Net3d) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python volumes_ddp.py                                        # every GPU here
    python volumes_ddp.py --nproc 4 --lr 0.001                   # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... volumes_ddp.py    # several machines

Exported from volumes.ipynb by nbddp 0.1.0 (13ae0539); it needs torch alone.
"""

import argparse
import collections
import contextlib
import copy
import ctypes
import io
import itertools
import json
import math
import operator
import os
import random
import re
import signal
import socket
import sys
import threading
import time
import traceback
from types import SimpleNamespace

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 20
batch_size = 16
lr = 2e-3
patience = 2


# ── cell 4 ────────────────────────────────────────────────────────────────────────
class Volumes(Dataset):
    """12×12×12 voxels; label 1 where the ball is hollow."""

    def __init__(self, count, seed, size=12):
        self.count, self.seed, self.size = count, seed, size
        axis = torch.arange(size) - (size - 1) / 2
        self.grid = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        draws = torch.Generator().manual_seed(self.seed + index)
        centre = 2 * torch.rand(3, 1, 1, 1, generator=draws) - 1
        radius = 4 + torch.rand(1, generator=draws)
        distance = (self.grid - centre).norm(dim=0)
        label = index % 2
        volume = (distance < radius).float() - label * (distance < radius - 2).float()
        noise = torch.randn(volume.shape, generator=draws)
        return (volume + 0.5 * noise).unsqueeze(0), label


# ── cell 6 ────────────────────────────────────────────────────────────────────────
class Net3d(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv1 = nn.Conv3d(1, width, 3, padding=1)
        self.norm1 = nn.GroupNorm(2, width)
        self.conv2 = nn.Conv3d(width, 2 * width, 3, padding=1)
        self.norm2 = nn.GroupNorm(4, 2 * width)
        self.head = nn.Linear(2 * width * 3**3, 2)

    def forward(self, x):
        x = F.max_pool3d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool3d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.head(x.flatten(1))


# ── cell 7 ────────────────────────────────────────────────────────────────────────
def train_epoch():
    model.train()
    total = 0.0
    for volumes, labels in train_loader:
        volumes, labels = volumes.to(device), labels.to(device)
        loss = F.cross_entropy(model(volumes), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        report_step(len(train_loader), loss=loss)
        total += loss.item() * len(labels)
    total = sum_over_ranks(total)
    return total / len(train_loader.dataset)


@torch.no_grad()
def validate():
    model.eval()
    total = correct = 0
    for volumes, labels in share_of(val_loader):
        volumes, labels = volumes.to(device), labels.to(device)
        scores = model(volumes)
        total += F.cross_entropy(scores, labels, reduction="sum").item()
        correct += (scores.argmax(1) == labels).sum().item()
    correct = sum_over_ranks(correct)
    total = sum_over_ranks(total)
    return total / len(val_loader.dataset), correct / len(val_loader.dataset)


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 8, as each process runs them."""
    global device, model, optimizer, train_loader, val_loader  # read by the functions above

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    train_set = Volumes(160, seed=0)
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=per_rank(batch_size), sampler=train_sampler)
    val_loader = DataLoader(Volumes(50, seed=10_000), batch_size=batch_size)

    # ── cell 6 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    device = rank_device
    model = DDP(Net3d().to(device))
    optimizer = optim.Adam(model.parameters(), lr=lr)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=0)

    # ── cell 8: the training loop ─────────────────────────────────────────────────
    best, waited = float("inf"), 0
    best, waited = from_checkpoint(lambda: {"best": best, "waited": waited})
    for epoch in resumable(range(epochs), model=model, optimizer=optimizer, scheduler=scheduler):
        train_sampler.set_epoch(epoch)
        train_loss = train_epoch()
        val_loss, val_accuracy = validate()
        scheduler.step(val_loss)
        rate = optimizer.param_groups[0]["lr"]
        print(f"epoch {epoch}: loss {train_loss:.4f} and {val_loss:.4f}, accuracy {val_accuracy:.2f}, rate {rate:g}")

        if val_loss < best - 0.02:
            best, waited = val_loss, 0
            if rank == 0:
                torch.save(model.state_dict(), "volumes_best.pt")
        else:
            waited += 1
            if waited == patience:
                print(f"stopped: the best loss is {best:.4f}")
                break
        report_epoch(train_loss=train_loss, val_loss=val_loss, val_accuracy=val_accuracy)

    dist.barrier()
    model.load_state_dict(torch.load("volumes_best.pt", map_location=device))
    print("accuracy of the best epoch:", validate()[1])

    deliver(
        {"model": model, "optimizer": optimizer, "scheduler": scheduler},
        ["best", "epoch", "rate", "train_loss", "val_accuracy", "val_loss", "waited"],
        locals(),
    )


# ── what several processes need ───────────────────────────────────────────────────
class DDP(DistributedDataParallel):
    """Passes for the model that it wraps: its attributes, its checkpoint keys, its evaluation without gradients."""

    def forward(self, *args, **kwargs):
        if not torch.is_grad_enabled():
            return self.module(*args, **kwargs)
        output = super().forward(*args, **kwargs)
        if self.module.training and self.modules_buffers:
            self._sync_buffers()
        return output

    def will_sync_module_buffers(self):
        return False  # but behind the forward, so that all processes evaluate one and the same model

    def __getattr__(self, name):  # of what is not DDP's own
        return super().__getattr__(name) if name == "module" else getattr(self.module, name)

    def state_dict(self, *args, **kwargs):
        return self.module.state_dict(*args, **kwargs)

    def load_state_dict(self, *args, **kwargs):
        return self.module.load_state_dict(*args, **kwargs)


def per_rank(batch_size):
    """The notebook's batch size is that of all processes together."""
    world_size = dist.get_world_size()
    share, rest = divmod(batch_size, world_size)
    if rest:
        sizes = f"{share * world_size} or {(share + 1) * world_size}" if share else f"{world_size}"
        raise SystemExit(f"a batch of {batch_size} does not divide among {world_size} processes; {sizes} would")
    return share


def share_of(loader):
    """A loader of every world_size-th batch of another that draws in order; nothing is added to fill up."""
    batches = list(itertools.islice(loader.batch_sampler, len(loader)))
    loader.dealt = SimpleNamespace(sizes=[len(batch) for batch in batches])
    return remade(loader, loader.dataset, batch_sampler=batches[dist.get_rank() :: dist.get_world_size()])


def remade(loader, dataset, **draws):
    """A loader that works as this one does, and draws otherwise."""
    if type(loader).__iter__ is not DataLoader.__iter__:
        raise TypeError(f"only a DataLoader can be shared out, not {loader!r}")
    names = "num_workers collate_fn pin_memory timeout worker_init_fn multiprocessing_context generator prefetch_factor"
    options = {name: getattr(loader, name) for name in f"{names} persistent_workers".split()}
    return DataLoader(dataset, **options, **draws)


def sum_over_ranks(value):
    """The sum over all processes of a number, an array or a tensor; in lists, tuples and dicts of each for itself."""
    return combined(gathered(value))


def combined(values, divisor=None):
    """The processes' values added up place by place, and divided where a divisor is given."""
    first = values[0]
    if isinstance(first, dict) and (divisor is None or all(first.keys() == value.keys() for value in values)):
        total = first.copy()  # of its own kind: one that makes what it lacks goes on doing so
        for key in dict.fromkeys(key for value in values for key in value):  # not all shares may have all classes
            total[key] = combined([value[key] for value in values if key in value], divisor)
        return total
    if isinstance(first, (list, tuple)) and all(len(first) == len(value) for value in values):
        return type(first)(combined(place, divisor) for place in zip(*values))
    shapes = {value.shape for value in values if hasattr(value, "shape")}
    if isinstance(first, (dict, list, tuple)) or len(shapes) > 1:
        raise ValueError(f"these values of the processes differ in shape and cannot be added up: {values}")
    if not (hasattr(first, "shape") or isinstance(first, (int, float, complex))):
        return first
    return added(values, divisor)


def added(values, divisor):
    """Numbers, arrays or tensors of one shape added up, tensors in double precision."""
    total = sum(values) / divisor if divisor else sum(values)
    if isinstance(total, torch.Tensor) and total.is_floating_point():
        doubles = sum(torch.as_tensor(value, dtype=torch.float64).detach() for value in values)
        total = (doubles / divisor if divisor else doubles).to(total.dtype)
    return total


@torch.no_grad()
def same_on_all_ranks(**models):
    """Stops a training that has come apart: after each step all processes must hold the same parameters."""
    for name, model in models.items():
        named = dict(model.named_parameters()) if isinstance(model, nn.Module) else {}
        if not named:
            continue
        values = [torch.view_as_real(p) if p.is_complex() else p for p in named.values()]
        sums = [value.sum(dtype=torch.float64) for value in values]
        sizes = [torch.linalg.vector_norm(value, 1, dtype=torch.float64) for value in values]
        found = torch.stack([number.to(sending_device()) for number in (*sums, *map(torch.neg, sums), *sizes)])
        dist.all_reduce(found.nan_to_num_(), dist.ReduceOp.MAX)
        highest, minus_lowest, size = found.chunk(3)
        apart = (highest + minus_lowest > 1e-7 * size).tolist()  # beyond what rounding on unlike devices does
        if any(apart):
            first = list(named)[apart.index(True)]
            raise RuntimeError(
                f"'{name}' differs between the processes, first in its '{first}': gradients were not averaged. "
                f"The loss may not have gone through {name}(...), but through another method of it."
            )


def sending_device():
    """Where a tensor has to lie for the processes to exchange it."""
    return torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")


def packed(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def unpacked(data):
    """A value from another process: what lay on its GPU comes to the GPU of this one."""
    here = torch.cuda.current_device() if torch.cuda.is_available() else 0
    places = {f"cuda:{index}": f"cuda:{here}" for index in range(torch.cuda.device_count())}
    return torch.load(io.BytesIO(data), map_location=places, weights_only=False)


def gathered(value):
    """The values that the processes have, by rank."""
    messages = [None] * dist.get_world_size()
    dist.all_gather_object(messages, packed(value))
    return [unpacked(message) for message in messages]


def any_rank(flag):
    """True on all processes when it is true on one."""
    flags = torch.tensor(int(bool(flag)), device=sending_device())
    dist.all_reduce(flags, dist.ReduceOp.MAX)
    return bool(flags)


# ── epochs and checkpoints ────────────────────────────────────────────────────────
def resumable(epochs, /, **state):
    """Goes through the epochs that are left to do; between two of them the state is compared and saved."""
    compare_after_first_step(**state)
    done, total = load_states(**state), operator.length_hint(epochs) or None
    for number, epoch in enumerate(() if done is None else epochs):
        if number >= done:
            epoch_begins(number, total)
            yield epoch
            if epoch_done(number, **state):
                break


def epoch_done(number, /, **state):
    """Compares and saves the state; true when the training is asked to end here."""
    same_on_all_ranks(**state)
    stop = stop_asked()
    if command_line.checkpoint and (stop or (number + 1) % command_line.checkpoint_every == 0):
        save_checkpoint(command_line.checkpoint, number + 1, **state)
    return stop


def stop_asked():
    """Whether the file is there by which one asks for an end; rank 0 looks for all."""
    path = os.environ.get("NBDDP_STOP")
    return path is not None and any_rank(dist.get_rank() == 0 and os.path.exists(path))


def compare_after_first_step(**state):
    """A loss that went past DDP shows in the first step already."""
    to_do = {thing for thing in state.values() if isinstance(thing, torch.optim.Optimizer)}

    def compare(optimizer, *_):
        if optimizer in to_do:
            to_do.remove(optimizer)
            same_on_all_ranks(**state)

    for optimizer in list(to_do):
        optimizer.register_step_post_hook(compare)


def from_checkpoint(values):
    """What the loop that follows carries from epoch to epoch besides the state.

    As the checkpoint to resume has it, or the notebook that this run starts from. At the end of an epoch values() is
    asked again, for the next checkpoint.
    """
    progress.carried[progress.loop + 1] = values
    found, saved = values(), saved_values()
    for name in found.keys() & saved.keys():
        found[name] = in_place_of(found[name], saved[name])
    return list(found.values()) if len(found) > 1 else found.popitem()[1]


def in_place_of(value, new):
    """A list or a dictionary gets what is new: others may hold it, too."""
    if isinstance(value, dict) and isinstance(new, dict):
        value.clear()
        value.update(new)
    elif isinstance(value, (list, collections.deque)) and isinstance(new, list):
        value.clear()
        value.extend(new)
    else:
        return new
    return value


def saved_values():
    """Of the loop that follows; nothing where neither a checkpoint nor the notebook has any for it."""
    path = command_line.resume or os.environ.get("NBDDP_START")
    saved = read_checkpoint(path) if path else {}
    if saved.get("loop") != progress.loop + 1:
        return {}
    values, on_gpu = saved.get("values", {}), saved.get("on_gpu", ()) if torch.cuda.is_available() else ()
    return {name: not_plain(values[name], "cuda" if name in on_gpu else "cpu") for name in values}


command_line = argparse.Namespace(resume=None, checkpoint=None, checkpoint_every=1)  # run_rank puts the real one here


def load_states(**state):
    """Starts from what a checkpoint or the notebook has come to; returns how many epochs are done, None for all."""
    progress.loop += 1
    path = command_line.resume or os.environ.get("NBDDP_START")
    saved = read_checkpoint(path) if path else {"states": {}}
    if progress.loop < saved.get("loop", 0):  # it is of a later one of the training loops
        if dist.get_rank() == 0:
            known = "behind the checkpoint" if command_line.resume else "done in the notebook already"
            print(f"training {progress.loop} is {known} and is skipped; its numbers are not told again")
        return None
    if progress.loop > saved.get("loop", progress.loop):  # of an earlier one; this has models of its own
        own = saved.get("later", {}).get(progress.loop, {})
        for name in state.keys() & own.keys():
            state[name].load_state_dict(own[name])
        return 0
    if command_line.resume and (missing := state.keys() - saved["states"].keys()):
        raise SystemExit(f"{path} has nothing for {', '.join(sorted(missing))}")
    for name in (state.keys() & saved["states"].keys()) - progress.begun:  # a second loop goes on from the first
        state[name].load_state_dict(saved["states"][name])
    progress.begun |= state.keys()
    if dist.get_rank() < len(saved.get("random", ())):
        set_random_state(saved["random"][dist.get_rank()])
    return saved.get("epochs_done", 0)


def read_checkpoint(path):
    """Or the state that a notebook has come to; on the processor, and running no code."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    if not (isinstance(saved, dict) and "states" in saved):
        raise SystemExit(f"{path} is no checkpoint of a training: name a file that --checkpoint has written")
    return saved


def save_checkpoint(path, epochs_done, **state):
    """Rank 0 writes what a later run needs to go on, on any number of processes."""
    states = [None] * dist.get_world_size()
    dist.all_gather_object(states, random_state())
    if dist.get_rank() == 0:
        content = {"format": 1, "loop": progress.loop, "epochs_done": epochs_done, "random": states}
        content |= {"values": {}, "on_gpu": []}
        content["states"] = {name: plain(thing.state_dict()) for name, thing in state.items()}
        for name, value in progress.carried.get(progress.loop, dict)().items():
            try:
                content["values"][name] = plain(list(value) if isinstance(value, collections.deque) else value)
                content["on_gpu"] += [name] if any(tensor.is_cuda for tensor in tensors_in(value)) else []
            except (TypeError, ValueError, RecursionError) as reason:
                print(f"'{name}' is not in the checkpoint: {reason}", file=sys.stderr)
        save_whole(content, path)
        report("checkpoint", epoch=epochs_done - 1, path=path)


def random_state():
    """Where the random numbers of this process have come to."""
    state = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if "numpy" in sys.modules:
        kind, keys, *rest = sys.modules["numpy"].random.get_state()
        state["numpy"] = (kind, keys.tolist(), *rest)
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_random_state(state):
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    if "numpy" in state and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def plain(value):
    """The value as a file can hold it that runs no code when it is read; a TypeError where none can."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, dict):
        saved = copy.copy(value) if type(value) in (collections.OrderedDict, collections.Counter) else {}
        for key, item in value.items():
            saved[plain(key)] = plain(item)
        return saved
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(plain(item) for item in value)
    if hasattr(value, "dtype"):  # an array or a number of NumPy
        return {"__ndarray__": torch.from_numpy(value.copy())} if value.shape else plain(value.item())
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be saved as plain data")


def not_plain(value, device="cpu"):
    """The value that plain() was given, with its tensors on this device."""
    if isinstance(value, dict):
        if value.keys() == {"__ndarray__"}:
            return value["__ndarray__"].numpy()
        value.update((key, not_plain(item, device)) for key, item in list(value.items()))
    elif isinstance(value, (list, tuple)):
        return type(value)(not_plain(item, device) for item in value)
    return value.to(device) if isinstance(value, torch.Tensor) else value


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def save_whole(content, path):
    """Writes beside and renames, so that nobody ever reads half a file."""
    torch.save(content, f"{path}.part")
    os.replace(f"{path}.part", path)


# ── what the notebook that started this is told ───────────────────────────────────
def deliver(states, names, scope):
    """Rank 0 leaves what has come of the training for the notebook that started it, where NBDDP_RESULT says."""
    path = os.environ.get("NBDDP_RESULT")
    if path is None or dist.get_rank() > 0:
        return
    values = {name: scope.get(name, globals().get(name)) for name in names if name in {*scope, *globals()}}
    result = {"format": 1, "states": {}, "values": {}, "left_out": {}}
    for kind, things in (("states", states), ("values", values)):
        for name, thing in things.items():
            try:
                result[kind][name] = plain(thing.state_dict() if kind == "states" else thing)
            except (AttributeError, TypeError, ValueError, RecursionError) as reason:
                result["left_out"][name] = str(reason)
    save_whole(result, path)
    report("result", path=path)


progress = SimpleNamespace(
    loop=0, begun=set(), carried={}, epoch=0, epochs=None, step=0, batch=0, due=0.0, not_finite=set()
)


def report(event, **fields):
    """Appends a line of JSON to the file that NBDDP_EVENTS names; a full disk does not end the training."""
    if path := os.environ.get("NBDDP_EVENTS"):
        line = {"event": event, "time": time.time(), "rank": int(os.environ["RANK"]), **fields}
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.write(file, json.dumps(line, default=str).encode() + b"\n")
            os.close(file)


def report_step(batches=None, **values):
    """Tells how far training is, ten times a second at most: to look at a value is to wait for the device."""
    if "NBDDP_EVENTS" not in os.environ:
        return
    progress.step += 1
    progress.batch += 1
    now = time.monotonic()
    if now < progress.due - (0.09 if progress.batch in (1, batches) else 0):
        return
    progress.due = now + 0.1
    report(
        "step",
        epoch=progress.epoch,
        step=progress.step,
        steps=progress.epochs * batches if progress.epochs and batches else None,
        batch=progress.batch,
        batches=batches,
        values=finite_numbers(values),
        memory=torch.cuda.memory_allocated() if torch.cuda.is_initialized() else None,
    )


def report_epoch(**values):
    """Tells what an epoch came to, as far as that is numbers."""
    if os.environ["RANK"] == "0" and "NBDDP_EVENTS" in os.environ:
        report("metrics", epoch=progress.epoch, values=finite_numbers(values))


def epoch_begins(number, epochs=None):
    progress.epoch, progress.epochs, progress.batch = number, epochs, 0
    if os.environ["RANK"] == "0":
        report("epoch", epoch=number, epochs=epochs)


def finite_numbers(values):
    """The numbers among the values; the first of a name that is not finite is reported."""
    numbers = {}
    for name, value in values.items():
        if math.prod(getattr(value, "shape", ())) == 1 and hasattr(value, "item"):
            value = value.item()
        if isinstance(value, (int, float)):
            numbers[name] = value
    for name in [name for name, number in numbers.items() if not math.isfinite(number)]:
        del numbers[name]
        if name not in progress.not_finite:
            progress.not_finite.add(name)
            report("nan", epoch=progress.epoch, step=progress.step, name=name)
    return numbers


# ── the processes ─────────────────────────────────────────────────────────────────
def seed_everything(seed):
    """All processes build the same data and weights."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def quiet_other_ranks(rank):
    """One process speaks for all; where NBDDP_LOGS names a folder, each writes to a file there instead."""
    folder = os.environ.get("NBDDP_LOGS")
    if folder or rank > 0:
        path = os.path.join(folder, f"rank{rank}.log") if folder else os.devnull
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, 1)
        sys.stdout.reconfigure(line_buffering=True)
        if folder:
            os.dup2(file, 2)
        else:
            sys.stderr = sys.stdout  # bars and warnings; what ends a process is still shown


def report_error(error):
    """Tells why this process ends; waits where another is to blame or says the same, so that this one is not shown."""
    sys.stderr = sys.__stderr__
    signs = "closed by peer", "reset by peer", "Broken pipe", "remote process exited", "communicator was aborted"
    victim = isinstance(error, RuntimeError) and any(sign in str(error) for sign in signs)
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    frames = [
        {"file": f.filename, "line": f.lineno, "function": f.name} for f in traceback.extract_tb(error.__traceback__)
    ]
    report("error", type=type(error).__name__, message=str(error), traceback=frames, text=text, victim=victim)
    if victim or (isinstance(error, SystemExit) and os.environ["RANK"] != "0"):
        time.sleep(5)


def own_device(local_rank):
    """This process's device, and the backend for it; NCCL wants a GPU for each process."""
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return torch.device("cpu"), "gloo"
    torch.cuda.set_device(local_rank % gpus)
    enough = gpus >= int(os.environ["LOCAL_WORLD_SIZE"]) and dist.is_nccl_available()
    return torch.device("cuda", local_rank % gpus), "nccl" if enough else "gloo"


def report_rank(device):
    """Tells that this process is up, and where."""
    gpu = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    what = {"device": str(device), "device_name": gpu.name if gpu else "CPU", "uuid": str(getattr(gpu, "uuid", ""))}
    report("rank", world_size=dist.get_world_size(), pid=os.getpid(), **what)


def end_with_parent():
    """Waits until the process that started this one is gone, however it went."""
    mp.parent_process().join()
    os._exit(1)


def end_workers_with_this_process():
    """Has the system end the workers of a DataLoader when the process that they work for goes, however it goes."""
    if sys.platform == "linux":
        set_option = ctypes.CDLL(None).prctl
        os.register_at_fork(after_in_child=lambda: set_option(1, signal.SIGKILL))  # PR_SET_PDEATHSIG


def as_torchrun_does():
    """Where srun has started several processes, gives them their places under torchrun's names."""
    if "RANK" in os.environ or os.environ.get("SLURM_STEP_NUM_TASKS", "1") == "1":
        return
    slurm = {name[6:]: value for name, value in os.environ.items() if name.startswith("SLURM_")}
    host, number = re.match(r"([^,\[]+)(?:\[(\d+))?", slurm["STEP_NODELIST"]).groups("")
    beside = "1" if "GPUS_PER_TASK" in slurm else re.match(r"\d+", slurm["STEP_TASKS_PER_NODE"])[0]
    os.environ.setdefault("MASTER_ADDR", host + number)
    os.environ.setdefault("MASTER_PORT", str(20000 + int(slurm["JOB_ID"]) % 20000))
    os.environ.update(RANK=slurm["PROCID"], LOCAL_RANK=slurm["LOCALID"], WORLD_SIZE=slurm["STEP_NUM_TASKS"])
    os.environ["LOCAL_WORLD_SIZE"] = beside  # that share the GPUs which each of them sees


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run_rank(options):
    """One of the processes; the environment says which, in torchrun's words."""
    globals().update(
        epochs=options.epochs,
        batch_size=options.batch_size,
        lr=options.lr,
        patience=options.patience,
        command_line=options,
    )
    rank, local_rank, world_size = (int(os.environ[name]) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
    quiet_other_ranks(rank)
    end_workers_with_this_process()
    try:
        rank_device, backend = own_device(local_rank)
        dist.init_process_group(options.backend or backend)
        report_rank(rank_device)
        seed_everything(options.seed)
        train(rank, world_size, rank_device)
        report("end")
    except BaseException as error:
        report_error(error)
        raise
    time.sleep(0.1)  # gloo's threads let go of the last tensors, which takes Python; torch would not wait for that
    dist.destroy_process_group()


def spawned(local_rank, options, start_method):
    """What main starts as a process of this machine; it ends when main does."""
    mp.set_start_method(start_method, force=True)  # for workers of a DataLoader: in here, "spawn" would be the default
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for main
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.environ.update(RANK=str(local_rank), LOCAL_RANK=str(local_rank))
    run_rank(options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nproc", type=int, default=torch.cuda.device_count() or 2, help="processes on this machine")
    parser.add_argument("--backend", choices=("nccl", "gloo"), help="by default what suits the devices")
    parser.add_argument("--seed", type=int, default=0, help="with which all processes build data and weights")
    parser.add_argument("--resume", metavar="PATH", help="go on from this checkpoint")
    parser.add_argument("--checkpoint", metavar="PATH", help="write one here after an epoch")
    parser.add_argument("--checkpoint-every", type=int, default=1, metavar="EPOCHS")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch-size", type=int, default=batch_size)
    parser.add_argument("--lr", type=float, default=lr)
    parser.add_argument("--patience", type=int, default=patience)
    options = parser.parse_args()
    as_torchrun_does()
    if "RANK" in os.environ:  # started by torchrun or srun
        run_rank(options)
        return
    if options.nproc < 1:
        parser.error("--nproc: at least one process has to train")
    os.environ.update(WORLD_SIZE=str(options.nproc), LOCAL_WORLD_SIZE=str(options.nproc))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // options.nproc)))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends this process at once, and with it the others
    try:
        mp.spawn(spawned, args=(options, mp.get_start_method()), nprocs=options.nproc)
    except mp.ProcessExitedException as error:
        if error.exit_code < 0:  # killed
            raise
        sys.exit(error.exit_code)  # it has said why


if __name__ == "__main__":
    main()
