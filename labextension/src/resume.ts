import type { JupyterFrontEnd } from '@jupyterlab/application';
import { PathExt } from '@jupyterlab/coreutils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IRun } from './api';

/** The form of the run's notebook, with the run as what it goes on from. */
export async function resume(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  trans: TranslationBundle,
  run: IRun
): Promise<void> {
  const { contents } = app.serviceManager;
  const path = PathExt.join(run.folder, `${run.notebook}.ipynb`);
  let panel: NotebookPanel | undefined = tracker.find(one => contents.localPath(one.context.path) === path);
  if (!panel) {
    await contents.get(path, { content: false }).catch(() => {
      throw new Error(trans.__('Its notebook %1 is no longer there.', path));
    });
    panel = await app.commands.execute('docmanager:open', { path });
  }
  if (!panel?.context) {
    throw new Error(trans.__('Open %1, and choose "Run with DDP…" there.', path)); // Notebook 7 has opened another page
  }
  app.shell.activateById(panel.id);
  await Promise.all([panel.context.ready, panel.revealed]);
  await app.commands.execute('nbddp:run', { path: panel.context.path, resume: run.name });
}
