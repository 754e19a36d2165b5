"""Results as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .judge import BY_NAME, Verdict

GOOD = ("agrees", "alike")
BAD = ("differs", "raises", "hangs", "slow", "defect")


def row(name: str, verdict: Verdict) -> str:
    why = " ".join(verdict.why.split())[:200]
    return f"{name:24} {verdict.outcome:20} {verdict.steps:4} {verdict.seconds:6.1f} s  {why}"


def summary(verdicts: Iterable[Verdict]) -> str:
    found = list(verdicts)
    counts = Counter(v.outcome for v in found)
    lines = ["", *(f"{count:4}  {outcome}" for outcome, count in counts.most_common())]
    trains = [v for v in found if v.details.get("trains")]
    by_name = [v for v in trains if v.outcome == "refused" and v.why.split(":")[0] in BY_NAME]
    to_shard = [v for v in trains if v not in by_name]
    good = [v for v in to_shard if v.outcome in GOOD]
    if to_shard:
        share = f"{len(good)} of {len(to_shard)} ({len(good) / len(to_shard):.0%})"
        lines += [
            "",
            f"of those that train in one process and have something to split, {share} train the same on two",
        ]
    checked = [v for v in found if "checked" in v.details and v.details.get("trains")]
    wrong = [v for v in checked if v.details["checked"] == "can export" and v.outcome in BAD]
    strict = [v for v in checked if v.outcome == "refused" and v not in by_name]
    if checked:
        lines += [f"check said fine and it went wrong: {len(wrong)}; refused with something to share: {len(strict)}"]
    return "\n".join(lines)
