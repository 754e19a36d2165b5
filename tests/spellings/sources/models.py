"""What is trained on batches, wherever they come from."""

from __future__ import annotations

# Models, and how their loss comes about. Not here: BatchNorm, and recurrent layers on a rank without samples, which
# the simulated ranks cannot exchange as processes do.
MODELS = {
    "linear": (
        "model = nn.Linear(6, 2)",
        "loss = F.cross_entropy(model(x), y)",
    ),
    "mse": (
        "model = nn.Linear(6, 1)",
        "loss = F.mse_loss(model(x), y.float().unsqueeze(1))",
    ),
    "msebug": (
        "model = nn.Linear(6, 1)",
        "loss = ((model(x) - y.float()) ** 2).mean()",
    ),
    "dropout": (
        "model = nn.Sequential(nn.Linear(6, 5), nn.Dropout(0.4), nn.ReLU(), nn.Linear(5, 2))",
        "loss = F.cross_entropy(model(x), y)",
    ),
    "noise": (
        "model = nn.Linear(6, 2)",
        "loss = F.cross_entropy(model(x + 0.1 * torch.randn_like(x)), y)",
    ),
    "conv": (
        "model = nn.Sequential(nn.Conv1d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))",
        "loss = F.cross_entropy(model(x.unsqueeze(1)), y)",
    ),
    "gru_tf": (
        """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(2, 4), nn.Linear(4, 2)
    def forward(self, x):
        h = torch.zeros(1, x.size(1), 4)
        o, h = self.rnn(x, h)
        return self.out(o[-1])
model = Net()""",
        "loss = F.cross_entropy(model(x.view(-1, 3, 2).transpose(0, 1)), y)",
    ),
    "attention": (
        """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(2, 4)
        self.att = nn.MultiheadAttention(4, 2, batch_first=True)
        self.out = nn.Linear(4, 2)
    def forward(self, x):
        h = self.up(x)
        a, _ = self.att(h, h, h)
        return self.out((h + a).mean(1))
model = Net()""",
        "loss = F.cross_entropy(model(x.reshape(x.shape[0], 3, 2)), y)",
    ),
    "vae": (
        """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(6, 4), nn.Linear(2, 6)
    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar
model = Net()""",
        """recon, mu, logvar = model(x)
loss = F.mse_loss(recon, x, reduction='sum') - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())""",
    ),
    "contrast": (
        "model = nn.Linear(6, 3)",
        """z = F.normalize(model(x), dim=1)
loss = F.cross_entropy(z @ z.t() / 0.5, torch.arange(len(z)))""",
    ),
    "triplet": (
        "model = nn.Linear(6, 3)",
        "loss = F.triplet_margin_loss(model(x), model(x + 0.1), model(x.flip(0)))",
    ),
    "tied": (
        "model = nn.ModuleDict({'a': nn.Linear(6, 3), 'b': nn.Linear(3, 2)})",
        """h = torch.tanh(model['a'](x))
loss = F.cross_entropy(model['b'](h), y) + 0.01 * h.pow(2).sum(1).mean()""",
    ),
    "weights": (
        """model = nn.Linear(6, 2)
weight = torch.tensor([0.3, 0.7])""",
        "loss = F.cross_entropy(model(x), y, weight=weight)",
    ),
    "accumulate": (
        "model = nn.Linear(6, 2)",
        """loss = F.cross_entropy(model(x), y, reduction='none')
loss = loss[loss > loss.median()].mean()""",
    ),
    "penalty": (
        "model = nn.Linear(6, 1)",
        """x = x.clone().requires_grad_()
out = model(x).tanh()
slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
loss = F.binary_cross_entropy_with_logits(out[:, 0], y.float()) + (slope.norm(dim=1) - 1).pow(2).mean()""",
    ),
    "mixup": (
        "model = nn.Linear(6, 2)",
        """other = torch.randperm(x.size(0))
lam = 0.7
mixed = lam * x + (1 - lam) * x[other]
out = model(mixed)
loss = lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y[other])""",
    ),
    "focal": (
        "model = nn.Linear(6, 2)",
        """logp = F.log_softmax(model(x), dim=1)
pt = logp.gather(1, y.unsqueeze(1)).squeeze(1)
loss = -((1 - pt.exp()) ** 2 * pt).mean()""",
    ),
    "dice": (
        "model = nn.Linear(6, 1)",
        """p = torch.sigmoid(model(x)).view(-1)
t = y.float().view(-1)
loss = 1 - (2 * (p * t).sum() + 1) / (p.sum() + t.sum() + 1)""",
    ),
    "center": (
        "model = nn.Linear(6, 2)",
        """out = model(x)
loss = F.cross_entropy(out, y) + 0.1 * (out - out.mean(0)).pow(2).sum(1).mean()""",
    ),
    "distill": (
        """model = nn.Linear(6, 2)
teacher = nn.Linear(6, 2)""",
        """with torch.no_grad():
    soft = F.softmax(teacher(x) / 2, dim=1)
loss = F.kl_div(F.log_softmax(model(x) / 2, dim=1), soft, reduction='batchmean') * 4""",
    ),
}
