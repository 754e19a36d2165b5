"""A small script of the shape that nbddp exports: trains a linear model on N processes and reports as one does.

The option `--happen` makes it fail, wait or talk in the ways that the tests are about.
"""

import argparse
import json
import math
import os
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def report(event, **fields):
    path = os.environ.get("NBDDP_EVENTS")
    if path:
        line = json.dumps({"event": event, "time": time.time(), "rank": dist.get_rank(), **fields}) + "\n"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        except OSError:
            pass
        finally:
            os.close(descriptor)


def report_error(error):
    tb = traceback.extract_tb(error.__traceback__)
    frames = [{"file": f.filename, "line": f.lineno, "function": f.name} for f in tb]
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    victim = any(sign in str(error) for sign in ("closed by peer", "reset by peer", "Broken pipe"))
    report("error", type=type(error).__name__, message=str(error), traceback=frames, text=text, victim=victim)
    if victim:
        time.sleep(5.0)  # as a watched rank does: the main process is to see the end of the one to blame first


def train(rank, args):
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    start = os.environ.get("NBDDP_START")
    if start:
        model.module.load_state_dict(torch.load(start, weights_only=True)["states"]["model"])
    x = torch.randn(64, 8)
    y = x.sum(1, keepdim=True)
    step, seen = 0, 0.0
    for epoch in range(args.epochs):
        if rank == 0:
            report("epoch", epoch=epoch, epochs=args.epochs)
        for batch in range(args.batches):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            step += 1
            seen = math.nan if args.happen == "nan" else loss.item()
            place = {"epoch": epoch, "batch": batch + 1, "batches": args.batches}
            report("step", step=step, steps=None, values={"loss": seen}, memory=None, **place)
            if epoch == 0 and batch == 1:
                HAPPEN[args.happen](rank, args)
            time.sleep(args.pause)
        print(f"epoch {epoch}: loss {seen:.6f}")
        if rank == 0:
            report("metrics", epoch=epoch, values={"mean_loss": seen})
        if should_stop():
            break
    if rank == 0:
        deliver(model, {"loss": seen, "steps": step, "words": ["a", 1, None]})
    report("end")


def should_stop():
    stop = torch.tensor(Path(os.environ.get("NBDDP_STOP", "/nowhere")).exists(), dtype=torch.int)
    dist.broadcast(stop, 0)
    return bool(stop)


def deliver(model, values):
    if "NBDDP_RESULT" in os.environ:
        path = Path(os.environ["NBDDP_RESULT"])
        states = {"model": model.module.state_dict()}
        values["array"] = {"__ndarray__": torch.arange(3)}
        part = path.with_suffix(".part")
        torch.save({"format": 1, "states": states, "values": values, "left_out": {"f": "a function"}}, part)
        part.replace(path)
        report("result", path=str(path))


def raise_on(*ranks):
    def happen(rank, args):
        if rank in ranks:
            raise ValueError(f"bad label on rank {rank}")

    return happen


def signal_to(rank_hit, number):
    def happen(rank, args):
        if rank == rank_hit:
            os.kill(os.getpid(), number)
            wait_for_ever()

    return happen


def hang(rank, args):
    if rank == 1:
        wait_for_ever()


def stubborn(rank, args):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise_on(1)(rank, args)
    wait_for_ever()


def leave(rank, args):
    if rank == 1:
        raise SystemExit("batch size 50 does not divide among 3 processes")
    time.sleep(60)  # so that none is in a collective whose end it would tell of first; spawn ends it


def burst(rank, args):
    if rank == 0:
        for number in range(args.count):
            print(f"line {number} of the burst")


def numbers(rank, args):
    if rank == 0:
        for number in range(args.count):
            print(f"line {number} loss: {number / 7:.3f}, accuracy 5%")


def many_events(rank, args):
    if rank == 0:
        for number in range(args.count):
            fields = {"steps": None, "epoch": 0, "values": {"loss": 1.0}, "memory": None, "batch": 1, "batches": None}
            report("step", step=number + 3, **fields)


def daemon(rank, args):
    if rank == 0 and os.fork() == 0:
        os.setsid()
        wait_for_ever()


def fill_disk(rank, args):
    if rank == 0:
        with Path("filler").open("wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()


def wait_for_ever():
    while True:
        time.sleep(60)


HAPPEN = {
    "": raise_on(),
    "nan": raise_on(),
    "raise0": raise_on(0),
    "raise1": raise_on(1),
    "raise-all": raise_on(0, 1),
    "kill1": signal_to(1, signal.SIGKILL),
    "crash1": signal_to(1, signal.SIGSEGV),
    "hang1": hang,
    "stubborn1": stubborn,
    "leave1": leave,
    "burst": burst,
    "numbers": numbers,
    "events": many_events,
    "daemon": daemon,
    "fill": fill_disk,
    "gpus": raise_on(),
}


def end_with_parent():
    mp.parent_process().join()
    os._exit(1)


def run_rank(rank, world_size, args):
    threading.Thread(target=end_with_parent, daemon=True).start()
    logs = os.environ.get("NBDDP_LOGS")
    if logs:
        log = os.open(Path(logs, f"rank{rank}.log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.stdout.reconfigure(line_buffering=True)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    device = f"cuda:{rank}" if args.happen == "gpus" else "cpu"
    report("rank", world_size=world_size, pid=os.getpid(), device=device, device_name=device, uuid=f"number-{rank}")
    try:
        train(rank, args)
    except Exception as error:
        report_error(error)
        raise
    time.sleep(0.1)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nproc", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--happen", default="", choices=HAPPEN)
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(free_port()))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    mp.spawn(run_rank, args=(args.nproc, args), nprocs=args.nproc)


if __name__ == "__main__":
    main()
