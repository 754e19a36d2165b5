import { type ISessionContextDialogs, Notification } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { PathExt } from '@jupyterlab/coreutils';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IRun, Server } from './api';
import { cellAt, firstLine } from './jump';
import { DEFAULTS, readMagic, withMagic } from './magic';
import type { Remembered } from './remembered';
import { askHow } from './runForm';
import type { Watcher } from './watcher';

export interface IRunContext {
  remembered: Remembered;
  server: Server;
  dialogs: ISessionContextDialogs | undefined;
  trans: TranslationBundle;
}

/** Runs the training cell as %%ddp_train: its first line says so, since what is read is what runs. */
export async function runWithDdp(context: IRunContext, watcher: Watcher, resume = ''): Promise<void> {
  const { trans } = context;
  const { content, sessionContext } = watcher.panel;
  const training = (await watcher.now().catch(() => null))?.training ?? content.activeCellIndex + 1;
  const cell = cellAt(content, training);
  if (!cell || cell.model.type !== 'code') {
    Notification.error(trans.__('Choose the cell that trains first.'));
    return;
  }
  const source = cell.model.sharedModel.getSource();
  const { path } = watcher.panel.context;
  const last = { ...DEFAULTS, ...(await context.remembered.of(path)), ...(readMagic(source) ?? {}) };
  if (resume) {
    Object.assign(last, { resume, fresh: false });
  }
  const runs = await resumable(context, path);
  const answer = await askHow(trans, last, neverRun(watcher.panel, training), training, firstLine(content, training), runs);
  if (!answer) {
    return;
  }
  if (answer.options.background && 'Notification' in window && window.Notification.permission === 'default') {
    void window.Notification.requestPermission(); // by a click of the user, as browsers want it
  }
  await context.remembered.keep(path, answer.options);
  const written = withMagic(source, answer.options);
  if (written !== source) {
    cell.model.sharedModel.setSource(written);
  }
  if (!(await understands(context, watcher.panel, '__import__("nbddp")'))) {
    return;
  }
  content.deselectAll();
  content.activeCellIndex = training - 1;
  if (answer.above) {
    const well = await NotebookActions.runAllAbove(content, sessionContext, context.dialogs);
    if (!well) {
      return; // the cell that failed says why
    }
    content.activeCellIndex = training - 1;
  }
  // The cells above may have loaded it: who loads it twice is told so.
  if (await understands(context, watcher.panel, '%load_ext nbddp')) {
    const following = follow(cell);
    await NotebookActions.run(content, sessionContext, context.dialogs);
    window.setTimeout(() => following.disconnect(), 5000); // in the background the cell has ended before the view is there
  }
}

/** Names of the runs beside the notebook that have left a checkpoint, the latest first. */
async function resumable({ server }: IRunContext, path: string): Promise<string[]> {
  const there = await server.present();
  const asked = there ? server.get<{ runs: IRun[] }>('runs', { folder: [PathExt.dirname(path)] }) : null;
  const { runs } = (await asked?.catch(() => null)) ?? { runs: [] };
  return runs.filter(run => run.checkpoint).map(run => run.name);
}

/** Brings the run into sight as soon as it shows itself: its cell may fill the page. */
function follow(cell: Cell): MutationObserver {
  const observer = new MutationObserver(() => {
    const shown = cell.node.querySelector('.nbddp header');
    if (shown) {
      observer.disconnect();
      shown.scrollIntoView({ block: 'center' });
    }
  });
  observer.observe(cell.node, { childList: true, subtree: true });
  return observer;
}

/** Whether a cell above has not been executed in this session. */
function neverRun(panel: NotebookPanel, training: number): boolean {
  return panel.content.widgets
    .slice(0, training - 1)
    .some(cell => cell.model.type === 'code' && cell.model.sharedModel.getSource().trim() && !executed(cell.model));
}

const executed = (model: unknown) => (model as { executionCount: number | null }).executionCount !== null;

/** Whether the kernel can do this; where it cannot, the reader is told. Nothing of it is shown or counted in the notebook. */
async function understands(context: IRunContext, panel: NotebookPanel, code: string): Promise<boolean> {
  await panel.sessionContext.ready;
  if (!panel.sessionContext.session?.kernel) {
    await context.dialogs?.selectKernel(panel.sessionContext);
  }
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel) {
    return false;
  }
  const reply = await kernel.requestExecute({ code, silent: true, store_history: false }).done;
  if (reply.content.status === 'ok') {
    return true;
  }
  const why = reply.content.status === 'error' ? reply.content.evalue : '';
  const { trans } = context;
  Notification.error(trans.__('This kernel cannot train with DDP: %1', why), { autoClose: false });
  return false;
}
