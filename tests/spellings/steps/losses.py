"""Losses by every dimension and order of the samples."""

from __future__ import annotations

ERRORS = "(out - b).pow(2)"
LOSSES = (
    # along the samples, by another number than 0
    *(f"{ERRORS}.{word}" for word in ("sum(-2).mean()", "mean(dim=-2).sum()", "std(-2).sum()", "amax(-2).sum()")),
    *(f"{ERRORS}.{word}" for word in ("cumsum(-2).mean()", "topk(2, dim=-2)[0].mean()", "sort(-2)[0].pow(3).mean()")),
    "(out - b - (out - b).mean(-2, keepdim=True)).pow(2).mean()",
    "torch.std_mean(out - b, dim=-2)[0].sum()",
    "torch.linalg.norm(out - b, dim=-2).sum()",
    "torch.logsumexp(out - b, -2).sum()",
    "(nn.functional.normalize(out, dim=-2) - b).pow(2).mean()",
    "(out.softmax(-2) * b).sum()",
    "(nn.Softmax(dim=0)(out) * b).sum()",
    # of one dimension
    "(nn.functional.softmax(out[:, 0], dim=-1) * b[:, 0]).sum()",
    "(out.squeeze().softmax(-1) * b.squeeze()).sum()",
    "(out - b).view(-1).cumsum(-1).pow(2).mean()",
    "(nn.Flatten(0)(out).softmax(-1) * b.flatten()).sum()",
    "(b[:, 0].sort(-1)[0] * out[:, 0]).mean()",
    "(b[:, 0].cumsum(-1) * out[:, 0]).mean()",
    "torch.exp(-(out.unsqueeze(-2) - b.unsqueeze(-3)).pow(2).sum(-1)).mean()",
    # turned
    "(out - b).mT.std(1).sum()",
    "(out - b).transpose(-1, -2).std(1).sum()",
    "(out - b).transpose(-2, -1).mean(-1).pow(2).sum()",
    "(out - b).swapaxes(-1, -2).std(-1).sum()",
    "(out - b).permute(1, 0).mean(1).pow(2).sum()",
    "(out - b).movedim(0, 1).mean(1).pow(2).sum()",
    "torch.einsum('bi,bj', out - b, a).pow(2).mean()",
    "(out - b).T.std(1).sum()",
    "(out - b)[None].std(1).sum()",
    "(out - b).unsqueeze(0).mean(1).pow(2).sum()",
    "nn.functional.pairwise_distance(out.T, b.T).mean()",
    "nn.CosineSimilarity(dim=0)(out, b).sum()",
    "torch.stack([out, b]).std(1).sum()",
    "torch.stack([out, b]).mean(0).pow(2).mean()",
    "nn.functional.layer_norm(out, out.shape).pow(3).mean()",
    # in another order than that of the samples
    "(out - b[torch.arange(len(a)).flip(0)]).pow(2).mean()",
    "(out - b[list(range(len(a)))[::-1]]).pow(2).mean()",
    "(out - b[(torch.arange(len(a)) + 1) % len(a)]).pow(2).mean()",
    "(out - b[torch.argsort(b[:, 0])]).pow(2).mean()",
    "(out[:-1] - b[1:]).pow(2).mean()",
    "(out - b.flip(-2)).pow(2).mean()",
    "(out - torch.cat([b[1:], b[:1]])).pow(2).mean()",
    "smooth(out, b)",
    "criterion(Sorted()(a), b)",
    "criterion(Turned()(a), b)",
    *(
        f"criterion({name}()(a), b)"
        for name in ("Firsts", "Sized", "Deviating", "Guarded", "Weighed", "Placed", "Tabled")
    ),
    "criterion(topped(a), b)",
    "criterion(out.mean(0), b.mean(0))",
    "criterion(out.sum(0), b.sum(0))",
    "criterion(out + out.mean(), b)",
    "Neighbours()(out, b)",
    "Pairs()(out, b)",
    "(out[: len(a) // 2] - b[len(a) // 2 :]).pow(2).mean()",
    "sum(i * v.mean() for i, v in enumerate((out - b).pow(2)))",
    "sum(v.mean() for i, v in enumerate((out - b).pow(2)) if i % 2)",
    "sum(((p - q).pow(2).mean() for i, (p, q) in enumerate(zip(out, b)) if i < 2)) / 2",
    "torch.stack([(out[i] - b[i]).pow(2).mean() * 0.9**i for i in range(len(b))]).mean()",
    "torch.stack([(out[i] - b[i]).pow(2).mean() if i else b.new_zeros(()) for i in range(len(b))]).mean()",
    "counted(out, b)",
    "out.index_fill(0, torch.tensor([0]), 0.0).pow(2).mean()",
    "(out - b).pow(2)[:3].sum()",
    "sum(criterion(p, q) for p, q in zip(out.split(2), b.split(2))) / 3",
    "criterion(*torch.cat([out, b]).chunk(2))",
    "out.gather(0, torch.zeros_like(b, dtype=torch.long)).mean() + loss",
    # with gradients that a hook sees
    "(out.register_hook(lambda g: g / g.norm()), loss)[1]",
    # of all samples
    "(nn.functional.batch_norm(out, None, None, training=True) - b).pow(2).mean()",
    "loss * len(torch.unique(b.sign()))",
    "(nn.LayerNorm(out.shape)(out) - b).pow(2).mean()",
    "(nn.BatchNorm1d(out.shape[1])(out) - b).pow(2).mean()",
    # with rows besides, that are no samples
    "torch.cat([out - b, model.weight[:, :1]]).pow(2).mean()",
    "torch.vstack([out - b, b.new_ones(1, 1)]).pow(2).mean()",
    "torch.stack([e.sum() for e in (out - b).pow(2)]).mean()",
    # divided by the size of a share
    "loss / len(b)",
    "criterion(out, b) / b.size(0) + 1 / len(b)",
    "sum(criterion(p, q) for p, q in zip(out.t(), b.t())) / len(b)",
    "(b.numel() - loss) * len(b)",
    # what a loss is given is of the batch as a whole
    "criterion(out.sort(0).values, torch.sort(b, dim=0)[0])",
    "criterion(out.max(0).values, b.max(0)[0])",
    "criterion(torch.cov(out.T), torch.cov(b.T))",
    "criterion(torch.exp(out.mean(0)), b.mean(0))",
    "criterion((out * 2)[1:], (b * 2)[1:])",
    # one sample after the other
    "sum(criterion(p, q) for p, q in zip(out, b))",
    "sum((p - q).abs().mean() for p, q in [(out[i], b[i]) for i in range(len(b))])",
    "torch.stack([criterion(p, q) for p, q in zip(out, b)]).mean()",
)
MOVED = (  # samples, by their gradients
    "moved(a, torch.sum)",
    "moved(a, torch.mean)",
    "a + 0.1 * nn.functional.normalize(slope(a), dim=1)",
    "a + 0.1 * slope(a) / slope(a).norm(dim=1, keepdim=True)",
    "a + 0.1 * slope_of_all(a).sign()",
)
