"""Changes of the notebook's text as values.

Takes nodes of a Program and the text to put there.
Gives Edit: text in place of a span. Rules yield edits; script/ applies them in one pass.
"""

from nbddp.edits.arguments import append_argument, set_arguments
from nbddp.edits.edit import (
    Edit,
    after,
    before,
    first_in,
    first_offset,
    guard,
    has_comments,
    mark,
    remove,
    replace,
    stands_alone,
    within,
    wrap,
)
from nbddp.edits.shown_by_name import shown_by_name
