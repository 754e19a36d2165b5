"""What the training does with files, folders and downloads.

Takes a Reading and its Sharding.
Gives which rank writes, what one rank prepares while others wait, and where the notebook changes folders.
"""

from nbddp.analysis.disk.folders import folder_changes, has_modules
from nbddp.analysis.disk.hash_order import may_order_sets, put_in_order
from nbddp.analysis.disk.preparation import Preparation, find_preparation
from nbddp.analysis.disk.writing import Writing, find_writing
