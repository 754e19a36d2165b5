"""What stands at an index: an item, a column, some samples of a batch.

Takes a Machine, the values of what is picked from and of the index, and the node.
Gives the node's Value: with the marks that say which samples those are, and in which order.
"""

from nbddp.analysis.evaluator.picking.batch_names import go_one_by_one
from nbddp.analysis.evaluator.picking.samples import at_own_places, note_rows_set, puts_back
from nbddp.analysis.evaluator.picking.subscripts import make_what_it_lacks, subscript
