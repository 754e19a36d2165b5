"""Methods of things: models, optimizers, containers, tensors.

Takes a Machine, a call, and the values of what is called on and of the arguments.
Gives the call's Value, and changes what the method changes in its place.
"""

from nbddp.analysis.evaluator.methods.by_kind import call_method
from nbddp.analysis.evaluator.methods.containers import fill
from nbddp.analysis.evaluator.methods.forwards import run_model, with_given
from nbddp.analysis.evaluator.methods.models import backward, contain, is_opened, reads_more_than_numbers
