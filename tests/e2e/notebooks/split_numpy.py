# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import numpy as np, torch
from torch import nn
from sklearn.datasets import load_digits
d = load_digits(); X = d.data / 16.0; y = d.target
torch.manual_seed(0); np.random.seed(0)
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net.to(device)
Xtr, ytr, Xte, yte = X[:1500], y[:1500], X[1500:], y[1500:]
def iterate_minibatches(inputs, targets, batchsize, shuffle=True):
    idx = np.arange(len(inputs))
    if shuffle: np.random.shuffle(idx)
    for s in range(0, len(inputs) - batchsize + 1, batchsize):
        e = idx[s:s+batchsize]
        yield inputs[e], targets[e]
# %%
for epoch in range(3):
    net.train()
    train_err, n = 0, 0
    for batch in iterate_minibatches(Xtr, ytr, 100):
        inputs, targets = batch
        inputs = torch.from_numpy(inputs).float().to(device)
        targets = torch.LongTensor(targets).to(device)
        opt.zero_grad()
        output = net(inputs)
        loss = criterion(output, targets)
        loss.backward()
        opt.step()
        train_err += loss.item(); n += 1
    net.eval()
    with torch.no_grad():
        pred = net(torch.from_numpy(Xte).float().to(device)).argmax(1).cpu().numpy()
    print(epoch, f"{train_err / n:.4f}", f"{(pred == yte).mean():.4f}")
