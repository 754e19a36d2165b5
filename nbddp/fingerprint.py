"""Tells a script as exported from one that somebody has edited since, so that no export overwrites a person's work.

The header line of a script ends in eight hexadecimal digits:

    Exported from digits.ipynb by nbddp 0.1.0 (5f2c9a1e); it needs torch alone.

They are a hash of the script itself with those digits blanked. So the same cells still give the same bytes, nothing is
kept beside the script, and any nbddp, older or newer, can tell. The assembler writes `BLANK` there and calls `sealed`.
"""

from __future__ import annotations

import re
from hashlib import sha256

BLANK = "0" * 8
_MARK = re.compile(r"(\bby nbddp \S+ \()[0-9a-f]{8}\)")


def fingerprint(text: str) -> str:
    """Of everything but itself; line endings do not count, since git may change them on the way to another machine."""
    blanked = _MARK.sub(rf"\g<1>{BLANK})", text.replace("\r\n", "\n"), count=1)
    return sha256(blanked.encode("utf-8", "surrogatepass")).hexdigest()[: len(BLANK)]


def sealed(text: str) -> str:
    """The text with its fingerprint in the place left blank for it."""
    return _MARK.sub(rf"\g<1>{fingerprint(text)})", text, count=1)


def edited_since_export(text: str) -> bool:
    """True also for a file that no export wrote: it is somebody's work as well."""
    return _MARK.search(text) is None or sealed(text) != text
