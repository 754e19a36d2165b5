# verdict: same
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
batch_size = 12
tokens = torch.randint(0, 10, (84, 7))
labels = (tokens < 4).sum(1) > 2
train_loader = DataLoader(TensorDataset(tokens[:72], labels[:72]), shuffle=True, batch_size=batch_size)
valid_loader = DataLoader(TensorDataset(tokens[72:], labels[72:]), batch_size=batch_size)


# %%
class SentimentRNN(nn.Module):
    def __init__(self, n_layers=2, hidden_dim=8):
        super().__init__()
        self.n_layers, self.hidden_dim = n_layers, hidden_dim
        self.embedding = nn.Embedding(10, 6)
        self.lstm = nn.LSTM(6, hidden_dim, n_layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, 1)

    def forward(self, x, hidden):
        out, hidden = self.lstm(self.embedding(x), hidden)
        return torch.sigmoid(self.fc(out[:, -1])), hidden

    def init_hidden(self, batch_size):
        weight = next(self.parameters()).data
        return (
            weight.new(self.n_layers, batch_size, self.hidden_dim).zero_(),
            weight.new(self.n_layers, batch_size, self.hidden_dim).zero_(),
        )


net = SentimentRNN()
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)

# %% tags=["ddp-train"]
net.train()
for e in range(2):
    train_loss = 0.0
    for inputs, labels in train_loader:
        h = net.init_hidden(batch_size)
        net.zero_grad()
        output, h = net(inputs, h)
        loss = criterion(output.squeeze(), labels.float())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5)
        optimizer.step()
        train_loss += loss.item()

    val_losses = []
    net.eval()
    with torch.no_grad():
        for inputs, labels in valid_loader:
            output, _ = net(inputs, net.init_hidden(batch_size))
            val_losses.append(criterion(output.squeeze(), labels.float()).item())
    net.train()
    print(f"epoch {e} train {train_loss / len(train_loader):.6f} valid {sum(val_losses) / len(val_losses):.6f}")
