import { ILabShell, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, ISessionContextDialogs, Notification } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PathExt } from '@jupyterlab/coreutils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRunningSessionManagers } from '@jupyterlab/running';
import { ITranslator } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import { duration } from '../../nbddp/widget/static/run.js';
import { type IRun, Server } from './api';
import { attach } from './attach';
import { CompareRuns } from './compare';
import { tellEnds } from './ended';
import { runsIcon } from './icons';
import { askAbout, askToDelete } from './keeping';
import { beside } from './places';
import { resume } from './resume';
import { inWords, RunList } from './runList';
import { RunLog } from './runLog';
import { RunScript } from './runScript';
import { RunsPage } from './runsPage';
import { language } from './words';

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
    IEditorLanguageRegistry,
    ISessionContextDialogs
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
  languages: IEditorLanguageRegistry | null,
  dialogs: ISessionContextDialogs | null
): void {
  const trans = language(translator);
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

  const tell = (done: Promise<unknown>) =>
    done.catch(error => Notification.error(error instanceof Error ? error.message : String(error), { autoClose: 10000 }));
  const stop = (run: IRun) => void tell(list.stop(run, 'now'));
  const show = <T extends Widget>(view: T): T => {
    view.title.icon = runsIcon;
    return beside(app, lab, view);
  };
  const remove = (runs: readonly IRun[]) =>
    void tell(askToDelete(trans, runs).then(wanted => (wanted ? list.delete(runs) : undefined)));
  const openLog = (run: IRun) => show(new RunLog(server, trans, run));
  const actions = {
    openScript: (run: IRun) => void show(new RunScript(server, languages, trans, run)),
    openLog: (run: IRun) => void openLog(run),
    compare: () => void app.commands.execute('nbddp:compare'),
    describe: (run: IRun) => void tell(askAbout(trans, run).then(about => about && list.describe(run, about))),
    remove,
    resume: (run: IRun) => void tell(resume(app, tracker, trans, run)),
    attach: (run: IRun) => void tell(attach({ app, lab, tracker, dialogs, trans }, run))
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
  tellEnds(list, trans, open);
  app.commands.addCommand('nbddp:runs', {
    label: trans.__('DDP Runs'),
    caption: trans.__('All runs of this folder: state, curves, logs, stop'),
    icon: runsIcon,
    execute: () => open()
  });
  palette?.addItem({ command: 'nbddp:runs', category: trans.__('DDP') });
  app.commands.addCommand('nbddp:compare', {
    label: trans.__('Compare DDP Runs'),
    caption: trans.__('A table of the runs that have ended, and their curves in one chart'),
    icon: runsIcon,
    execute: () => void show(new CompareRuns(list, server, trans, open, remove))
  });
  palette?.addItem({ command: 'nbddp:compare', category: trans.__('DDP') });
  app.commands.addCommand('nbddp:log', {
    label: trans.__('Open Log of DDP Run'),
    caption: trans.__('What each rank has printed, of the chosen run or the latest one'),
    icon: runsIcon,
    execute: async args => {
      await list.refresh();
      const run = page && !page.isDisposed ? page.chosen : null;
      const shown = run ?? list.runs[0];
      if (!shown) {
        Notification.warning(trans.__('There is no run in this folder.'), { autoClose: 8000 });
        return;
      }
      const log = openLog(shown);
      if (typeof args.rank === 'number') {
        log.chooseRank(args.rank);
      }
    }
  });
  palette?.addItem({ command: 'nbddp:log', category: trans.__('DDP') });

  running?.add({
    name: trans.__('DDP runs'),
    running: () =>
      list.runs
        .filter(run => !run.over)
        .map(run => ({
          open: () => open(run),
          shutdown: () => stop(run),
          icon: () => runsIcon,
          label: () => run.name.replace(/^\d{8}-\d{6}-/, ''), // the time is in the tooltip: there is little room
          labelTitle: () => [run.folder, run.name].filter(part => part).join('/'),
          detail: () => inWords(run, duration)
        })),
    shutdownAll: () => list.runs.filter(run => !run.over).forEach(stop),
    refreshRunning: () => void list.refresh(),
    runningChanged: list.changed,
    shutdownLabel: trans.__('Stop'),
    shutdownAllLabel: trans.__('Stop All'),
    shutdownAllConfirmationText: trans.__('Stop all runs now? Their last checkpoints are kept.')
  });
}
