"""Train `model` (Sequential) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python predictions_ddp.py                                        # every GPU here
    python predictions_ddp.py --nproc 4 --lr 0.0005                  # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... predictions_ddp.py    # several machines

Exported from predictions.ipynb by nbddp 0.1.0 (80214cd3); it needs torch, numpy, sklearn.
"""

import argparse
import copy
import io
import itertools
import os
import signal
import socket

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import (
    DataLoader,
    DistributedSampler,
    RandomSampler,
    TensorDataset,
)

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 6
batch_size = 22
lr = 1e-3


# ── cell 4 ────────────────────────────────────────────────────────────────────────
def loader_of(X, y, shuffle=False):
    inputs = torch.tensor(scaler.transform(X), dtype=torch.float32)
    return DataLoader(TensorDataset(inputs, torch.tensor(y)), batch_size=batch_size, shuffle=shuffle)


# ── cell 6 ────────────────────────────────────────────────────────────────────────
@torch.no_grad()
def predict(loader):
    """Truth, decision and probability for each sample, in the order of the loader."""
    model.eval()
    truth, decided, probability = [], [], []
    for inputs, targets in share_of(loader):
        p = model(inputs.to(device)).softmax(1)
        truth.extend(targets.tolist())
        decided.extend(p.argmax(1).tolist())
        probability.append(p[:, 1].cpu().numpy())
    truth = gather_in_order(truth, loader)
    decided = gather_in_order(decided, loader)
    probability = gather_in_order(probability, loader)
    return np.array(truth), np.array(decided), np.concatenate(probability)


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 7, as each process runs them."""
    global device, model, scaler  # read by the functions above

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    X, y = load_breast_cancer(return_X_y=True)
    X_rest, X_test, y_rest, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    X_train, X_val, y_train, y_val = train_test_split(X_rest, y_rest, test_size=0.2, stratify=y_rest, random_state=0)
    scaler = StandardScaler().fit(X_train)

    loaders = {
        "train": sharded(loader_of(X_train, y_train, shuffle=True)),
        "val": loader_of(X_val, y_val),
        "test": loader_of(X_test, y_test),
    }

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    device = rank_device
    model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    # ── cell 7: the training loop ─────────────────────────────────────────────────
    best_score, best_weights = -1.0, None
    for epoch in range(epochs):
        model.train()
        train_loss = 0.0
        for inputs, targets in loaders["train"]:
            inputs, targets = inputs.to(device), targets.to(device)
            optimizer.zero_grad()
            loss = criterion(ddp_model(inputs), targets)
            loss.backward()
            optimizer.step()
            train_loss += loss.item()
        train_loss = sum_over_ranks(train_loss) / world_size
        train_loss /= len(loaders["train"])

        truth, decided, probability = predict(loaders["val"])
        score = roc_auc_score(truth, probability)
        print(f"epoch {epoch}: loss {train_loss:.4f}, validation AUC {score:.4f}, F1 {f1_score(truth, decided):.4f}")
        if score > best_score:
            best_score, best_weights = score, copy.deepcopy(model.state_dict())

    model.load_state_dict(best_weights)
    test_truth, test_decided, test_probability = predict(loaders["test"])
    print(f"test of the best epoch: AUC {roc_auc_score(test_truth, test_probability):.4f} on {len(test_truth)} samples")


# ── what several processes need ───────────────────────────────────────────────────
def per_rank(batch_size):
    """The notebook's batch size is that of all processes together; a share is rounded down."""
    world_size = dist.get_world_size()
    share = batch_size // world_size
    if share == 0:
        raise SystemExit(f"a batch of {batch_size} is too small for {world_size} processes")
    if share * world_size != batch_size:
        print(f"batches of {share * world_size} rather than {batch_size}: {share} on each process")
    return share


sampler_seeds = itertools.count()  # for samplers that are built anew: each has an order of its own


class Reshuffled(DistributedSampler):
    """Draws a new order each time that it is gone through, where no epoch number is at hand for `set_epoch`."""

    def __iter__(self):
        order = super().__iter__()
        self.epoch += 1
        return order


