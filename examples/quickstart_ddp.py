"""Train `model` (Net) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python quickstart_ddp.py                                        # every GPU here
    python quickstart_ddp.py --nproc 4 --lr 0.05                    # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... quickstart_ddp.py    # several machines

Exported from quickstart.ipynb by nbddp 0.1.0 (082f13e9); it needs torch, sklearn.
"""

import argparse
import os
import signal
import socket

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

# ── cell 4: parameters ────────────────────────────────────────────────────────────
lr = 0.1
batch_size = 120
epochs = 10


# ── cell 6 ────────────────────────────────────────────────────────────────────────
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.out = nn.Linear(32 * 4 * 4, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.out(x.flatten(1))


def train(rank, world_size, device):
    """The notebook's cells 5 to 8, as each process runs them."""
    # ── cell 5 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    train_x, val_x, train_y, val_y = train_test_split(images, labels, test_size=357, random_state=0)
    train_set = TensorDataset(train_x, train_y)
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=batch_size // world_size, sampler=train_sampler)
    val_set = TensorDataset(val_x, val_y)
    val_loader = DataLoader(val_set, batch_size=batch_size, sampler=range(rank, len(val_set), world_size))

    # ── cell 6 ────────────────────────────────────────────────────────────────────
    model = Net().to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    # ── cell 8: the training loop ─────────────────────────────────────────────────
    losses, accuracies = [], []
    for epoch in range(epochs):
        train_sampler.set_epoch(epoch)
        model.train()
        total_loss = 0.0
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            loss = F.cross_entropy(ddp_model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total_loss += loss.item()
        total_loss = sum_over_ranks(total_loss) / world_size

        model.eval()
        correct = 0
        with torch.no_grad():
            for x, y in val_loader:
                correct += (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
            correct = sum_over_ranks(correct)

        losses.append(total_loss / len(train_loader))
        accuracies.append(correct / len(val_x))
        print(f"epoch {epoch}: loss {losses[-1]:.4f}, validation accuracy {accuracies[-1]:.4f}")


# ── what several processes need ───────────────────────────────────────────────────
def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    global lr, batch_size, epochs
    lr, batch_size, epochs = args.lr, args.batch_size, args.epochs
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
    parser.add_argument("--lr", type=float, default=lr)
    parser.add_argument("--batch-size", type=int, default=batch_size, help="of all processes together")
    parser.add_argument("--epochs", type=int, default=epochs)
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
