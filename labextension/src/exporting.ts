import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Export, IDiagnostic, IExported, Server } from './api';
import { ask } from './ask';
import { counted } from './words';

export interface IExportContext {
  server: Server;
  docManager: IDocumentManager;
  contents: Contents.IManager;
  trans: TranslationBundle;
  showFindings: (panel: NotebookPanel, diagnostics: IDiagnostic[]) => void;
}

/** The name that `nbddp export` gives: digits_ddp.py beside digits.ipynb. */
export function scriptPath(notebook: string): string {
  return notebook.slice(0, notebook.length - PathExt.extname(notebook).length) + '_ddp.py';
}

/** One click: the notebook as it is on the screen becomes a script beside it, which is opened. */
export async function exportNotebook(context: IExportContext, panel: NotebookPanel): Promise<string | null> {
  const { server, trans } = context;
  const path = scriptPath(panel.context.path);
  const present = await presentText(context, path);
  const said = await ask<Export>(server, panel, 'export', { present });
  if (!said.exported) {
    context.showFindings(panel, said.diagnostics);
    const errors = said.diagnostics.filter(one => one.level === 'error');
    Notification.error(trans.__('No script was made: %1.', counted(trans, errors)), { autoClose: 8000 });
    return null;
  }
  if (said.edited && !(await mayOverwrite(trans, path))) {
    return null;
  }
  if (said.script !== present) {
    await write(context, path, said.script);
  }
  await context.docManager.openOrReveal(path, 'default', undefined, { mode: 'split-right', ref: panel.id });
  notify(context, panel, path, said);
  return path;
}

/** What the file holds, as an editor shows it; null where there is none. */
async function presentText(context: IExportContext, path: string): Promise<string | null> {
  const open = context.docManager.findWidget(path);
  if (open) {
    return open.context.model.toString();
  }
  try {
    const folder = await context.contents.get(PathExt.dirname(path), { type: 'directory' });
    const names = (folder.content as Contents.IModel[]).map(one => one.name);
    if (!names.includes(PathExt.basename(path))) {
      return null;
    }
    const file = await context.contents.get(path, { type: 'file', format: 'text', content: true });
    return typeof file.content === 'string' ? file.content : null;
  } catch {
    return null; // what cannot be read cannot be written either, and that is told
  }
}

async function write(context: IExportContext, path: string, text: string): Promise<void> {
  const open = context.docManager.findWidget(path);
  if (open) {
    open.context.model.fromString(text);
    await open.context.save();
  } else {
    await context.contents.save(path, { type: 'file', format: 'text', content: text });
  }
}

async function mayOverwrite(trans: TranslationBundle, path: string): Promise<boolean> {
  const answer = await showDialog({
    title: trans.__('Overwrite the script?'),
    body: trans.__('%1 was edited since its export. What was edited would be lost.', PathExt.basename(path)),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Keep it') }),
      Dialog.warnButton({ label: trans.__('Overwrite') })
    ]
  });
  return answer.button.accept;
}

function notify(context: IExportContext, panel: NotebookPanel, path: string, said: IExported): void {
  const { trans } = context;
  const rewrites = Object.values(said.rewrites).reduce((sum, one) => sum + one, 0);
  const found = counted(trans, said.diagnostics);
  const parts = [
    trans.__('%1: %2 of %3 cells kept', PathExt.basename(path), said.kept, said.cells),
    trans._n('%1 rewrite', '%1 rewrites', rewrites) + ` (${Object.keys(said.rewrites).join(', ')})`,
    found
  ];
  const message = parts.filter(part => part).join(' · ');
  const show = {
    label: trans.__('Show'),
    callback: () => context.showFindings(panel, said.diagnostics)
  };
  Notification.success(message, { autoClose: 8000, actions: found ? [show] : [] });
}
