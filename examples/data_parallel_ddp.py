"""Train `model` (Sequential) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python data_parallel_ddp.py                                        # every GPU here
    python data_parallel_ddp.py --nproc 4 --lr 0.1                     # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... data_parallel_ddp.py    # several machines

Exported from data_parallel.ipynb by nbddp 0.1.0 (ac02e01a); it needs torch, sklearn.
"""

import argparse
import os
import signal
import socket

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 5
batch_size = 64
lr = 0.2


# ── cell 6 ────────────────────────────────────────────────────────────────────────
@torch.no_grad()
def accuracy(loader):
    model.eval()
    correct = 0
    for x, y in loader:
        correct += (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
    correct = sum_over_ranks(correct)
    return correct / len(loader.dataset)


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 7, as each process runs them."""
    global device, model  # read by the functions above

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    digits = load_digits()
    pixels = torch.tensor(digits.data, dtype=torch.float32) / 16
    targets = torch.tensor(digits.target)
    train_x, test_x, train_y, test_y = train_test_split(pixels, targets, test_size=397, random_state=0)
    train_set = TensorDataset(train_x, train_y)
    train_sampler = DistributedSampler(train_set, drop_last=True)
    train_loader = DataLoader(train_set, batch_size=batch_size // world_size, sampler=train_sampler, drop_last=True)
    test_set = TensorDataset(test_x, test_y)
    test_loader = DataLoader(test_set, batch_size=256, sampler=range(rank, len(test_set), world_size))

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    device = rank_device
    model = nn.Sequential(
        nn.Linear(64, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    ).to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    # ── cell 7: the training loop ─────────────────────────────────────────────────
    history = []
    for epoch in range(epochs):
        train_sampler.set_epoch(epoch)
        model.train()
        running_loss = 0.0
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = criterion(ddp_model(x), y)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        running_loss = sum_over_ranks(running_loss) / world_size

        history.append(running_loss / len(train_loader))
        print(f"epoch {epoch + 1}: loss {history[-1]:.4f}, test accuracy {accuracy(test_loader):.4f}")


# ── what several processes need ───────────────────────────────────────────────────
def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


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
