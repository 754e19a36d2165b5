import { ILabShell, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  CommandToolbarButton,
  ICommandPalette,
  ISessionContextDialogs,
  IToolbarWidgetRegistry,
  Notification
} from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { IFormRendererRegistry } from '@jupyterlab/ui-components';
import { UUID } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';
import { type IDiagnostic, Server } from './api';
import { Chips, roleLabel, SET_ROLE, setRole, tagRole } from './chips';
import { exportNotebook } from './exporting';
import { Findings } from './findings';
import { exportIcon, runIcon } from './icons';
import { below, beside } from './places';
import { Preview } from './preview';
import { Remembered } from './remembered';
import { roleForm } from './roleForm';
import { ROLES, type Role } from './roles';
import { runWithDdp } from './running';
import { Watcher } from './watcher';
import { language } from './words';

const ID = 'nbddp:notebook';

/** What there is of one open notebook. */
interface IOpen {
  watcher: Watcher;
  chips: Chips;
  findings: Findings | null;
  preview: Preview | null;
}

export const notebookPlugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Exports the notebook as a DDP script, runs it, and shows the part that each cell plays.',
  autoStart: true,
  requires: [INotebookTracker, IDocumentManager],
  optional: [
    ITranslator,
    ISettingRegistry,
    ICommandPalette,
    ILabShell,
    ISessionContextDialogs,
    IStateDB,
    IEditorLanguageRegistry,
    IFormRendererRegistry,
    IToolbarWidgetRegistry
  ],
  activate
};

