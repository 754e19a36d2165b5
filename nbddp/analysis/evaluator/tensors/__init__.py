"""What operations of tensors do to the samples of a batch: a rank sees only those of its share.

Takes a Machine, the tensor's Value, the name of the operation and the values of its arguments.
Gives the Value of the result: for each sample, summed up or averaged over them, in another dimension or order.
"""

from nbddp.analysis.evaluator.tensors.dimensions import DIMENSION, counted, from_the_last, samples_at
from nbddp.analysis.evaluator.tensors.joining import joined, of_unlike
from nbddp.analysis.evaluator.tensors.layout import PRODUCTS, before, like
from nbddp.analysis.evaluator.tensors.methods import REPLACES, shape_of, tensor_method
from nbddp.analysis.evaluator.tensors.operations import contracted, einsum, of_size, operation, rearranged
from nbddp.analysis.evaluator.tensors.rows import are_rows, rows_are_samples
from nbddp.analysis.evaluator.tensors.samples import TOTALS, note_mixed, of_samples
from nbddp.analysis.evaluator.tensors.shapes import shaped, with_dimensions
