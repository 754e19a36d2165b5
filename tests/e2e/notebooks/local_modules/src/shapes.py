"""Loaders, as such modules build them."""

import csv

import torch
from torch.utils.data import DataLoader, TensorDataset


def read(path):
    with open(path) as file:
        rows = [[float(number) for number in row] for row in csv.reader(file)]
    table = torch.tensor(rows)
    return TensorDataset(table[:, :-1], table[:, -1].long())


def make_loaders(folder, batch_size):
    train = DataLoader(read(f"{folder}/train.csv"), batch_size=batch_size, shuffle=True)
    return train, DataLoader(read(f"{folder}/test.csv"), batch_size=batch_size)
