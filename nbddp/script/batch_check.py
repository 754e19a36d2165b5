"""What `main` says of batch sizes that do not divide among the processes."""

from __future__ import annotations

from collections.abc import Sequence

HEAD = """\
    world_size = int(os.environ.get("WORLD_SIZE", args.nproc))
"""
EACH = """\
    share = {size} // world_size
    if share == 0:
        parser.error(f"a batch of {shown} is too small for {{world_size}} processes")
    if share * world_size != {size} and os.environ.get("RANK", "0") == "0":
        print(f"batches of {{share * world_size}} rather than {shown}: {{share}} on each process")
"""


def batch_check(sizes: Sequence[str]) -> str:
    """For sizes as expressions: one by one, or in a loop where there are several."""
    if not sizes:
        return ""
    if len(sizes) == 1:
        shown = sizes[0] if sizes[0].isdigit() else f"{{{sizes[0]}}}"
        return HEAD + EACH.format(size=sizes[0], shown=shown)
    body = EACH.format(size="whole", shown="{whole}")
    inner = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}    for whole in ({', '.join(sizes)}):\n{inner}"
