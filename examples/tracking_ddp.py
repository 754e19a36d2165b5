"""Train `model` (Sequential) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python tracking_ddp.py                                        # every GPU here
    python tracking_ddp.py --nproc 4 --lr 0.025                   # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... tracking_ddp.py    # several machines

Exported from tracking.ipynb by nbddp 0.1.0 (017fdfbe); it needs torch, mlflow, sklearn.
"""

import argparse
import os
import random
import signal
import socket
import sys

import mlflow
import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split
from torch.utils.tensorboard import SummaryWriter

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 8
batch_size = 24
lr = 0.05


def train(rank, world_size, device):
    """The notebook's cells 4 to 7, as each process runs them."""
    global mlflow

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    wine = load_wine()
    inputs = torch.tensor(StandardScaler().fit_transform(wine.data), dtype=torch.float32)
    data = TensorDataset(inputs, torch.tensor(wine.target))
    train_set, val_set = random_split(data, [120, 58], generator=torch.Generator().manual_seed(0))
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=batch_size // world_size, sampler=train_sampler)
    val_loader = DataLoader(val_set, batch_size=batch_size, sampler=range(rank, len(val_set), world_size))

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3)).to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    # ── cell 6 ────────────────────────────────────────────────────────────────────
    writer = SummaryWriter("logs/wine") if rank == 0 else Silent()
    mlflow = mlflow if rank == 0 else Silent()
    mlflow.set_experiment("wine")

    # ── cell 7: the training loop ─────────────────────────────────────────────────
    with mlflow.start_run():
        mlflow.log_params({"epochs": epochs, "batch_size": batch_size, "lr": lr})
        for epoch in range(epochs):
            train_sampler.set_epoch(epoch)
            model.train()
            train_loss = 0.0
            for x, y in train_loader:
                x, y = x.to(device), y.to(device)
                loss = F.cross_entropy(ddp_model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                train_loss += loss.item()
            train_loss = sum_over_ranks(train_loss) / world_size
            train_loss /= len(train_loader)

            model.eval()
            correct = 0
            with torch.no_grad():
                for x, y in val_loader:
                    correct += (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
                correct = sum_over_ranks(correct)
            val_accuracy = correct / len(val_set)

            writer.add_scalar("loss/train", train_loss, epoch)
            writer.add_scalar("accuracy/validation", val_accuracy, epoch)
            mlflow.log_metrics({"train_loss": train_loss, "val_accuracy": val_accuracy}, step=epoch)
            print(f"epoch {epoch}: loss {train_loss:.4f}, validation accuracy {val_accuracy:.4f}")
    writer.close()


# ── what several processes need ───────────────────────────────────────────────────
def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


class Silent:
    """Stands for a writer on the processes that keep no log: whatever is called on it does nothing."""

    def __getattr__(self, name):
        return self

    def __call__(self, *_, **__):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __setitem__(self, key, value):
        pass

    def __getitem__(self, key):
        return self


# ── the processes ─────────────────────────────────────────────────────────────────
def seed_everything(seed):
    """All processes build the same data and weights."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


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
    seed_everything(args.seed)
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
    parser.add_argument("--seed", type=int, default=0, help="with which all processes build data and weights")
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
