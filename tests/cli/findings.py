"""Two findings that several tests of the command line show."""

from nbddp.diagnostics import Diagnostic, rendered

WARNING = Diagnostic("seed", "warning", "no seed", cell=2, line=1, help="set one", source="x = 1")
ERROR = Diagnostic("sampler", "error", "no loader", cell=2, line=1, why="nothing to shard", source="x = 1")


def shown(*findings: Diagnostic) -> str:
    """As the command line prints them."""
    return "".join(f"{text}\n\n" for text in rendered(findings))
