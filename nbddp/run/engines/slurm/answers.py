"""What SLURM's commands print, read into values, and its reasons in words."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from nbddp.run.engines.known import JobFacts

FIELD = re.compile(
    r"(?:^|\s)(JobState|Reason|Partition|NodeList|ExitCode|Restarts|PreemptTime|EndTime|TimeLimit|UserId|BatchHost)=(\S*)"
)
WHY_IT_WAITS = {
    "None": "",
    "Priority": "others are before it",
    "Resources": "it waits for nodes to become free",
    "BeginTime": "the time for it to begin has not come",
    "Dependency": "it waits for another job",
    "JobHeldUser": "it was held: scontrol release lets it go",
    "JobHeldAdmin": "an administrator holds it",
    "PartitionTimeLimit": "it asks for more time than the partition allows, so it will not start",
    "PartitionNodeLimit": "it asks for more nodes than the partition allows, so it will not start",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is inactive",
    "ReqNodeNotAvail": "nodes that it needs are down or reserved",
    "Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions":
        "nodes that it needs are down, drained or reserved",
    "AssocGrpGRES": "your group uses all the GPUs that it may",
    "QOSMaxJobsPerUserLimit": "you have as many jobs as you may",
    "QOSMaxGRESPerUser": "you use all the GPUs that you may",
}  # fmt: skip
WHY_IT_ENDED = {
    "TIMEOUT": "It reached its time limit ({limit}).",
    "OUT_OF_MEMORY": "SLURM killed it because it used more memory than it had asked for: ask for more with --mem.",
    "NODE_FAIL": "A node that it ran on failed.",
    "PREEMPTED": "It was preempted by another job.",
    "BOOT_FAIL": "A node that it was given could not boot.",
    "DEADLINE": "It could not end before its deadline.",
    "LAUNCH_FAILED": "SLURM could not launch it on its nodes.",
}

TOLD_TO_END = re.compile(
    r"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+(?: DUE TO ([A-Z ]+?))?(?:, SEE [A-Z ]+)? \*\*\*"
)
STATE_BY_REASON = {"TIME LIMIT": "TIMEOUT", "NODE FAILURE": "NODE_FAIL", "PREEMPTION": "PREEMPTED"}


def why_it_waits(facts: JobFacts) -> str:
    """In words."""
    if facts.restarts and facts.reason == "BeginTime":
        return "SLURM waits for some two minutes before it starts a job again"
    return WHY_IT_WAITS.get(facts.reason, facts.reason.replace("_", " "))


def read_job(text: str) -> JobFacts | None:
    """The line of `scontrol --oneliner show job`; the first of each field, for what users write comes later."""
    found: dict[str, str] = {}
    for name, value in FIELD.findall(text):
        found.setdefault(name, "" if value in {"(null)", "None"} and name != "Reason" else value)
    if not found.get("JobState"):
        return None
    restarts = found.get("Restarts", "")
    return JobFacts(
        state=found["JobState"],
        reason=found.get("Reason", ""),
        partition=found.get("Partition", ""),
        nodes=found.get("NodeList", ""),
        exit_code=found.get("ExitCode", "0:0"),
        restarts=int(restarts) if restarts.isdecimal() else 0,
        preempted=found.get("PreemptTime", "")[:1].isdecimal(),
        limit=found.get("TimeLimit", ""),
        ends=_moment(found.get("EndTime", "")),
    )


def _moment(text: str) -> float | None:
    """As SLURM writes it, in this machine's time."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def why_it_ended(facts: JobFacts, by: str = "") -> str:
    """A sentence. `by` is who has cancelled it, where somebody knows."""
    if facts.state == "CANCELLED":
        return f"It was cancelled by {by}." if by else "It was cancelled, with scancel or by an administrator."
    if facts.state in WHY_IT_ENDED:
        return WHY_IT_ENDED[facts.state].format(limit=facts.limit)
    status, _, number = facts.exit_code.partition(":")
    how = f"by signal {number}" if number not in {"", "0"} else f"with status {status}"
    return f"Its job ended {how}."


def as_printed(facts: JobFacts, *files: Path) -> JobFacts:
    """While a job is ending SLURM tells no more than that, but has printed why into the job's own output."""
    for file in files:
        found = TOLD_TO_END.findall(file.read_text(errors="replace") if file.exists() else "")
        if found and facts.state == "COMPLETING":
            return replace(facts, state=STATE_BY_REASON.get(found[-1], "CANCELLED"))
    return facts


def cancelled_by(text: str) -> str:
    """Whose number `sacct` names: `CANCELLED by 1000`."""
    found = re.search(r"CANCELLED by (\S+)", text)
    return found[1] if found else ""
