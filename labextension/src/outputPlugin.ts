import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';
import { Server } from './api';
import { factory } from './output';
import { language } from './words';

export const outputPlugin: JupyterFrontEndPlugin<void> = {
  id: 'nbddp:output',
  description: 'Draws a run where a notebook, or another document, holds its output.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [INotebookTracker, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    registry: IRenderMimeRegistry,
    tracker: INotebookTracker | null,
    translator: ITranslator | null
  ) => {
    registry.addFactory(factory(null));
    const server = new Server(app.serviceManager.serverSettings, language(translator));
    tracker?.widgetAdded.connect((_, panel) => {
      const path = () => app.serviceManager.contents.localPath(panel.context.path);
      const { rendermime } = panel.content;
      rendermime.addFactory(factory({ rendermime, server, path }));
    });
  }
};
