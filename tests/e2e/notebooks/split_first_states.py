# oracle: equal within 1e-5
# nproc: 1 2 3
# metrics: .
# %%
import numpy as np
import torch
from torch import nn
torch.manual_seed(0)
encoded = (np.arange(800) * 7 % 13 + np.arange(800) // 5 % 3)
def one_hot_encode(arr, n_labels):
    one_hot = np.zeros((arr.size, n_labels), dtype=np.float32)
    one_hot[np.arange(one_hot.shape[0]), arr.flatten()] = 1.
    return one_hot.reshape((*arr.shape, n_labels))
def get_batches(arr, batch_size, seq_length):
    total = batch_size * seq_length
    n_batches = len(arr)//total
    arr = arr[:n_batches * total]
    arr = arr.reshape((batch_size, -1))
    for n in range(0, arr.shape[1], seq_length):
        x = arr[:, n:n+seq_length]
        y = np.zeros_like(x)
        try:
            y[:, :-1], y[:, -1] = x[:, 1:], arr[:, n+seq_length]
        except IndexError:
            y[:, :-1], y[:, -1] = x[:, 1:], arr[:, 0]
        yield x, y
class CharRNN(nn.Module):
    def __init__(self, n_chars, n_hidden=16, n_layers=1):
        super().__init__()
        self.n_layers, self.n_hidden, self.n_chars = n_layers, n_hidden, n_chars
        self.lstm = nn.LSTM(n_chars, n_hidden, n_layers, batch_first=True)
        self.fc = nn.Linear(n_hidden, n_chars)
    def forward(self, x, hidden):
        r_output, hidden = self.lstm(x, hidden)
        out = r_output.contiguous().view(-1, self.n_hidden)
        return self.fc(out), hidden
    def init_hidden(self, batch_size):
        weight = next(self.parameters()).data
        return (weight.new(self.n_layers, batch_size, self.n_hidden).zero_(),
                weight.new(self.n_layers, batch_size, self.n_hidden).zero_())
train_on_gpu = torch.cuda.is_available()
def train(net, data, epochs=2, batch_size=10, seq_length=12, lr=0.001, clip=5, val_frac=0.2, print_every=3):
    net.train()
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss()
    val_idx = int(len(data)*(1-val_frac))
    data, val_data = data[:val_idx], data[val_idx:]
    counter = 0
    n_chars = net.n_chars
    for e in range(epochs):
        h = net.init_hidden(batch_size)
        for x, y in get_batches(data, batch_size, seq_length):
            counter += 1
            x = one_hot_encode(x, n_chars)
            inputs, targets = torch.from_numpy(x), torch.from_numpy(y)
            if(train_on_gpu):
                inputs, targets = inputs.cuda(), targets.cuda()
            h = tuple([each.data for each in h])
            net.zero_grad()
            output, h = net(inputs, h)
            loss = criterion(output, targets.view(batch_size*seq_length).long())
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), clip)
            opt.step()
            if counter % print_every == 0:
                val_h = net.init_hidden(batch_size)
                val_losses = []
                net.eval()
                for x, y in get_batches(val_data, batch_size, seq_length):
                    x = one_hot_encode(x, n_chars)
                    x, y = torch.from_numpy(x), torch.from_numpy(y)
                    val_h = tuple([each.data for each in val_h])
                    inputs, targets = x, y
                    output, val_h = net(inputs, val_h)
                    val_loss = criterion(output, targets.view(batch_size*seq_length).long())
                    val_losses.append(val_loss.item())
                net.train()
                print("Epoch: {}/{}...".format(e+1, epochs),
                      "Step: {}...".format(counter),
                      "Loss: {:.4f}...".format(loss.item()),
                      "Val Loss: {:.4f}".format(np.mean(val_losses)))
# %%
net = CharRNN(15)
train(net, encoded, batch_size=10, seq_length=12)
