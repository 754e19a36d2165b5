"""Modules beside the notebook, read as its cells are.

Takes a notebook that knows its folder.
Gives the notebook in which what `from losses import TripletLoss` brings stands in cells of its own, those of the file.
"""

from nbddp.modules.beside import with_modules
from nbddp.modules.files import Module, imports_of, reached
from nbddp.modules.search_path import folders

__all__ = ["Module", "folders", "imports_of", "reached", "with_modules"]
