# oracle: equal within 1e-4
# nproc: 1 2
# values: val_ppl
# %%
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

# %%
text = """it is a truth universally acknowledged that a single man in possession of a good fortune
must be in want of a wife however little known the feelings or views of such a man may be on his
first entering a neighbourhood this truth is so well fixed in the minds of the surrounding families
that he is considered as the rightful property of some one or other of their daughters
my dear mr bennet said his lady to him one day have you heard that netherfield park is let at last
mr bennet replied that he had not but it is returned she for mrs long has just been here"""
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: "".join(itos[i] for i in l)
tokens = torch.tensor(encode(text))
block_size = 16
print(len(text), "characters,", len(chars), "different")


class CharDataset(Dataset):
    def __init__(self, data, block_size):
        self.data = data
        self.block_size = block_size

    def __len__(self):
        return len(self.data) - self.block_size

    def __getitem__(self, i):
        chunk = self.data[i : i + self.block_size + 1]
        return chunk[:-1], chunk[1:]


train_dataset = CharDataset(tokens[:416], block_size)
val_dataset = CharDataset(tokens[416:], block_size)
train_loader = DataLoader(train_dataset, batch_size=20, shuffle=True)
val_loader = DataLoader(val_dataset, batch_size=20)


# %%
class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.ln1 = nn.LayerNorm(n_embd)
        self.attn = nn.MultiheadAttention(n_embd, n_head, bias=False, batch_first=True)
        self.ln2 = nn.LayerNorm(n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 2 * n_embd), nn.GELU(), nn.Linear(2 * n_embd, n_embd))

    def forward(self, x, mask):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, block_size, n_embd=32, n_head=4, n_layer=1):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, n_embd)
        self.pos = nn.Embedding(block_size, n_embd)
        self.blocks = nn.ModuleList([Block(n_embd, n_head) for _ in range(n_layer)])
        self.head = nn.Linear(n_embd, vocab_size)
        self.register_buffer("mask", torch.triu(torch.ones(block_size, block_size, dtype=torch.bool), 1))

    def forward(self, idx, targets=None):
        t = idx.size(1)
        x = self.tok(idx) + self.pos(torch.arange(t, device=idx.device))
        for block in self.blocks:
            x = block(x, self.mask[:t, :t])
        logits = self.head(x)
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        return logits, loss


torch.manual_seed(1337)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT(len(chars), block_size).to(device)

# %%
epochs = 3
warmup = 10
total_steps = epochs * len(train_loader)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)


def schedule(step):
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total_steps - warmup)))


scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)

# %% tags=["ddp-train"]
for epoch in range(epochs):
    model.train()
    total = 0.0
    for xb, yb in train_loader:
        xb, yb = xb.to(device), yb.to(device)
        logits, loss = model(xb, yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()

    model.eval()
    val_total, n_tokens = 0.0, 0
    with torch.no_grad():
        for xb, yb in val_loader:
            xb, yb = xb.to(device), yb.to(device)
            _, loss = model(xb, yb)
            val_total += loss.item() * yb.numel()
            n_tokens += yb.numel()
    val_ppl = math.exp(val_total / n_tokens)
    print(f"epoch {epoch} | lr {scheduler.get_last_lr()[0]:.6f} | train {total / len(train_loader):.5f} | val ppl {val_ppl:.4f}")

torch.save(model.state_dict(), "gpt.pt")


# %%
@torch.no_grad()
def generate(prompt, n=40):
    model.eval()
    idx = torch.tensor([encode(prompt)], device=device)
    for _ in range(n):
        logits, _ = model(idx[:, -block_size:])
        idx = torch.cat([idx, logits[:, -1].argmax(-1, keepdim=True)], 1)
    return decode(idx[0].tolist())


print(generate("mr bennet "))
