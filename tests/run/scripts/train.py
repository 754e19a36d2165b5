"""A small script of the shape that nbddp exports: trains a linear model on N processes and reports as one does.

Options beyond those of an exported script make it fail, wait or talk in the ways that the tests are about.
"""

import argparse
import json
import math
import os
import signal
import socket
import sys
import time
import traceback

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
        finally:
            os.close(descriptor)


def report_error(error):
    frames = [
        {"file": f.filename, "line": f.lineno, "function": f.name} for f in traceback.extract_tb(error.__traceback__)
    ]
    text = "".join(traceback.format_exception(error))
    victim = "closed by peer" in str(error) or "reset by peer" in str(error)
    report("error", type=type(error).__name__, message=str(error), traceback=frames, text=text, victim=victim)


def train(rank, args):
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    start = os.environ.get("NBDDP_START")
    if start:
        model.module.load_state_dict(torch.load(start, weights_only=True)["states"]["model"])
    x = torch.randn(64, 8)
    y = x.sum(1, keepdim=True)
    step, loss_sum = 0, 0.0
    for epoch in range(args.epochs):
        if rank == 0:
            report("epoch", epoch=epoch, epochs=args.epochs)
        for batch in range(args.batches):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            step += 1
            if epoch == args.at_epoch and batch == 1:
                happen(args.happen, rank, args)
            loss_sum = math.nan if args.happen == "nan" else loss.item()
            report(
                "step",
                step=step,
                steps=None,
                epoch=epoch,
                values={"loss": loss_sum},
                memory=None,
                batch=batch + 1,
                batches=args.batches,
            )
            time.sleep(args.pause)
        print(f"epoch {epoch}: loss {loss_sum:.6f}")
        if rank == 0:
            report("metrics", epoch=epoch, values={"mean_loss": loss_sum})
        if should_stop():
            break
    if rank == 0 and os.environ.get("NBDDP_RESULT"):
        path = os.environ["NBDDP_RESULT"]
        values = {"loss": loss_sum, "steps": step, "words": ["a", 1, None], "array": {"__ndarray__": torch.arange(3)}}
        result = {
            "format": 1,
            "states": {"model": model.module.state_dict()},
            "values": values,
            "left_out": {"f": "a function"},
        }
        torch.save(result, path + ".part")
        os.replace(path + ".part", path)
        report("result", path=path)
    report("end")


def should_stop():
    stop = torch.tensor(os.path.exists(os.environ.get("NBDDP_STOP", "")), dtype=torch.int)
    dist.broadcast(stop, 0)
    return bool(stop)


def happen(what, rank, args):
    if what == "raise0" and rank == 0:
        raise ValueError("bad label on rank 0")
    if what == "raise1" and rank == 1:
        raise ValueError("bad label on rank 1")
    if what == "raise-all":
        raise ValueError(f"bad label on rank {rank}")
    if what == "kill1" and rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "crash1" and rank == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "hang1" and rank == 1:
        wait_for_ever()
    if what == "stubborn1":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if rank == 1:
            raise ValueError("bad label on rank 1")
        wait_for_ever()
    if what == "leave" and rank == 1:
        raise SystemExit("batch size 50 does not divide among 3 processes")
    if what == "burst" and rank == 0:
        for number in range(args.count):
            print(f"line {number} of the burst")
    if what == "events" and rank == 0:
        for number in range(args.count):
            report("step", step=number, steps=None, epoch=0, values={"loss": 1.0}, memory=None, batch=1, batches=None)
    if what == "daemon" and rank == 0 and os.fork() == 0:
        os.setsid()
        wait_for_ever()


def wait_for_ever():
    while True:
        time.sleep(60)


def run_rank(rank, world_size, args):
    logs = os.environ.get("NBDDP_LOGS")
    if logs:
        log = os.open(os.path.join(logs, f"rank{rank}.log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.stdout.reconfigure(line_buffering=True)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    report("rank", world_size=world_size, pid=os.getpid(), device="cpu", device_name="cpu")
    try:
        train(rank, args)
    except Exception as error:
        report_error(error)
        raise
    finally:
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
    parser.add_argument("--happen", default="")
    parser.add_argument("--at-epoch", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(free_port()))
    torch.set_num_threads(1)
    mp.spawn(run_rank, args=(args.nproc, args), nprocs=args.nproc)


if __name__ == "__main__":
    main()
