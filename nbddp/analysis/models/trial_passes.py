"""Models that are tried before the training: each pass counts in the running statistics of a BatchNorm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nbddp.analysis.library import under
from nbddp.analysis.reading import FOUND, Reading, Run, may_hold_batch_norm, settled
from nbddp.analysis.syntax import Statement
from nbddp.analysis.values import Assumptions
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

RULE = "batch-norm"
WITHOUT = ("transformers", "sentence_transformers", "torch.nn.Transformer")  # whose models hold none


def passes_left_out(plan: Reading) -> Iterator[Diagnostic]:
    """What the notebook runs through a model in training mode, where the slice has no need of it."""
    models = {m.obj for m in plan.roles.models if may_hold_batch_norm(plan, m.obj) and not under(m.obj.name, WITHOUT)}
    holding = {name for name, value in plan.facts.final.items() if value.objs & models}
    candidates = [s for s in _before(plan) if _names(plan, s) & holding]
    if not candidates:
        return
    together = replace(plan.slice, kept=tuple(sorted([*plan.slice.kept, *(s.index for s in _before(plan))])))
    facts = settled(Run(plan.program, plan.flow, together).under(Assumptions()), FOUND).facts
    for statement in candidates:
        if any(p.awake and p.model in models for p in facts.passes.get(statement.node, ())):
            yield plan.program.diagnose(
                RULE, "note", statement.node,
                sentence("the script leaves this call out, although in training mode it updates the statistics of a "
                         "BatchNorm"),
                why=sentence("the running mean and variance in the script miss one update for each such call"),
                help=sentence("call model.eval() before it, or mark the cell '%1' to keep it", "ddp-setup"),
            )  # fmt: skip


def _before(plan: Reading) -> list[Statement]:
    first = min(s.index for s in plan.training) if plan.training else 0
    return [plan.program.statements[i] for i in plan.slice.dropped if i < first]


def _names(plan: Reading, statement: Statement) -> set[str]:
    return plan.flow.effects[statement.index].loads | plan.flow.when_called(statement.index)[0]
