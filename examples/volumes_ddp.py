"""Train `model` (Net3d) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python volumes_ddp.py                                        # every GPU here
    python volumes_ddp.py --nproc 4 --lr 0.001                   # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... volumes_ddp.py    # several machines

Exported from volumes.ipynb by nbddp 0.1.0 (383f90c5); it needs torch alone.
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
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 20
batch_size = 16
lr = 2e-3
patience = 2


# ── cell 4 ────────────────────────────────────────────────────────────────────────
class Volumes(Dataset):
    """12×12×12 voxels; label 1 where the ball is hollow."""

    def __init__(self, count, seed, size=12):
        self.count, self.seed, self.size = count, seed, size
        axis = torch.arange(size) - (size - 1) / 2
        self.grid = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        draws = torch.Generator().manual_seed(self.seed + index)
        centre = 2 * torch.rand(3, 1, 1, 1, generator=draws) - 1
        radius = 4 + torch.rand(1, generator=draws)
        distance = (self.grid - centre).norm(dim=0)
        label = index % 2
        volume = (distance < radius).float() - label * (distance < radius - 2).float()
        noise = torch.randn(volume.shape, generator=draws)
        return (volume + 0.5 * noise).unsqueeze(0), label


# ── cell 6 ────────────────────────────────────────────────────────────────────────
class Net3d(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv1 = nn.Conv3d(1, width, 3, padding=1)
        self.norm1 = nn.GroupNorm(2, width)
        self.conv2 = nn.Conv3d(width, 2 * width, 3, padding=1)
        self.norm2 = nn.GroupNorm(4, 2 * width)
        self.head = nn.Linear(2 * width * 3**3, 2)

    def forward(self, x):
        x = F.max_pool3d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool3d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.head(x.flatten(1))


# ── cell 7 ────────────────────────────────────────────────────────────────────────
def train_epoch():
    model.train()
    total = 0.0
    for volumes, labels in train_loader:
        volumes, labels = volumes.to(device), labels.to(device)
        loss = F.cross_entropy(ddp_model(volumes), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    total = sum_over_ranks(total)
    return total / len(train_loader.dataset)


@torch.no_grad()
def validate():
    model.eval()
    total = correct = 0
    for volumes, labels in val_loader:
        volumes, labels = volumes.to(device), labels.to(device)
        scores = model(volumes)
        total += F.cross_entropy(scores, labels, reduction="sum").item()
        correct += (scores.argmax(1) == labels).sum().item()
    total = sum_over_ranks(total)
    correct = sum_over_ranks(correct)
    return total / len(val_loader.dataset), correct / len(val_loader.dataset)


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 8, as each process runs them."""
    global ddp_model, device, model, optimizer, train_loader, val_loader  # read by the functions above

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    train_set = Volumes(160, seed=0)
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=batch_size // world_size, sampler=train_sampler)
    val_set = Volumes(50, seed=10_000)
    val_loader = DataLoader(val_set, batch_size=batch_size, sampler=range(rank, len(val_set), world_size))

    # ── cell 6 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    device = rank_device
    model = Net3d().to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    optimizer = optim.Adam(model.parameters(), lr=lr)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=0)

    # ── cell 8: the training loop ─────────────────────────────────────────────────
    best, waited = float("inf"), 0
    for epoch in range(epochs):
        train_sampler.set_epoch(epoch)
        train_loss = train_epoch()
        val_loss, val_accuracy = validate()
        scheduler.step(val_loss)
        rate = optimizer.param_groups[0]["lr"]
        print(f"epoch {epoch}: loss {train_loss:.4f} and {val_loss:.4f}, accuracy {val_accuracy:.2f}, rate {rate:g}")

        if val_loss < best - 0.02:
            best, waited = val_loss, 0
            if rank == 0:
                torch.save(model.state_dict(), "volumes_best.pt")
        else:
            waited += 1
            if waited == patience:
                print(f"stopped: the best loss is {best:.4f}")
                break

    dist.barrier()  # nobody reads what rank 0 is still writing
    model.load_state_dict(torch.load("volumes_best.pt", map_location=device))
    print("accuracy of the best epoch:", validate()[1])

    ddp_model = None  # lets go of the process group: gloo's threads end with it


# ── what several processes need ───────────────────────────────────────────────────
def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    global epochs, batch_size, lr, patience
    epochs, batch_size, lr, patience = args.epochs, args.batch_size, args.lr, args.patience
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
    parser.add_argument("--patience", type=int, default=patience)
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
