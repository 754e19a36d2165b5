"""A notebook as nbddp sees it: cells of Python with their magics escaped, and the role that each cell is marked with.

    notebook = read_notebook("digits.ipynb")
    notebook.cells[5].mark      # "train"
    notebook.cells[5].code      # plain Python, line for line the cell's source

Reading never imports IPython or nbformat: both take longer to load than a whole export may last.
"""

from nbddp.notebook.cells import cell_from_source
from nbddp.notebook.definitions import with_definitions
from nbddp.notebook.ipynb import notebook_from_json
from nbddp.notebook.marks import ROLES, is_directive, unknown_marks
from nbddp.notebook.model import Brought, CannotRead, Cell, Escape, Notebook, SyntaxProblem
from nbddp.notebook.percent import notebook_from_percent
from nbddp.notebook.reading import read_notebook
from nbddp.notebook.syntax import parse

__all__ = [
    "ROLES",
    "Brought",
    "CannotRead",
    "Cell",
    "Escape",
    "Notebook",
    "SyntaxProblem",
    "cell_from_source",
    "is_directive",
    "notebook_from_json",
    "notebook_from_percent",
    "parse",
    "read_notebook",
    "unknown_marks",
    "with_definitions",
]
