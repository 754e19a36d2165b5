"""Train `model` (LanguageModel) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python language_model_ddp.py                                        # every GPU here
    python language_model_ddp.py --nproc 4 --learning-rate 0.0015       # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... language_model_ddp.py    # several machines

Exported from language_model.ipynb by nbddp 0.1.0 (21f890ae); it needs torch alone.
"""

import argparse
import collections
import contextlib
import copy
import ctypes
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
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 3
batch_size = 32
accumulate = 2  # batches for one step of the optimizer
learning_rate = 3e-3
block_size = 32

# ── cell 4 ────────────────────────────────────────────────────────────────────────
text = """
The training is a loop over batches, and each batch a question that the model answers before it is told the answer.
What it got wrong becomes a gradient, and the gradient a small step. No step is large enough to be seen, and yet, after
some thousands of them, the answers are right. With several processes every one of them asks a part of the batch; they
put their gradients together, take the same step, and so remain the same model. A process that would step alone would
soon be another model, and nobody would notice, for its loss falls just as well. So whoever shares out a training has
to see to it that all take the same steps, in the same order, from the same start; the rest is bookkeeping.
"""


# ── cell 5 ────────────────────────────────────────────────────────────────────────
class Blocks(Dataset):
    """Every stretch of the text, and the same stretch one character later."""

    def __init__(self, tokens):
        self.tokens = tokens

    def __len__(self):
        return len(self.tokens) - block_size

    def __getitem__(self, i):
        return self.tokens[i : i + block_size], self.tokens[i + 1 : i + block_size + 1]


split = 544


# ── cell 6 ────────────────────────────────────────────────────────────────────────
class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, bias=False, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        length = x.size(1)
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, vocabulary, width=48, heads=4, layers=2):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(block_size, width)
        self.layers = nn.Sequential(*[Layer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        places = torch.arange(x.size(1), device=x.device)
        return self.head(self.norm(self.layers(self.token(x) + self.position(places))))


# ── cell 7 ────────────────────────────────────────────────────────────────────────
def factor(step):
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    return 0.5 + 0.5 * math.cos(math.pi * (step - warmup_steps) / (total_steps - warmup_steps))


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 8, as each process runs them."""
    global total_steps, warmup_steps  # read by the functions above

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    characters = sorted(set(text))
    number = {c: i for i, c in enumerate(characters)}
    tokens = torch.tensor([number[c] for c in text])

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    train_set = Blocks(tokens[:split])
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=per_rank(batch_size), sampler=train_sampler)
    val_loader = DataLoader(Blocks(tokens[split:]), batch_size=batch_size)

    # ── cell 6 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    device = rank_device.type
    model = DDP(LanguageModel(len(characters)).to(device))

    # ── cell 7 ────────────────────────────────────────────────────────────────────
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    total_steps = epochs * len(train_loader) // accumulate
    warmup_steps = total_steps // 10

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")

    # ── cell 8: the training loop ─────────────────────────────────────────────────
    for epoch in resumable(range(epochs), model=model, optimizer=optimizer, scheduler=scheduler, scaler=scaler):
        train_sampler.set_epoch(epoch)
        model.train()
        running = 0.0
        for step, (x, y) in enumerate(train_loader):
            model.require_backward_grad_sync = (step + 1) % accumulate == 0
            x, y = x.to(device), y.to(device)
            with torch.autocast(device, enabled=device == "cuda"):
                loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
            scaler.scale(loss / accumulate).backward()
            running += loss.item()
            if (step + 1) % accumulate == 0:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
                scheduler.step()
            report_step(len(train_loader), loss=loss)
        running = mean_over_ranks(running)

        model.eval()
        total, count = 0.0, 0
        with torch.no_grad():
            for x, y in share_of(val_loader):
                x, y = x.to(device), y.to(device)
                total += F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item()
                count += y.numel()
            count = sum_over_ranks(count)
            total = sum_over_ranks(total)
        perplexity = math.exp(total / count)
        print(f"epoch {epoch}: loss {running / len(train_loader):.4f}, validation perplexity {perplexity:.3f}")
        report_epoch(running=running, count=count, total=total, perplexity=perplexity)

    if rank == 0:
        torch.save(model.state_dict(), "language_model.pt")

    deliver(
        {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler},
        ["count", "device", "epoch", "perplexity", "running", "total"],
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
    """The sum of a number over all processes; a whole one where each of them has a whole one."""
    total = torch.tensor([value, not isinstance(value, int)], dtype=torch.float64, device=sending_device())
    dist.all_reduce(total)
    return total[0].item() if total[1] else int(total[0])


def mean_over_ranks(value):
    return sum_over_ranks(value) / dist.get_world_size()


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


def hash_alike(seed):
    """One order of sets of strings in all processes, and of what is numbered along them: Python asks as it starts."""
    if os.environ.get("PYTHONHASHSEED", "random") == "random":
        os.environ["PYTHONHASHSEED"] = str(seed % 2**32)
        if "RANK" in os.environ and os.name == "posix":  # this process is one of them
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


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
        accumulate=options.accumulate,
        learning_rate=options.learning_rate,
        block_size=options.block_size,
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
    parser.add_argument("--accumulate", type=int, default=accumulate)
    parser.add_argument("--learning-rate", type=float, default=learning_rate)
    parser.add_argument("--block-size", type=int, default=block_size)
    options = parser.parse_args()
    as_torchrun_does()
    hash_alike(options.seed)
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