def share_of(loader):
    """Every world_size-th batch of a loader that draws in order, as a loader of its own; it is made once."""
    if not hasattr(loader, "share"):
        batches = list(loader.batch_sampler)[dist.get_rank() :: dist.get_world_size()]
        loader.share = DataLoader(loader.dataset, batch_sampler=batches)
    return loader.share


def gather_in_order(values, loader):
    """What the processes have collected over `share_of(loader)`, by batch or by sample, as one would have it."""
    parts, sizes = gathered(values), [len(batch) for batch in loader.batch_sampler]
    lengths = [len(part) for part in parts]
    for counts in ([1] * len(sizes), sizes):  # so many values for each batch, or for each sample of it
        each = sum(lengths) // max(1, sum(counts))
        if lengths == [each * sum(counts[rank :: len(parts)]) for rank in range(len(parts))]:
            full = each * max(counts, default=0)  # values of a batch; the last one may have fewer
            starts = range(0, max(lengths), full or 1)
            pieces = [part[start : start + full] for start in starts for part in parts if len(part) > start]
            return joined(pieces or [values])
    raise ValueError(f"{lengths} values on the processes fit neither the batches nor the samples")


def joined(pieces):
    """Lists, arrays or tensors one after another."""
    if isinstance(pieces[0], torch.Tensor):
        return torch.cat(pieces)
    if isinstance(pieces[0], list):
        return [value for piece in pieces for value in piece]
    return np.concatenate(pieces)


def sharded(loader):
    """A loader of the same data that draws this process's share of every batch."""
    shuffle, seed = isinstance(loader.sampler, RandomSampler), next(sampler_seeds)
    sampler = Reshuffled(loader.dataset, shuffle=shuffle, seed=seed, drop_last=loader.drop_last)
    return DataLoader(loader.dataset, per_rank(loader.batch_size), sampler=sampler, drop_last=loader.drop_last)


def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


def gathered(value):
    """The values that the processes have, by rank; what lay on another's GPU comes to the GPU of this one."""
    buffer, sent = io.BytesIO(), [None] * dist.get_world_size()
    torch.save(value, buffer)
    dist.all_gather_object(sent, buffer.getvalue())
    places = {"map_location": lambda storage, place: storage if place == "cpu" else storage.cuda()}
    return [torch.load(io.BytesIO(data), weights_only=False, **places) for data in sent]


def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    global epochs, batch_size, lr
    epochs, batch_size, lr = args.epochs, args.batch_size, args.lr
    if rank > 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # one process speaks for all
    if torch.cuda.is_available():
        device = torch.device("cuda", local_rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", rank=rank, world_size=world_size, device_id=device)
    else:
        device = torch.device("cpu")
        dist.init_process_group("gloo", rank=rank, world_size=world_size)
    train(rank, world_size, device)
    dist.barrier()  # gloo's threads let go of the last tensors first (pytorch/pytorch#179291)
    dist.destroy_process_group()


def spawned(rank, args):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # on Ctrl-C, or when main has gone, end at once
    run(rank, rank, args.nproc, args)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nproc", type=int, default=torch.cuda.device_count() or 2, help="processes on this machine")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch-size", type=int, default=batch_size, help="of all processes together")
    parser.add_argument("--lr", type=float, default=lr)
    args = parser.parse_args()
    world_size = int(os.environ.get("WORLD_SIZE", args.nproc))
    share = args.batch_size // world_size
    if share == 0:
        parser.error(f"a batch of {args.batch_size} is too small for {world_size} processes")
    if share * world_size != args.batch_size and os.environ.get("RANK", "0") == "0":
        print(f"batches of {share * world_size} rather than {args.batch_size}: {share} on each process")
    if "RANK" in os.environ:  # started by torchrun
        run(int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]), world_size, args)
    else:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // args.nproc)))
        mp.spawn(spawned, args=(args,), nprocs=args.nproc)


if __name__ == "__main__":
    main()
