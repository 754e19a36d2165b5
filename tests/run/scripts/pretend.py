"""Reports as a training does, without torch: for tests that are about whoever watches it."""

import argparse
import json
import os
import sys
import time
from pathlib import Path


def report(event, **fields):
    with Path(os.environ["NBDDP_EVENTS"]).open("a") as file:
        file.write(json.dumps({"event": event, "time": time.time(), "rank": 0, **fields}) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--pause", type=float, default=0.0)
    args = parser.parse_args()
    log = os.open(Path(os.environ["NBDDP_LOGS"], "rank0.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    sys.stdout.reconfigure(line_buffering=True)
    report("rank", world_size=1, pid=os.getpid(), device="cpu", device_name="cpu")
    for epoch in range(args.epochs):
        report("epoch", epoch=epoch, epochs=args.epochs)
        for batch in range(args.batches):
            place = {"epoch": epoch, "batch": batch + 1, "batches": args.batches}
            report("step", step=epoch * args.batches + batch + 1, values={"loss": 0.5}, **place)
            time.sleep(args.pause)
        print(f"epoch {epoch}: loss 0.5")
        if Path(os.environ["NBDDP_STOP"]).exists():
            break
    report("end")
