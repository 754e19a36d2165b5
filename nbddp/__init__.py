"""From a notebook to the DistributedDataParallel script that an expert would write."""

from nbddp._version import __version__

__all__ = ["__version__"]
