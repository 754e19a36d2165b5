"""A process among others: its random numbers, and what it reads from the command line."""

# mypy: ignore-errors

import ast
import contextlib
import os
import random
import socket
import sys
import threading

import torch
import torch.distributed as dist

from nbddp.script.parts.exchange import from_rank_0


def seed_everything(seed):
    """All processes build the same data and weights."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def same_seed():
    """A seed that all processes draw alike."""
    return random.getrandbits(32)


def hash_alike():
    """One order of sets of strings in all processes, and of what is numbered along them: Python asks as it starts."""
    if os.environ.get("PYTHONHASHSEED", "random") == "random":
        os.environ["PYTHONHASHSEED"] = "0"
        if "RANK" in os.environ and os.name == "posix":  # this process is one of them
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def check_address():
    """The first machine has to be found by its name, and from the others: else all wait for it, many minutes long."""
    name, found = os.environ.get("MASTER_ADDR", ""), []
    ask = threading.Thread(target=lambda: found.append(addresses_of(name)), daemon=True)
    ask.start()
    ask.join(8.0)  # seconds; what asks the network may take longer
    advice = "give an address of the first machine that all machines reach (torchrun: --local-addr on that one)"
    if not found or not found[0]:
        raise SystemExit(f"MASTER_ADDR is {name!r}, which {socket.gethostname()} cannot resolve: {advice}")
    here = os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"])
    first = int(os.environ["RANK"]) < int(here)
    own = name if first else found[0][0]  # the first machine may know itself by 127.0.1.1: its name is what counts
    if here != os.environ["WORLD_SIZE"] and own.startswith(("127.", "::1", "localhost")):
        raise SystemExit(f"MASTER_ADDR is {name!r}, which is each machine itself ({found[0][0]}): {advice}")


def addresses_of(name):
    """What the name stands for in the network; nothing where nobody knows it."""
    try:
        return [info[4][0] for info in socket.getaddrinfo(name, None)]
    except OSError:
        return []


def own_random_numbers():
    """From here on each process draws its own noise and dropout; rank 0 goes on as one process would."""
    if dist.get_rank() > 0:
        torch.manual_seed(torch.randint(2**62, ()).item() + dist.get_rank())


def own_random_numbers__numpy():
    """From here on each process draws its own noise, with NumPy too; rank 0 goes on as one process would."""
    if dist.get_rank() > 0:
        seed = torch.randint(2**62, ()).item() + dist.get_rank()
        torch.manual_seed(seed)
        sys.modules["numpy"].random.seed(seed % 2**32)


def own_random_numbers__data():
    """From here on each process draws its own noise, and what its data draws; rank 0 goes on as one process would."""
    if dist.get_rank() > 0:
        seed = torch.randint(2**62, ()).item() + dist.get_rank()
        torch.manual_seed(seed)
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)


def shared_random_numbers():
    """All processes go on as rank 0 does, and build the same data and weights again."""
    set_random_numbers(from_rank_0(random_numbers_now() if dist.get_rank() == 0 else None))


alike = []  # where the random numbers have come to that all processes draw alike


@contextlib.contextmanager
def same_random_numbers():
    """In here all processes draw the same; outside each goes on with its own, and one alone as the notebook does."""
    if dist.get_world_size() == 1 or None in alike:  # or in here already
        yield
        return
    if not alike:  # noise goes on from elsewhere: else it would be rank 0's batch once more
        alike.append(from_rank_0(random_numbers_now()))
        seed_everything(torch.randint(2**62, ()).item() + dist.get_rank())
    own, (same,) = random_numbers_now(), alike
    set_random_numbers(same)
    alike[:] = [None]
    try:
        yield
    finally:
        alike[:] = [random_numbers_now()]
        set_random_numbers(own)


def drawn_alike(batches):
    """Goes through batches that are drawn at random, the same on all processes."""
    done = object()
    with same_random_numbers():
        batches = iter(batches)
    while True:
        with same_random_numbers():
            batch = next(batches, done)
        if batch is done:
            return
        yield batch


def random_numbers_now():
    """Where the random numbers of this process have come to."""
    state = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if "numpy" in sys.modules:
        state["numpy"] = sys.modules["numpy"].random.get_state()
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_random_numbers(state):
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    if "numpy" in state and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def literal(text):
    """A Python value from the command line; what is none is a string."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
