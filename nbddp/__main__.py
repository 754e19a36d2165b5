"""`python -m nbddp`, for where the console script is not on the PATH."""

import sys

from nbddp.cli import main

sys.exit(main())
