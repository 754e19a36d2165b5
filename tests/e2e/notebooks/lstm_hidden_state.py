# oracle: equal
# nproc: 1 2
# %%
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
np.random.seed(0)

# %%
# sentiment-like toy task: does token 1 occur more often than token 2?
vocab_size = 20
seq_len = 12
tokens = np.random.randint(1, vocab_size, size=(560, seq_len))
labels = ((tokens == 1) | (tokens < 6)).sum(1) > 4

train_x, val_x = tokens[:480], tokens[480:]
train_y, val_y = labels[:480], labels[480:]
train_data = TensorDataset(torch.from_numpy(train_x), torch.from_numpy(train_y))
valid_data = TensorDataset(torch.from_numpy(val_x), torch.from_numpy(val_y))

batch_size = 40
train_loader = DataLoader(train_data, shuffle=True, batch_size=batch_size, drop_last=True)
valid_loader = DataLoader(valid_data, shuffle=False, batch_size=batch_size, drop_last=True)

# First checking if GPU is available
train_on_gpu = torch.cuda.is_available()
print('Training on GPU.' if train_on_gpu else 'No GPU available, training on CPU.')


# %%
class SentimentRNN(nn.Module):
    def __init__(self, vocab_size, output_size, embedding_dim, hidden_dim, n_layers):
        super().__init__()
        self.output_size = output_size
        self.n_layers = n_layers
        self.hidden_dim = hidden_dim
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, n_layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_size)
        self.sig = nn.Sigmoid()

    def forward(self, x, hidden):
        batch_size = x.size(0)
        embeds = self.embedding(x)
        lstm_out, hidden = self.lstm(embeds, hidden)
        out = self.fc(lstm_out[:, -1])
        sig_out = self.sig(out).view(batch_size, -1)
        return sig_out[:, -1], hidden

    def init_hidden(self, batch_size):
        ''' Initializes hidden state '''
        # Create two new tensors with sizes n_layers x batch_size x hidden_dim,
        # initialized to zero, for hidden state and cell state of LSTM
        weight = next(self.parameters()).data
        if train_on_gpu:
            hidden = (weight.new(self.n_layers, batch_size, self.hidden_dim).zero_().cuda(),
                      weight.new(self.n_layers, batch_size, self.hidden_dim).zero_().cuda())
        else:
            hidden = (weight.new(self.n_layers, batch_size, self.hidden_dim).zero_(),
                      weight.new(self.n_layers, batch_size, self.hidden_dim).zero_())
        return hidden


net = SentimentRNN(vocab_size, 1, 16, 24, 1)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

# %% tags=["ddp-train"]
epochs = 3
clip = 5  # gradient clipping

if train_on_gpu:
    net.cuda()

net.train()
for e in range(epochs):
    train_loss = 0.0
    # initialize hidden state
    h = net.init_hidden(batch_size)

    for inputs, labels in train_loader:
        if train_on_gpu:
            inputs, labels = inputs.cuda(), labels.cuda()

        # Creating new variables for the hidden state, otherwise
        # we'd backprop through the entire training history
        h = tuple([each.data for each in h])

        net.zero_grad()
        output, h = net(inputs, net.init_hidden(batch_size))
        loss = criterion(output.squeeze(), labels.float())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), clip)
        optimizer.step()
        train_loss += loss.item()

    # Get validation loss
    val_h = net.init_hidden(batch_size)
    val_losses = []
    num_correct = 0
    net.eval()
    with torch.no_grad():
        for inputs, labels in valid_loader:
            val_h = tuple([each.data for each in val_h])
            if train_on_gpu:
                inputs, labels = inputs.cuda(), labels.cuda()
            output, _ = net(inputs, val_h)
            val_loss = criterion(output.squeeze(), labels.float())
            val_losses.append(val_loss.item())
            num_correct += (torch.round(output.squeeze()) == labels).sum().item()
    net.train()
    print("Epoch: {}/{}...".format(e + 1, epochs),
          "Loss: {:.6f}...".format(train_loss / len(train_loader)),
          "Val Loss: {:.6f}".format(np.mean(val_losses)),
          "Val Acc: {:.4f}".format(num_correct / len(valid_data)))

torch.save(net.state_dict(), "sentiment.pt")
