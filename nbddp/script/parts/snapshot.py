"""Values that a notebook hands over instead of the cells that make them."""

# mypy: ignore-errors

import torch

snapshot_file = None  # run puts the path here
snapshot = {}


def from_snapshot(name):
    """One of the values in the file; tensors and arrays are read when they are used, one copy for all processes."""
    if not snapshot:
        snapshot.update(torch.load(snapshot_file, mmap=True, weights_only=False, map_location=on_own_gpu))
    if name not in snapshot:
        raise SystemExit(f"{snapshot_file} has no value for {name}: it is of other cells than this script")
    return snapshot[name]


def on_own_gpu(storage, location):
    return storage if location == "cpu" or not torch.cuda.is_available() else storage.cuda()
