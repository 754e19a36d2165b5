"""What the notebook means, and what that means for several processes.

Takes a Notebook and Options; each package in here says in its `__init__` what it takes and gives.
Gives a Plan: the Reading of the notebook, and the decisions that rules share.
"""

from nbddp.analysis.plan import Plan, followed, make_plan, planned, read
