"""Train `model` (GPT) on 2 processes.

    python gpt_ddp.py                                        # 2 processes
    python gpt_ddp.py --nproc 4 --learning-rate 0.0015       # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... gpt_ddp.py    # several machines

Exported from gpt.ipynb by nbddp 0.1.0 (1b825137); it needs torch alone.
"""

import argparse
import os
import pydoc_data.topics
import signal
import socket

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

# ── cell 3: parameters ────────────────────────────────────────────────────────────
steps = 100
batch_size = 32
context = 64
width = 64
heads = 4
layers = 2
learning_rate = 3e-3


# ── cell 4 ────────────────────────────────────────────────────────────────────────
def get_batch(part):
    offsets = torch.randint(len(part) - context, (batch_size,))
    x = torch.stack([part[i : i + context] for i in offsets])
    y = torch.stack([part[i + 1 : i + context + 1] for i in offsets])
    return x.to(device), y.to(device)


# ── cell 5 ────────────────────────────────────────────────────────────────────────
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (h.view(B, T, heads, C // heads).transpose(1, 2) for h in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(len(letters), width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
        self.head = nn.Linear(width, len(letters))

    def forward(self, x, targets=None):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        logits = self.head(self.blocks(h))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


@torch.no_grad()
def validation_loss(batches=10):
    model.eval()
    losses = [model(*get_batch(val_data))[1].item() for _ in range(batches)]
    model.train()
    return sum(losses) / batches


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 7, as each process runs them."""
    global device, letters, model, val_data  # read by the functions above

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(1337)
    text = "".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics))[:100_000]
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters)}
    data = torch.tensor([number[letter] for letter in text])
    split = int(0.9 * len(data))
    train_data, val_data = data[:split], data[split:]

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    device = rank_device.type

    model = GPT().to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)

    # ── cell 7: the training loop ─────────────────────────────────────────────────
    for step in range(steps):
        xb, yb = get_batch(train_data)
        mine, weight = my_part(xb, yb)
        xb, yb = xb[mine], yb[mine]
        logits, loss = ddp_model(xb, yb)
        loss = weighted(loss, weight)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 25 == 24:
            held_out = validation_loss()
            print(f"step {step + 1}: loss {sum_over_ranks(loss.item()) / world_size:.4f}, validation {held_out:.4f}")


# ── what several processes need ───────────────────────────────────────────────────
def my_part(*batch):
    """Which samples of a batch are this process's, and what their mean counts in that of the whole batch."""
    rank, world_size, total = dist.get_rank(), dist.get_world_size(), len(batch[0])
    if any(len(part) != total for part in batch):
        raise ValueError(f"{[len(part) for part in batch]} samples are not those of one batch")
    first, end = total * rank // world_size, total * (rank + 1) // world_size
    return slice(first, end), (end - first) * world_size / total if total else 1.0


def weighted(mean, weight):
    """A mean over this process's samples, so that the mean over all processes is that of the whole batch."""
    if weight:
        return mean * weight
    return mean.nan_to_num() if isinstance(mean, torch.Tensor) else 0.0  # of no samples, but for the gradients


def sum_over_ranks(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    global steps, batch_size, context, width, heads, layers, learning_rate
    steps = args.steps
    batch_size = args.batch_size
    context = args.context
    width = args.width
    heads = args.heads
    layers = args.layers
    learning_rate = args.learning_rate
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
    parser.add_argument("--nproc", type=int, default=2, help="processes on this machine")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--batch-size", type=int, default=batch_size)
    parser.add_argument("--context", type=int, default=context)
    parser.add_argument("--width", type=int, default=width)
    parser.add_argument("--heads", type=int, default=heads)
    parser.add_argument("--layers", type=int, default=layers)
    parser.add_argument("--learning-rate", type=float, default=learning_rate)
    args = parser.parse_args()
    if "RANK" in os.environ:  # started by torchrun
        run(int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"]), args)
    else:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // args.nproc)))
        mp.spawn(spawned, args=(args,), nprocs=args.nproc)


if __name__ == "__main__":
    main()
