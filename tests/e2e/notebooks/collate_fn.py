# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(9)
PAD = 0


# %%
class BracketDataset(Dataset):
    """Sequences of different lengths; the label says which token leads more often."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(4, 15, (1,), generator=g))
            seq = torch.randint(1, 5, (length,), generator=g)
            self.items.append((seq, int((seq == 1).sum() > (seq == 2).sum())))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    padded = pad_sequence(seqs, batch_first=True, padding_value=PAD)
    return padded, lengths, torch.tensor(labels)


train_loader = DataLoader(BracketDataset(384, 0), batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(BracketDataset(77, 1), batch_size=32, collate_fn=collate)


# %%
class BagOfTokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 16, padding_idx=PAD)
        self.out = nn.Linear(16, 2)

    def forward(self, x, lengths):
        mean = self.emb(x).sum(1) / lengths.unsqueeze(1)
        return self.out(mean)


model = BagOfTokens()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
criterion = nn.CrossEntropyLoss()

# %%
for epoch in range(3):
    model.train()
    train_loss = 0
    for x, lengths, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x, lengths), y)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * y.shape[0]
    model.eval()
    right = 0
    for x, lengths, y in test_loader:
        with torch.no_grad():
            right += (model(x, lengths).argmax(1) == y).sum().item()
    print(f"Epoch {epoch}: loss {train_loss / len(train_loader.dataset):.5f}, accuracy {right}/{len(test_loader.dataset)}")

torch.save(model.state_dict(), "bag.pt")
