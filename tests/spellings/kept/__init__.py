"""All ways to keep a number."""

from tests.spellings.kept.computed import COMPUTED
from tests.spellings.kept.kept import Kept
from tests.spellings.kept.lists import LISTS
from tests.spellings.kept.objects import OBJECTS
from tests.spellings.kept.sums import SUMS

KEPT = (*SUMS, *OBJECTS, *LISTS, *COMPUTED)

__all__ = ["KEPT", "Kept"]
