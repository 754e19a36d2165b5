"""Train `model` (LanguageModel) on all GPUs of this machine, or on 2 CPU processes where there is none.

    python language_model_ddp.py                                        # every GPU here
    python language_model_ddp.py --nproc 4 --learning-rate 0.0015       # choose processes and parameters
    torchrun --nnodes 2 --nproc-per-node 8 ... language_model_ddp.py    # several machines

Exported from language_model.ipynb by nbddp 0.1.0 (0494a1b2); it needs torch alone.
"""

import argparse
import math
import os
import signal
import socket

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

# ── cell 3: parameters ────────────────────────────────────────────────────────────
epochs = 3
batch_size = 32
accumulate = 2  # batches for one step of the optimizer
learning_rate = 3e-3
block_size = 32

# ── cell 4 ────────────────────────────────────────────────────────────────────────
text = """
The training is a loop over batches, and each batch a question that the model answers before it is told the answer.
What it got wrong becomes a gradient, and the gradient a small step. No step is large enough to be seen, and yet, after
some thousands of them, the answers are right. With several processes every one of them asks a part of the batch; they
put their gradients together, take the same step, and so remain the same model. A process that would step alone would
soon be another model, and nobody would notice, for its loss falls just as well. So whoever shares out a training has
to see to it that all take the same steps, in the same order, from the same start; the rest is bookkeeping.
"""


# ── cell 5 ────────────────────────────────────────────────────────────────────────
class Blocks(Dataset):
    """Every stretch of the text, and the same stretch one character later."""

    def __init__(self, tokens):
        self.tokens = tokens

    def __len__(self):
        return len(self.tokens) - block_size

    def __getitem__(self, i):
        return self.tokens[i : i + block_size], self.tokens[i + 1 : i + block_size + 1]


split = 544


# ── cell 6 ────────────────────────────────────────────────────────────────────────
class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, bias=False, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        length = x.size(1)
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, vocabulary, width=48, heads=4, layers=2):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(block_size, width)
        self.layers = nn.Sequential(*[Layer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        places = torch.arange(x.size(1), device=x.device)
        return self.head(self.norm(self.layers(self.token(x) + self.position(places))))


# ── cell 7 ────────────────────────────────────────────────────────────────────────
def factor(step):
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    return 0.5 + 0.5 * math.cos(math.pi * (step - warmup_steps) / (total_steps - warmup_steps))


def train(rank, world_size, rank_device):
    """The notebook's cells 4 to 8, as each process runs them."""
    global total_steps, warmup_steps  # read by the functions above

    # ── cell 4 ────────────────────────────────────────────────────────────────────
    characters = sorted(set(text))
    number = {c: i for i, c in enumerate(characters)}
    tokens = torch.tensor([number[c] for c in text])
    print(len(tokens), "characters,", len(characters), "different ones")

    # ── cell 5 ────────────────────────────────────────────────────────────────────
    train_set = Blocks(tokens[:split])
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=batch_size // world_size, sampler=train_sampler)
    val_set = Blocks(tokens[split:])
    val_loader = DataLoader(val_set, batch_size=batch_size, sampler=range(rank, len(val_set), world_size))

    # ── cell 6 ────────────────────────────────────────────────────────────────────
    torch.manual_seed(0)
    device = rank_device.type
    model = LanguageModel(len(characters)).to(device)
    ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes

    # ── cell 7 ────────────────────────────────────────────────────────────────────
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    total_steps = epochs * len(train_loader) // accumulate
    warmup_steps = total_steps // 10

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")

    # ── cell 8: the training loop ─────────────────────────────────────────────────
    for epoch in range(epochs):
        train_sampler.set_epoch(epoch)
        model.train()
        running = 0.0
        for step, (x, y) in enumerate(train_loader):
            ddp_model.require_backward_grad_sync = (step + 1) % accumulate == 0
            x, y = x.to(device), y.to(device)
            with torch.autocast(device, enabled=device == "cuda"):
                loss = F.cross_entropy(ddp_model(x).flatten(0, 1), y.flatten())
            scaler.scale(loss / accumulate).backward()
            running += loss.item()
            if (step + 1) % accumulate == 0:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
                scheduler.step()
        running = sum_over_ranks(running) / world_size

        model.eval()
        total, count = 0.0, 0
        with torch.no_grad():
            for x, y in val_loader:
                x, y = x.to(device), y.to(device)
                total += F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item()
                count += y.numel()
            total = sum_over_ranks(total)
            count = sum_over_ranks(count)
        perplexity = math.exp(total / count)
        print(f"epoch {epoch}: loss {running / len(train_loader):.4f}, validation perplexity {perplexity:.3f}")

    if rank == 0:
        torch.save(model.state_dict(), "language_model.pt")


# ── what several processes need ───────────────────────────────────────────────────
def sum_over_ranks(value):
    """The sum of a number over all processes; of whole numbers it is one."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return int(total) if isinstance(value, int) and total.item().is_integer() else total.item()


def run(rank, local_rank, world_size, args):
    """Train as one of the processes."""
    global epochs, batch_size, accumulate, learning_rate, block_size
    epochs = args.epochs
    batch_size = args.batch_size
    accumulate = args.accumulate
    learning_rate = args.learning_rate
    block_size = args.block_size
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
    parser.add_argument("--accumulate", type=int, default=accumulate)
    parser.add_argument("--learning-rate", type=float, default=learning_rate)
    parser.add_argument("--block-size", type=int, default=block_size)
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
