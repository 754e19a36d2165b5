import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { make } from './elements';

const LONGEST = 40; // characters of a cell's first line

/** The cell that nbddp numbers so, from 1, among all cells of the file. */
export function cellAt(notebook: Notebook, number: number): Cell | undefined {
  return notebook.widgets[number - 1];
}

/** The first line of its code, beside its number: cells show none. A magic around it says nothing of what it does. */
export function firstLine(notebook: Notebook, number: number): HTMLElement {
  const lines = cellAt(notebook, number)?.model.sharedModel.getSource().split('\n') ?? [];
  const first = lines.find(line => /^\s*[^\s%#]/.test(line))?.trim() ?? '';
  return make('code', {}, first.length > LONGEST ? `${first.slice(0, LONGEST)}…` : first);
}

/** Shows a place of the notebook and puts the cursor there. */
export async function jump(notebook: Notebook, number: number, line = 1, column = 1): Promise<void> {
  const cell = cellAt(notebook, number);
  if (!cell) {
    return;
  }
  notebook.activate();
  notebook.deselectAll();
  notebook.activeCellIndex = number - 1;
  await notebook.scrollToItem(number - 1, 'center');
  await cell.ready;
  notebook.mode = 'edit';
  cell.editor?.focus(); // first: an editor tells of its cursor only while it has the focus
  cell.editor?.setCursorPosition({ line: line - 1, column: Math.max(0, column - 1) });
}
