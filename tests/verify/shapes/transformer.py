# verdict: same
# %%
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

text = "it is a truth universally acknowledged that a single man in possession of a good fortune must"
chars = sorted(set(text))
tokens = torch.tensor([chars.index(c) for c in text])
block_size = 8


class CharDataset(Dataset):
    def __init__(self, data):
        self.data = data

    def __len__(self):
        return 72

    def __getitem__(self, i):
        chunk = self.data[i : i + block_size + 1]
        return chunk[:-1], chunk[1:]


train_loader = DataLoader(CharDataset(tokens), batch_size=12, shuffle=True)


# %%
class GPT(nn.Module):
    def __init__(self, vocab_size, n_embd=8):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, n_embd)
        self.pos = nn.Embedding(block_size, n_embd)
        layer = nn.TransformerEncoderLayer(n_embd, 2, 32, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(n_embd, vocab_size)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(block_size))

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1), device=idx.device))
        logits = self.head(self.blocks(x, mask=self.mask))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        return logits, loss


torch.manual_seed(7)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT(len(chars)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))

# %%
for epoch in range(2):
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
    print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.4f} ppl {math.exp(total / len(train_loader)):.4f}")
