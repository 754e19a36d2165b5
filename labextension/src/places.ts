import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

/**
 * Shows a view beside a document; where a page holds one document only (Notebook 7), in its sidebar.
 * Where the same is shown already, that comes into sight, and is returned.
 */
export function beside<T extends Widget>(app: JupyterFrontEnd, lab: ILabShell | null, view: T, ref?: string): T {
  const there = lab ? inMain(lab, view, ref) : inSidebar(app, view);
  if (there !== view) {
    view.dispose();
  }
  return there;
}

function inMain<T extends Widget>(lab: ILabShell, view: T, ref?: string): T {
  const open = Array.from(lab.widgets('main')).find(one => one.id === `${view.id}-main`);
  const shown = open ?? wrapped(view);
  if (!open) {
    lab.add(shown, 'main', ref ? { mode: 'split-right', ref } : {});
  }
  lab.activateById(shown.id);
  return (shown as MainAreaWidget<T>).content;
}

function inSidebar<T extends Widget>(app: JupyterFrontEnd, view: T): T {
  const open = Array.from(app.shell.widgets('right')).find(one => one.id === view.id);
  const shown = (open ?? view) as T;
  aside(app, shown, 'right');
  return shown;
}

/** Shows a list below the documents. */
export function below(app: JupyterFrontEnd, view: Widget): void {
  aside(app, view, 'down');
}

function aside(app: JupyterFrontEnd, view: Widget, area: string): void {
  if (!view.isAttached) {
    app.shell.add(view, area);
  }
  app.shell.activateById(view.id);
  view.activate(); // the area below shows a view without telling it
}

function wrapped(view: Widget): Widget {
  const main = new MainAreaWidget({ content: view });
  main.id = `${view.id}-main`;
  main.title.label = view.title.label;
  main.title.icon = view.title.icon;
  view.disposed.connect(() => main.dispose());
  return main;
}
