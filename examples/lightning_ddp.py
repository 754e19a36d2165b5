"""Train the notebook's model with Lightning on all GPUs of this machine, or on 2 CPU processes where there is none.

    python lightning_ddp.py                                        # every GPU here
    python lightning_ddp.py --nproc 4 --lr 0.05                    # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... lightning_ddp.py    # several machines

Exported from lightning.ipynb by nbddp 0.1.0 (14353d8a); it needs torch, lightning, sklearn.
"""

import argparse
import os
import random
import signal
import socket
import sys

import lightning as L
import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 4
batch_size = 120
lr = 0.1


# ── cell 5 ────────────────────────────────────────────────────────────────────────
class Digits(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.out = nn.Linear(32 * 4 * 4, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.out(x.flatten(1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        accuracy = (self(x).argmax(1) == y).float().mean()
        self.log("val_accuracy", accuracy, sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 6, as each process runs them."""
    # ── cell 4 ────────────────────────────────────────────────────────────────────
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    train_x, val_x, train_y, val_y = train_test_split(images, labels, train_size=1440, test_size=356, random_state=0)
    train_loader = DataLoader(TensorDataset(train_x, train_y), batch_size=per_rank(batch_size), shuffle=True)
    val_loader = DataLoader(TensorDataset(val_x, val_y), batch_size=batch_size)

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    L.seed_everything(0)
    model = Digits(lr)

    # ── cell 6: the training loop ─────────────────────────────────────────────────
    trainer = L.Trainer(
        max_epochs=epochs,
        logger=False,
        enable_checkpointing=False,
        devices=ranks_here(),
        strategy="ddp",
    )
    trainer.fit(model, train_loader, val_loader)
    metrics = trainer.callback_metrics
    print(f"epoch {epochs}: loss {metrics['loss']:.4f}, validation accuracy {metrics['val_accuracy']:.4f}")


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


def ranks_here():
    """How many processes train on this machine."""
    return int(os.environ["LOCAL_WORLD_SIZE"])


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
    train(rank, world_size, device)
    dist.barrier()  # gloo's threads let go of the last tensors first (pytorch/pytorch#179291)
    dist.destroy_process_group()


def spawned(rank, args, method):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # on Ctrl-C, or when main has gone, end at once
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
    os.environ.update(WORLD_SIZE=str(args.nproc), LOCAL_WORLD_SIZE=str(args.nproc))
    mp.set_start_method(method, force=True)  # for the workers of a DataLoader: "spawn" would be the default in here
    run(rank, rank, args.nproc, args)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nproc", type=int, default=torch.cuda.device_count() or 2, help="processes on this machine")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch-size", type=int, default=batch_size)
    parser.add_argument("--lr", type=float, default=lr)
    args = parser.parse_args()
    if "RANK" in os.environ:  # started by torchrun
        run(int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"]), args)
    else:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // args.nproc)))
        mp.spawn(spawned, args=(args, mp.get_start_method()), nprocs=args.nproc)


if __name__ == "__main__":
    main()
