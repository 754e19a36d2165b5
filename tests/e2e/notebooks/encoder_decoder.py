# oracle: equal
# nproc: 1 2
# %%
# seq2seq: reverse a sequence of digits; two modules, two optimizers, teacher forcing throughout
import torch
import torch.nn as nn
from torch import optim
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(15)
SOS = 10
length = 5

sequences = torch.randint(0, 10, (840, length))
reversed_sequences = sequences.flip(1)
train_dataloader = DataLoader(TensorDataset(sequences[:720], reversed_sequences[:720]), batch_size=36, shuffle=True)
eval_dataloader = DataLoader(TensorDataset(sequences[720:], reversed_sequences[720:]), batch_size=36)


# %%
class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)

    def forward(self, input):
        output, hidden = self.gru(self.embedding(input))
        return output, hidden


class DecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, encoder_hidden, target):
        start = torch.full((target.size(0), 1), SOS, dtype=torch.long, device=target.device)
        inputs = torch.cat([start, target[:, :-1]], 1)
        output, _ = self.gru(self.embedding(inputs), encoder_hidden)
        return self.out(output)


# %%
def train_epoch(dataloader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    total_loss = 0
    for data in dataloader:
        input_tensor, target_tensor = data
        input_tensor, target_tensor = input_tensor.to(device), target_tensor.to(device)

        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()

        encoder_outputs, encoder_hidden = encoder(input_tensor)
        decoder_outputs = decoder(encoder_hidden, target_tensor)

        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.reshape(-1))
        loss.backward()

        encoder_optimizer.step()
        decoder_optimizer.step()

        total_loss += loss.item()

    return total_loss / len(dataloader)


def evaluate(encoder, decoder, dataloader):
    right = n = 0
    with torch.no_grad():
        for x, y in dataloader:
            x, y = x.to(device), y.to(device)
            _, hidden = encoder(x)
            right += (decoder(hidden, y).argmax(-1) == y).sum().item()
            n += y.numel()
    return right / n


def train(train_dataloader, encoder, decoder, n_epochs, learning_rate=0.01):
    encoder_optimizer = optim.Adam(encoder.parameters(), lr=learning_rate)
    decoder_optimizer = optim.Adam(decoder.parameters(), lr=learning_rate)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(n_epochs):
        loss = train_epoch(train_dataloader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion)
        print(f"Epoch {epoch}: loss {loss:.5f}, tokens right {evaluate(encoder, decoder, eval_dataloader):.4f}")


# %% tags=["ddp-train"]
hidden_size = 32
encoder = EncoderRNN(10, hidden_size).to(device)
decoder = DecoderRNN(hidden_size, 11).to(device)
train(train_dataloader, encoder, decoder, 3)
torch.save(encoder.state_dict(), "encoder.pt")
torch.save(decoder.state_dict(), "decoder.pt")
