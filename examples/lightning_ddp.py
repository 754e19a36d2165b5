"""Train the notebook's model with Lightning on all GPUs of this machine, or on 2 CPU processes where there is none.

    python lightning_ddp.py                                        # every GPU here
    python lightning_ddp.py --nproc 4 --lr 0.05                    # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... lightning_ddp.py    # several machines

Exported from lightning.ipynb by nbddp 0.1.0 (a6e154db); it needs torch, lightning, sklearn.
"""

import argparse
import collections
import contextlib
import copy
import ctypes
import json
import math
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

import lightning as L
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from lightning.pytorch.callbacks import LambdaCallback
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 4
batch_size = 120
lr = 0.1


# ── cell 5 ────────────────────────────────────────────────────────────────────────
class Digits(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.out = nn.Linear(32 * 4 * 4, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.out(x.flatten(1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        accuracy = (self(x).argmax(1) == y).float().mean()
        self.log("val_accuracy", accuracy, sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 6, as each process runs them."""
    # ── cell 4 ────────────────────────────────────────────────────────────────────
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    train_x, val_x, train_y, val_y = train_test_split(images, labels, train_size=1440, test_size=356, random_state=0)
    train_loader = DataLoader(TensorDataset(train_x, train_y), batch_size=per_rank(batch_size), shuffle=True)
    val_loader = DataLoader(TensorDataset(val_x, val_y), batch_size=batch_size)

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    L.seed_everything(0)
    model = Digits(lr)

    # ── cell 6: the training loop ─────────────────────────────────────────────────
    trainer = L.Trainer(
        max_epochs=epochs,
        logger=False,
        enable_checkpointing=False,
        devices=ranks_here(),
        strategy="ddp",
    )
    trainer.callbacks.append(lightning_progress(LambdaCallback))
    trainer.fit(model, train_loader, val_loader)
    metrics = trainer.callback_metrics
    print(f"epoch {epochs}: loss {metrics['loss']:.4f}, validation accuracy {metrics['val_accuracy']:.4f}")

    deliver({"model": model}, [], locals())


# ── what several processes need ───────────────────────────────────────────────────
def per_rank(batch_size):
    """The notebook's batch size is that of all processes together."""
    world_size = dist.get_world_size()
    share, rest = divmod(batch_size, world_size)
    if rest:
        sizes = f"{share * world_size} or {(share + 1) * world_size}" if share else f"{world_size}"
        raise SystemExit(f"a batch of {batch_size} does not divide among {world_size} processes; {sizes} would")
    return share


def sending_device():
    """Where a tensor has to lie for the processes to exchange it."""
    return torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")


def any_rank(flag):
    """True on all processes when it is true on one."""
    flags = torch.tensor(int(bool(flag)), device=sending_device())
    dist.all_reduce(flags, dist.ReduceOp.MAX)
    return bool(flags)


# ── epochs and checkpoints ────────────────────────────────────────────────────────
def stop_asked():
    """Whether the file is there by which one asks for an end; rank 0 looks for all."""
    path = os.environ.get("NBDDP_STOP")
    return path is not None and any_rank(dist.get_rank() == 0 and os.path.exists(path))


def random_state():
    """Where the random numbers of this process have come to."""
    state = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if "numpy" in sys.modules:
        kind, keys, *rest = sys.modules["numpy"].random.get_state()
        state["numpy"] = (kind, keys.tolist(), *rest)
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


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


def ranks_here():
    """How many processes train on this machine."""
    return int(os.environ["LOCAL_WORLD_SIZE"])


def lightning_progress(callback):
    """A callback of Lightning's that tells how far the training is, and ends it after an epoch when asked to."""

    def begin(trainer, module):
        epochs = trainer.max_epochs
        epoch_begins(trainer.current_epoch, epochs if epochs and epochs > 0 else None)

    def step(trainer, module, outputs, batch, number):
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        batches = trainer.num_training_batches
        report_step(batches if math.isfinite(batches) else None, loss=loss)

    def end(trainer, module):
        report_epoch(**trainer.callback_metrics)
        trainer.should_stop |= stop_asked()

    return callback(on_train_epoch_start=begin, on_train_batch_end=step, on_train_epoch_end=end)


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
    globals().update(epochs=options.epochs, batch_size=options.batch_size, lr=options.lr)
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
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch-size", type=int, default=batch_size)
    parser.add_argument("--lr", type=float, default=lr)
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
