"""Things that random programs keep numbers in: each by how it is made, changed and looked at."""

from tests.spellings.things.containers import CONTAINERS
from tests.spellings.things.functions import FUNCTIONS
from tests.spellings.things.objects import OBJECTS
from tests.spellings.things.protocols import PROTOCOLS
from tests.spellings.things.thing import Thing

THINGS: tuple[Thing, ...] = (*CONTAINERS, *FUNCTIONS, *OBJECTS, *PROTOCOLS)

__all__ = ["THINGS", "Thing"]
