"""Train `model` (TwoLayers) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python fashion_mnist_ddp.py                                        # every GPU here
    python fashion_mnist_ddp.py --nproc 4 --learning-rate 0.025        # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... fashion_mnist_ddp.py    # several machines

Exported from fashion_mnist.ipynb by nbddp 0.1.0 (c33b2d3b); it needs torch alone.
"""

import argparse
import os
import signal
import socket
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

try:
    from torchvision import datasets, transforms
except ImportError:
    datasets = None

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 3
batch_size = 64
learning_rate = 0.05


# ── cell 4 ────────────────────────────────────────────────────────────────────────
def made_images(count, seed):
    """Ten blurred shapes under noise."""
    kinds = torch.Generator().manual_seed(0)
    shapes = nn.functional.interpolate(torch.rand(10, 1, 7, 7, generator=kinds), size=28, mode="bilinear")
    draws = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=draws)
    noise = torch.rand(count, 1, 28, 28, generator=draws)
    return TensorDataset(0.25 * shapes[labels] + 0.75 * noise, labels)


# ── cell 7 ────────────────────────────────────────────────────────────────────────
class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.layers = nn.Sequential(
            nn.Linear(28 * 28, 512),
            nn.ReLU(),
            nn.Linear(512, 10),
        )

    def forward(self, x):
        return self.layers(self.flatten(x))


# ── cell 9 ────────────────────────────────────────────────────────────────────────
def train_loop(dataloader, model, loss_fn, optimizer):
    model.train()
    total = 0.0
    for X, y in dataloader:
        X, y = X.to(device), y.to(device)
        loss = loss_fn(model(X), y)

        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
    total = sum_over_ranks(total) / dist.get_world_size()
    return total / len(dataloader)


def test_loop(dataloader, model, loss_fn):
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for X, y in share_of(dataloader):
            X, y = X.to(device), y.to(device)
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(torch.float).sum().item()
        test_loss = sum_over_ranks(test_loss)
        correct = sum_over_ranks(correct)
    return test_loss / len(dataloader), correct / len(dataloader.dataset)


def train(rank, world_size, rank_device):
    """The notebook's cells 5 to 10, as each process runs them."""
    global device  # read by the functions above

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    root = Path("data")
    if datasets is not None and (root / "FashionMNIST").exists():
        train_data = datasets.FashionMNIST(root, train=True, transform=transforms.ToTensor())
        test_data = datasets.FashionMNIST(root, train=False, transform=transforms.ToTensor())
    else:
        train_data, test_data = made_images(3000, seed=1), made_images(1000, seed=2)

    train_sampler = DistributedSampler(train_data)
    train_dataloader = DataLoader(train_data, batch_size=batch_size // world_size, sampler=train_sampler)
    test_dataloader = DataLoader(test_data, batch_size=batch_size)
    print(len(train_data), "images to train on,", len(test_data), "to test")

    # ── cell 7 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    device = rank_device.type
    model = TwoLayers().to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    print(model)

    # ── cell 8 ────────────────────────────────────────────────────────────────────
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)

    # ── cell 10: the training loop ────────────────────────────────────────────────
    for t in range(epochs):
        train_sampler.set_epoch(t)
        average_loss = train_loop(train_dataloader, ddp_model, loss_fn, optimizer)
        test_loss, accuracy = test_loop(test_dataloader, model, loss_fn)
        print(f"Epoch {t + 1}: average loss {average_loss:.4f}, test loss {test_loss:.4f}, accuracy {accuracy:.1%}")

    if rank == 0:
        torch.save(model.state_dict(), "fashion_mnist.pt")


# ── what several processes need ───────────────────────────────────────────────────
def share_of(loader):
    """Every world_size-th batch of a loader that draws in order, as a loader of its own; it is made once."""
    if not hasattr(loader, "share"):
        batches = list(loader.batch_sampler)[dist.get_rank() :: dist.get_world_size()]
        loader.share = DataLoader(loader.dataset, batch_sampler=batches)
    return loader.share


def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    global epochs, batch_size, learning_rate
    epochs, batch_size, learning_rate = args.epochs, args.batch_size, args.learning_rate
    if rank > 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # one process speaks for all
    if torch.cuda.is_available():
        device = torch.device("cuda", local_rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", rank=rank, world_size=world_size, device_id=device)
    else:
        device = torch.device("cpu")
        dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(args.seed)  # all processes build the same data and weights
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
    parser.add_argument("--learning-rate", type=float, default=learning_rate)
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