function activate(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  docManager: IDocumentManager,
  translator: ITranslator | null,
  settings: ISettingRegistry | null,
  palette: ICommandPalette | null,
  lab: ILabShell | null,
  dialogs: ISessionContextDialogs | null,
  state: IStateDB | null,
  languages: IEditorLanguageRegistry | null,
  forms: IFormRendererRegistry | null,
  toolbars: IToolbarWidgetRegistry | null
): void {
  const trans = language(translator);
  const server = new Server(app.serviceManager.serverSettings, trans);
  const opened = new WeakMap<NotebookPanel, IOpen>();
  const remembered = new Remembered(state, app.serviceManager.contents);
  let chipsShown = true;

  tracker.widgetAdded.connect((_, panel) => {
    const watcher = new Watcher(panel, server);
    const chips = new Chips(watcher, app.commands, trans);
    chips.shown = chipsShown;
    const open: IOpen = { watcher, chips, findings: null, preview: null };
    opened.set(panel, open);
    let { path } = panel.context;
    panel.context.pathChanged.connect((_, now) => {
      remembered.goes(path, now, false); // saved under another name; what was renamed has gone there already
      path = now;
    });
    watcher.changed.connect(() => {
      app.commands.notifyCommandChanged(SET_ROLE);
      if (open.findings && !open.findings.isDisposed) {
        open.findings.present(watcher.report!.diagnostics);
      }
    });
  });

  const showFindings = (panel: NotebookPanel, diagnostics: readonly IDiagnostic[]) => {
    const open = opened.get(panel)!;
    if (!open.findings || open.findings.isDisposed) {
      open.findings = new Findings(panel, trans);
    }
    open.findings.present(diagnostics);
    below(app, open.findings);
    const first = diagnostics.find(one => one.cell > 0);
    if (first) {
      void panel.content.scrollToItem(first.cell - 1, 'center');
    }
  };

  const current = () => tracker.currentWidget;
  // JupyterLab 4.0 makes a notebook the current one only after a button in its toolbar has been pressed.
  const buttonsOf = new WeakMap<Widget, string>();
  const isEnabled = () => current() !== null;
  tracker.currentChanged.connect(() => app.commands.notifyCommandChanged());
  /** For the current notebook; whatever goes wrong is told in a sentence. */
  const add = (
    name: string,
    label: string,
    caption: string,
    execute: (panel: NotebookPanel, open: IOpen, resume: string) => Promise<unknown>,
    icon?: typeof exportIcon
  ) => {
    app.commands.addCommand(`nbddp:${name}`, {
      label,
      caption,
      icon,
      isEnabled,
      execute: async args => {
        const asked = (one: NotebookPanel) =>
          one.context.path === args.path || (!!args.buttons && buttonsOf.get(one) === args.buttons);
        const panel = tracker.find(asked) ?? current();
        if (!panel) {
          return;
        }
        try {
          await panel.context.ready;
          await execute(panel, opened.get(panel)!, String(args.resume ?? ''));
        } catch (error) {
          Notification.error(error instanceof Error ? error.message : String(error), { autoClose: 10000 });
        }
      }
    });
    palette?.addItem({ command: `nbddp:${name}`, category: trans.__('DDP') });
  };

  const showChanges = (panel: NotebookPanel) => {
    const open = opened.get(panel)!;
    if (!open.preview || open.preview.isDisposed) {
      open.preview = new Preview(open.watcher, server, languages, trans);
      open.preview.title.icon = exportIcon;
    }
    beside(app, lab, open.preview, panel.id);
  };
  // A label in the schema is not translated when the toolbar is made.
  for (const [name, label] of [['export', trans.__('Export DDP')], ['run', trans.__('Run DDP')]]) {
    const make = (panel: Widget) => {
      buttonsOf.set(panel, buttonsOf.get(panel) ?? UUID.uuid4());
      const args = { buttons: buttonsOf.get(panel)! };
      return new CommandToolbarButton({ commands: app.commands, id: `nbddp:${name}`, label, args });
    };
    toolbars?.addFactory('Notebook', `nbddp-${name}`, make);
  }
  const context = { server, docManager, contents: app.serviceManager.contents, trans, showFindings, showChanges };
  add('export', trans.__('Export DDP Script'), trans.__('Export this notebook as a script that trains on all GPUs'),
    panel => exportNotebook(context, panel), exportIcon); // prettier-ignore
  add('run', trans.__('Run with DDP…'), trans.__('Train the training cell on several processes'),
    (_, open, from) => runWithDdp({ remembered, server, dialogs: dialogs ?? undefined, trans }, open.watcher, from), runIcon); // prettier-ignore
  add('check', trans.__('Check for DDP'), trans.__('List the problems and notes that an export would report'),
    async (panel, open) => showFindings(panel, (await open.watcher.now()).diagnostics)); // prettier-ignore
  add('preview', trans.__('Preview DDP Script'), trans.__('Show the script beside the notebook, updated as you type'),
    async panel => showChanges(panel)); // prettier-ignore

  app.commands.addCommand(SET_ROLE, {
    label: args => roleLabel(trans, args.role as Role | '', args.short === true),
    isEnabled: () => isEnabled() && tracker.activeCell?.model.type === 'code' && markedInText() === null,
    isToggled: args => {
      const cell = tracker.activeCell;
      return cell?.model.type === 'code' && (markedInText() ?? tagRole(cell)) === args.role;
    },
    isToggleable: true,
    execute: args => {
      const cell = tracker.activeCell;
      if (cell?.model.type === 'code') {
        setRole(cell, args.role as Role | '');
      }
    }
  });
  for (const role of ['', ...ROLES]) {
    palette?.addItem({ command: SET_ROLE, args: { role }, category: trans.__('DDP') });
  }

  /** The role by a magic or a comment in the cell, which counts more than a tag: a tag would change nothing. */
  function markedInText(): string | null {
    const panel = current();
    const report = panel && opened.get(panel)?.watcher.report;
    const number = (panel?.content.activeCellIndex ?? -1) + 1;
    const cell = report?.cells.find(one => one.number === number);
    return /^[%#]/.test(cell?.marked ?? '') ? cell!.role : null;
  }

  forms?.addRenderer('nbddp:notebook.role', roleForm(tracker, trans));
  void settings?.load(ID).then(loaded => {
    const apply = () => {
      chipsShown = loaded.get('chips').composite as boolean;
      tracker.forEach(panel => {
        const open = opened.get(panel);
        if (open) {
          open.chips.shown = chipsShown;
        }
      });
    };
    loaded.changed.connect(apply);
    apply();
    app.commands.addCommand('nbddp:toggle-chips', {
      label: trans.__('Show DDP Roles on Cells'),
      isToggled: () => chipsShown,
      execute: () => loaded.set('chips', !chipsShown)
    });
    palette?.addItem({ command: 'nbddp:toggle-chips', category: trans.__('DDP') });
  });
}
