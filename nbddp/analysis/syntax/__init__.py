"""The notebook's code as one text and one syntax tree.

Takes the cells of a notebook.
Gives a Program, each node with its exact place in a cell, and the qualified names that it imports.
"""

from nbddp.analysis.syntax.arguments import assigned, handed, keywords_of
from nbddp.analysis.syntax.blocks import blocks_around
from nbddp.analysis.syntax.increments import Increment, increment
from nbddp.analysis.syntax.main_guard import asks_for_main
from nbddp.analysis.syntax.multiline_strings import lines_in_strings
from nbddp.analysis.syntax.program import Program, Statement, build_program, place_of, too_deep
from nbddp.analysis.syntax.qualified_names import BUILTINS, bindings, canonical, imported_names, qualified
from nbddp.analysis.syntax.walk import is_name, names_in, returns_none, walk
