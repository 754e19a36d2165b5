import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import type { ISessionContextDialogs } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { type INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IRun } from './api';

export interface IAttachContext {
  app: JupyterFrontEnd;
  lab: ILabShell | null;
  tracker: INotebookTracker;
  dialogs: ISessionContextDialogs | null;
  trans: TranslationBundle;
}

/** A cell that shows the run live and holds it: in the open notebook of its folder, or in a new one. */
export async function attach(context: IAttachContext, run: IRun): Promise<void> {
  const { app, dialogs } = context;
  const panel = openNotebook(context, run.folder) ?? (await newNotebook(context, run.folder));
  app.shell.activateById(panel.id);
  await Promise.all([panel.context.ready, panel.revealed]);
  const { content, sessionContext } = panel;
  content.deselectAll();
  content.activeCellIndex = addCell(panel, `%load_ext nbddp\nrun = %ddp attach ${run.name}`);
  await sessionContext.ready;
  await NotebookActions.run(content, sessionContext, dialogs ?? undefined);
}

/** The kernel of a notebook works in its folder, where a run is found by its name. */
function openNotebook({ app, tracker }: IAttachContext, folder: string): NotebookPanel | undefined {
  const isBeside = (panel: NotebookPanel) =>
    app.serviceManager.contents.localPath(PathExt.dirname(panel.context.path)) === folder;
  const current = tracker.currentWidget;
  return current && isBeside(current) ? current : tracker.find(isBeside);
}

/** With the server's own Python, so that nobody is asked for a kernel. */
async function newNotebook({ app, lab, trans }: IAttachContext, cwd: string): Promise<NotebookPanel> {
  if (!lab) {
    // Notebook 7 opens it on a page of its own, which this page cannot reach.
    throw new Error(trans.__('Open a notebook in the folder of this run, and attach the run from there.'));
  }
  const kernelName = app.serviceManager.kernelspecs.specs?.default;
  return (await app.commands.execute('notebook:create-new', { cwd, kernelName })) as NotebookPanel;
}

/** At the end, in the last cell where that is empty; its index. */
function addCell(panel: NotebookPanel, source: string): number {
  const model = panel.content.model!.sharedModel;
  const last = model.cells[model.cells.length - 1];
  if (last?.cell_type === 'code' && !last.getSource().trim()) {
    last.setSource(source);
  } else {
    model.insertCell(model.cells.length, { cell_type: 'code', source, metadata: { trusted: true } });
  }
  return model.cells.length - 1;
}
