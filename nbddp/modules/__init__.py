"""Modules beside the notebook, read as its cells are.

Takes a notebook that knows its folder.
Gives the notebook in which what `from losses import TripletLoss` brings stands in cells of its own, those of the file.
"""

from nbddp.modules.beside import with_modules

__all__ = ["with_modules"]
