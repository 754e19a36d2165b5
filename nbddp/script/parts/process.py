"""A process among others: its place, its random numbers, its voice and its end."""

# mypy: ignore-errors

import ast
import ctypes
import os
import random
import re
import signal
import socket
import sys
import time
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from nbddp.script.parts.checkpoint import random_state, set_random_state
from nbddp.script.parts.exchange import from_rank_0
from nbddp.script.parts.reporting import report


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


def own_random_numbers():
    """From here on each process draws its own noise and dropout; rank 0 goes on as one process would."""
    if dist.get_rank() > 0:
        torch.manual_seed(torch.randint(2**62, ()).item() + dist.get_rank())


def shared_random_numbers():
    """All processes go on as rank 0 does, and build the same data and weights again."""
    set_random_state(from_rank_0(random_state() if dist.get_rank() == 0 else None))


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


def literal(text):
    """A Python value from the command line; what is none is a string."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
