"""Early stopping that keeps the best weights in a file, as packages for it do."""

import torch


class EarlyStopping:
    def __init__(self, patience=2, path="checkpoint.pt"):
        self.patience, self.path = patience, path
        self.best, self.counter, self.early_stop = None, 0, False

    def __call__(self, loss, model):
        if self.best is None or loss < self.best:
            self.best, self.counter = loss, 0
            torch.save(model.state_dict(), self.path)
        else:
            self.counter += 1
            self.early_stop = self.counter >= self.patience
