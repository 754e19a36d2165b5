"""Numbers as a person reads them. The widget's page has the same in its own language."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """`4.2 s`, `3 min 05 s`, `2 h 07 min`, `3 d 04 h`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600:02d} h"


def number(value: float) -> str:
    """Four significant digits, and no more zeros than that: `0.3127`, `12.5`, `120`, `3.1e-05`."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"


def size(amount: int) -> str:
    """Bytes, as memory is sold and shown by the tools of the field: in powers of 1024."""
    units = ("B", "KiB", "MiB", "GiB")
    value, place = float(amount), 0
    while value >= 1023.5 and place < len(units) - 1:
        value, place = value / 1024, place + 1
    return f"{value:.1f} {units[place]}" if value < 10 and place else f"{value:.0f} {units[place]}"


def count(amount: int, thing: str) -> str:
    """`1 rank`, `2 ranks`."""
    return f"{amount:,} {thing}" if amount == 1 else f"{amount:,} {thing}s"
