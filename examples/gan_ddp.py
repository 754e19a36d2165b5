"""Train `netG` (Generator) and `netD` (Discriminator) on all GPUs of this machine, or on 2 CPU processes where there is
none.

    python gan_ddp.py                                        # every GPU here
    python gan_ddp.py --nproc 4 --lr 0.00025                 # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... gan_ddp.py    # several machines

Exported from gan.ipynb by nbddp 0.1.0 (8c7d2522); it needs torch, sklearn.
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
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

# ── cell 3: parameters ────────────────────────────────────────────────────────────
num_epochs = 5
batch_size = 64
lr = 5e-4
nz = 16  # length of a noise vector


# ── cell 5 ────────────────────────────────────────────────────────────────────────
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, 128),
            nn.LeakyReLU(0.2),
            nn.Linear(128, 64),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(64, 128),
            nn.LeakyReLU(0.2),
            nn.Linear(128, 1),
        )

    def forward(self, x):
        return self.main(x).squeeze(1)


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.05)
        nn.init.zeros_(m.bias)


def train(rank, world_size, device):
    """The notebook's cells 4 to 7, as each process runs them."""
    # ── cell 4 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    digits = torch.tensor(load_digits().data, dtype=torch.float32) / 8 - 1
    noise = torch.randn(len(digits), nz)
    dataset = TensorDataset(digits, noise)
    sampler = DistributedSampler(dataset, drop_last=True)
    dataloader = DataLoader(dataset, batch_size=batch_size // world_size, sampler=sampler, drop_last=True)

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    netG = Generator().to(device)
    netD = Discriminator().to(device)
    netG.apply(weights_init)
    ddp_netG = DDP(netG)  # the same parameters; their gradients are averaged over all processes
    netD.apply(weights_init)
    ddp_netD = DDP(netD)

    # ── cell 6 ────────────────────────────────────────────────────────────────────
    criterion = nn.BCEWithLogitsLoss()
    optimizerG = optim.Adam(netG.parameters(), lr=lr, betas=(0.5, 0.999))
    optimizerD = optim.Adam(netD.parameters(), lr=lr, betas=(0.5, 0.999))
    real_label, fake_label = 1.0, 0.0

    # ── cell 7: the training loop ─────────────────────────────────────────────────
    G_losses, D_losses = [], []
    for epoch in range(num_epochs):
        sampler.set_epoch(epoch)
        sum_G = sum_D = 0.0
        for real, z in dataloader:
            real, z = real.to(device), z.to(device)
            b_size = real.size(0)

            # the discriminator: real images are real, generated ones are not
            netD.zero_grad()
            label = torch.full((b_size,), real_label, device=device)
            errD_real = criterion(ddp_netD(real), label)
            errD_real.backward()

            fake = ddp_netG(z)
            label.fill_(fake_label)
            errD_fake = criterion(ddp_netD(fake.detach()), label)
            errD_fake.backward()
            optimizerD.step()

            # the generator: the discriminator shall take its images for real ones
            netG.zero_grad()
            label.fill_(real_label)
            errG = criterion(ddp_netD(fake), label)
            errG.backward()
            optimizerG.step()

            sum_G += errG.item()
            sum_D += (errD_real + errD_fake).item()
        sum_G = sum_over_ranks(sum_G) / world_size
        sum_D = sum_over_ranks(sum_D) / world_size

        G_losses.append(sum_G / len(dataloader))
        D_losses.append(sum_D / len(dataloader))
        print(f"epoch {epoch}: generator {G_losses[-1]:.4f}, discriminator {D_losses[-1]:.4f}")

    if rank == 0:
        torch.save({"generator": netG.state_dict(), "discriminator": netD.state_dict()}, "gan.pt")


# ── what several processes need ───────────────────────────────────────────────────
def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    global num_epochs, batch_size, lr, nz
    num_epochs, batch_size, lr, nz = args.num_epochs, args.batch_size, args.lr, args.nz
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
    parser.add_argument("--num-epochs", type=int, default=num_epochs)
    parser.add_argument("--batch-size", type=int, default=batch_size, help="of all processes together")
    parser.add_argument("--lr", type=float, default=lr)
    parser.add_argument("--nz", type=int, default=nz)
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
