# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import numpy as np, torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); np.random.seed(0)
words = ['#START#', '#END#', '#UNK#', '#PAD#', 'a', 'b', 'c']
word_to_index = {w: i for i, w in enumerate(words)}
pad_ix, unk_ix = 3, 2
img_codes = np.random.randn(40, 5)
captions = np.array([[['#START#'] + list('abc'[:1 + i % 3]) * 2 + ['#END#'] for _ in range(2)] for i in range(40)], dtype=object)
# %%
def as_matrix(sequences, max_len=None):
    max_len = max_len or max(map(len, sequences))
    matrix = np.zeros((len(sequences), max_len), dtype='int32') + pad_ix
    for i, seq in enumerate(sequences):
        row_ix = [word_to_index.get(word, unk_ix) for word in seq[:max_len]]
        matrix[i, :len(row_ix)] = row_ix
    return matrix
class CaptionNet(nn.Module):
    def __init__(self, n_tokens=7, emb_size=4, lstm_units=6, cnn_feature_size=5):
        super(self.__class__, self).__init__()
        self.cnn_to_h0 = nn.Linear(cnn_feature_size, lstm_units)
        self.cnn_to_c0 = nn.Linear(cnn_feature_size, lstm_units)
        self.emb = nn.Embedding(n_tokens, emb_size)
        self.lstm = nn.LSTM(emb_size, lstm_units, batch_first=True)
        self.logits = nn.Linear(lstm_units, n_tokens)
    def forward(self, image_vectors, captions_ix):
        initial_cell = self.cnn_to_c0(image_vectors)
        initial_hid = self.cnn_to_h0(image_vectors)
        captions_emb = self.emb(captions_ix)
        lstm_out = self.lstm(captions_emb, (initial_cell[None], initial_hid[None]))
        logits = self.logits(lstm_out[0])
        return logits
network = CaptionNet()
def compute_loss(network, image_vectors, captions_ix):
    captions_ix_inp = captions_ix[:, :-1].contiguous()
    captions_ix_next = captions_ix[:, 1:].contiguous()
    logits_for_next = network.forward(image_vectors, captions_ix_inp)
    loss = F.cross_entropy(logits_for_next.view(-1, logits_for_next.shape[-1]), captions_ix_next.view(-1), ignore_index=pad_ix)
    loss = loss.unsqueeze(0)
    return loss
def generate_batch(img_codes, captions, batch_size, max_caption_len=None):
    random_image_ix = np.random.randint(0, len(img_codes), size=batch_size)
    batch_images = img_codes[random_image_ix]
    captions_for_batch_images = [captions[i] for i in random_image_ix]
    batch_captions = list(map(lambda c: c[0], captions_for_batch_images))
    batch_captions_ix = as_matrix(batch_captions, max_len=max_caption_len)
    return torch.tensor(batch_images, dtype=torch.float32), torch.tensor(batch_captions_ix, dtype=torch.int64)
optimizer = torch.optim.Adam(network.parameters(), lr=0.001)
# %%
for epoch in range(2):
    train_loss = 0
    network.train(True)
    for _ in range(4):
        loss_t = compute_loss(network, *generate_batch(img_codes, captions, 8))
        optimizer.zero_grad()
        loss_t.backward()
        optimizer.step()
        train_loss += loss_t.item()
    train_loss /= 4
    val_loss = 0
    network.train(False)
    for _ in range(2):
        loss_t = compute_loss(network, *generate_batch(img_codes, captions, 8))
        val_loss += loss_t.item()
    val_loss /= 2
    print('Epoch: {}, train loss: {:.5f}, val loss: {:.5f}'.format(epoch, train_loss, val_loss))
