"""`%ddp verify`: the live notebook from the state that it has, on one process and on several, beside the kernel."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from nbddp.cli.arguments import options_of
from nbddp.export import export
from nbddp.magics.executed.origin import origin_of
from nbddp.magics.executed.record import Executed
from nbddp.magics.executed.session import Session
from nbddp.magics.executed.to_compile import notebook_of
from nbddp.magics.first_line.refusal import RunStopped, in_words
from nbddp.magics.handover.by_value import by_value
from nbddp.magics.handover.start_state import handover
from nbddp.run.folder.folder import RunFolder
from nbddp.verify import Report, verify


def verify_live(session: Session, arguments: argparse.Namespace, cells: Sequence[Executed]) -> Report:
    """The kernel only waits: of its models and optimizers a copy is handed over, and no random number is drawn."""
    from nbddp.cli.verify import refuse

    refuse()
    options = options_of(arguments)
    notebook, _ = notebook_of(session, cells)
    plan = export(notebook, options).plan
    state, values = handover(plan, session.namespace), by_value(plan, session.namespace)

    def fill(folder: RunFolder) -> None:
        state.write(folder)
        values.write(folder)

    try:
        report = verify(
            notebook,
            steps=arguments.steps,
            nproc=arguments.nproc or 2,
            seed=arguments.seed,
            options=options,
            arguments=arguments.rest,
            fill=fill if state.names or values.values else None,
            origin=origin_of(session, plan),
            helper=session.helper,
            save=arguments.save,
            against=arguments.against,
            say=lambda words: print(f"{words} …"),
        )
    except KeyboardInterrupt:
        raise in_words(RunStopped("Interrupted: its processes were stopped, and nothing was compared.")) from None
    began = f"Both sides started from the notebook's current state of: {', '.join(state.names)}." if state.names else ""
    return replace(report, notes=tuple(note for note in (*report.notes, began, *state.notes) if note))
