import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import type { Cell } from '@jupyterlab/cells';
import type { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IDiagnostic } from './api';
import { said } from './words';

const SEVERITIES = { error: 'error', warning: 'warning', note: 'info' } as const;

/** Findings as the editor's own diagnostics: underlined in the cell, said where the pointer rests. */
export async function underline(cell: Cell, found: readonly IDiagnostic[]): Promise<void> {
  await cell.ready;
  const view = (cell.editor as CodeMirrorEditor | null)?.editor;
  if (!view || cell.isDisposed) {
    return;
  }
  const { doc } = view.state;
  const marks = found.map((one): Diagnostic => {
    const line = doc.line(Math.min(Math.max(1, one.line), doc.lines)); // it may have been cut since
    const from = Math.min(line.from + Math.max(0, one.column - 1), line.to);
    const message = [said(one, 'message'), said(one, 'why'), said(one, 'help')].filter(text => text).join('\n');
    return { from, to: Math.max(from, line.to), severity: SEVERITIES[one.level], source: 'nbddp', message };
  });
  view.dispatch(setDiagnostics(view.state, marks));
}
