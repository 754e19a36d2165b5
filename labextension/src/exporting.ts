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
  showChanges: (panel: NotebookPanel) => void;
}

/** The name that `nbddp export` gives: digits_ddp.py beside digits.ipynb. */
export function scriptPath(notebook: string): string {
  return notebook.slice(0, notebook.length - PathExt.extname(notebook).length) + '_ddp.py';
}

/** One click: the notebook as it is on the screen becomes a script beside it, which is opened. */
export async function exportNotebook(context: IExportContext, panel: NotebookPanel): Promise<string | null> {
  const { server, trans } = context;
  const path = scriptPath(panel.context.path);
  const present = await whatIsThere(context, path);
  const said = await ask<Export>(server, panel, 'export', { present: present.disk });
  if (!said.exported) {
    context.showFindings(panel, said.diagnostics);
    const errors = said.diagnostics.filter(one => one.level === 'error');
    Notification.error(trans.__('No script was made: %1.', counted(trans, errors)), { autoClose: 8000 });
    return null;
  }
  const unsaved = present.unsaved !== null && present.unsaved !== said.script;
  if ((said.edited || unsaved) && !(await mayOverwrite(trans, path))) {
    Notification.info(trans.__('%1 was kept as it is; no script was written.', PathExt.basename(path)), { autoClose: 8000 });
    return null;
  }
  if (said.script !== present.disk) {
    await write(context, path, said.script);
  }
  await context.docManager.findWidget(path)?.context.revert(); // an editor shows what the disk has, whoever wrote it
  const open = () => context.docManager.openOrReveal(path, 'default', undefined, { mode: 'split-right', ref: panel.id });
  await open();
  notify(context, panel, said, done(trans, path, said, said.script !== present.disk), () => void open());
  return path;
}

/** What has become of the file. */
function done(trans: TranslationBundle, path: string, said: IExported, written: boolean): string {
  const name = PathExt.basename(path);
  const lines = said.script.replace(/\n$/, '').split('\n').length;
  return written
    ? trans.__('%1 written: %2 of %3 cells, %4 lines', name, said.kept, said.cells, lines)
    : trans.__('%1 is up to date: %2 of %3 cells, %4 lines', name, said.kept, said.cells, lines);
}

interface IPresent {
  disk: string | null; // null where there is no such file
  unsaved: string | null; // what an editor has that the disk does not; one that only lags behind the disk has nothing
}

/** What an export would replace. What is there and cannot be read is not replaced: the error is told. */
async function whatIsThere(context: IExportContext, path: string): Promise<IPresent> {
  const folder = await context.contents.get(PathExt.dirname(path), { type: 'directory', content: true });
  const exists = (folder.content as Contents.IModel[]).some(one => one.name === PathExt.basename(path));
  const file = exists ? await context.contents.get(path, { type: 'file', format: 'text', content: true }) : null;
  const disk = file ? (file.content as string) : null;
  const model = context.docManager.findWidget(path)?.context.model;
  const unsaved = model?.dirty && model.toString() !== disk ? model.toString() : null;
  return { disk, unsaved };
}

/** Past the editor that may have it open: that one would ask a second time where the file has changed on the disk. */
async function write({ contents, trans }: IExportContext, path: string, text: string): Promise<void> {
  try {
    await contents.save(path, { type: 'file', format: 'text', content: text });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(trans.__('The script could not be written: %1', why));
  }
}

async function mayOverwrite(trans: TranslationBundle, path: string): Promise<boolean> {
  const answer = await showDialog({
    title: trans.__('Overwrite the script?'),
    body: trans.__('%1 was edited since its export. The edits would be lost.', PathExt.basename(path)),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Keep it') }),
      Dialog.warnButton({ label: trans.__('Overwrite') })
    ]
  });
  return answer.button.accept;
}

function notify(context: IExportContext, panel: NotebookPanel, said: IExported, text: string, open: () => void): void {
  const { trans } = context;
  const found = counted(trans, said.diagnostics);
  const findings = { label: found, callback: () => context.showFindings(panel, said.diagnostics) };
  const actions = [
    { label: trans.__('Open'), callback: open },
    { label: trans.__('What changed'), callback: () => context.showChanges(panel) },
    ...(found ? [findings] : [])
  ];
  Notification.success(text, { autoClose: 8000, actions });
}
