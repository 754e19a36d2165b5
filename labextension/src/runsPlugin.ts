import { ILabShell, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PathExt } from '@jupyterlab/coreutils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { IRunningSessionManagers } from '@jupyterlab/running';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { duration } from '../../nbddp/widget/static/run.js';
import { type IRun, Server } from './api';
import { runsIcon } from './icons';
import { beside } from './places';
import { inWords, RunList } from './runList';
import { RunsPage } from './runsPage';
import { RunText } from './text';

export const runsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'nbddp:runs',
  description: 'All runs of the folders in sight: in the Running panel, and on a page of their own.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [
    ITranslator,
    ICommandPalette,
    ILabShell,
    IRunningSessionManagers,
    IDefaultFileBrowser,
    IEditorLanguageRegistry
  ],
  activate
};

function activate(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  translator: ITranslator | null,
  palette: ICommandPalette | null,
  lab: ILabShell | null,
  running: IRunningSessionManagers | null,
  browser: IDefaultFileBrowser | null,
  languages: IEditorLanguageRegistry | null
): void {
  const trans = (translator ?? nullTranslator).load('nbddp');
  const server = new Server(app.serviceManager.serverSettings, trans);

  /** Where the open notebooks lie, and what the file browser shows: there runs have their folders. */
  const folders = () => {
    const found = new Set<string>(browser ? [local(browser.model.path)] : []);
    tracker.forEach(panel => found.add(local(PathExt.dirname(panel.context.path))));
    return [...found];
  };
  const local = (path: string) => app.serviceManager.contents.localPath(path);
  const list = new RunList(server, folders);
  tracker.currentChanged.connect(() => void list.refresh());
  browser?.model.pathChanged.connect(() => void list.refresh());

  const text = (run: IRun, what: string, title: string) => {
    const view = new RunText(server, languages, run, what, title);
    view.title.icon = runsIcon;
    beside(app, lab, view);
  };
  const actions = {
    openScript: (run: IRun) => text(run, 'script', trans.__('%1: script', run.name)),
    openLog: (run: IRun) => text(run, '0', trans.__('%1: log of rank 0', run.name)),
    attach: (run: IRun) => void attach(app, tracker, run)
  };
  let page: RunsPage | null = null;
  const open = (run?: IRun) => {
    if (!page || page.isDisposed) {
      page = new RunsPage(list, server, actions, trans);
      page.title.icon = runsIcon;
    }
    beside(app, lab, page);
    if (run) {
      page.choose(run);
    }
  };
  app.commands.addCommand('nbddp:runs', {
    label: trans.__('DDP Runs'),
    caption: trans.__('All runs of this folder: state, curves, logs, stop'),
    icon: runsIcon,
    execute: () => open()
  });
  palette?.addItem({ command: 'nbddp:runs', category: trans.__('DDP') });

  running?.add({
    name: trans.__('DDP runs'),
    running: () =>
      list.runs
        .filter(run => !run.over)
        .map(run => ({
          open: () => open(run),
          shutdown: () => void list.stop(run, 'now'),
          icon: () => runsIcon,
          label: () => run.name,
          labelTitle: () => [run.folder, run.name].filter(part => part).join('/'),
          detail: () => inWords(run, duration)
        })),
    shutdownAll: () => list.runs.filter(run => !run.over).forEach(run => void list.stop(run, 'now')),
    refreshRunning: () => void list.refresh(),
    runningChanged: list.changed,
    shutdownLabel: trans.__('Stop'),
    shutdownAllLabel: trans.__('Stop All'),
    shutdownAllConfirmationText: trans.__('Stop all runs now? Their last checkpoints are kept.')
  });
}

/** A cell that shows the run live: in the open notebook of its folder, or in a new one. */
async function attach(app: JupyterFrontEnd, tracker: INotebookTracker, run: IRun): Promise<void> {
  const source = `%load_ext nbddp\n%ddp attach ${run.name}`;
  const beside = (panel: NotebookPanel) =>
    app.serviceManager.contents.localPath(PathExt.dirname(panel.context.path)) === run.folder;
  let panel = tracker.currentWidget && beside(tracker.currentWidget) ? tracker.currentWidget : tracker.find(beside);
  if (!panel) {
    panel = (await app.commands.execute('notebook:create-new', { cwd: run.folder })) as NotebookPanel;
    await panel.context.ready;
  }
  const model = panel.content.model!.sharedModel;
  model.insertCell(model.cells.length, { cell_type: 'code', source, metadata: {} });
  app.shell.activateById(panel.id);
  panel.content.activeCellIndex = panel.content.widgets.length - 1;
  await panel.sessionContext.ready;
  await app.commands.execute('notebook:run-cell');
}
